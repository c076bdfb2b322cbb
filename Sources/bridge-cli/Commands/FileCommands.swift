// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput

struct FileGroup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "file",
    abstract: "Lists, gets, sends and removes files on an accessory.",
    discussion: """
      EXAMPLES
        bridge-cli file ls EV3
        bridge-cli file send ACC0042 firmware.bin --kind firmware
      """,
    subcommands: [Ls.self, GetFile.self, SendFile.self, Rm.self, Mkdir.self])
}

/// A command on an accessory's files.
protocol FileCommand: AsyncParsableCommand, JSONCommand, LineCommand {
  var target: FileTarget { get }
}

/// The options of all commands on files: the accessory, and how to open it.
struct FileTarget: ParsableArguments {
  @Argument(help: .value("device", "The accessory."), completion: CompletionWords.devices) var device: String
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions
}

extension FileCommand {
  /// The accessory's name as the user typed it.
  var device: String { target.device }
  var transport: TransportOptions { target.transport }
  var serial: SerialOptions { target.serial }
  var waiting: WaitOptions { target.waiting }
  var output: OutputOptions { target.output }

  /// Runs `body` with the accessory's files, and closes them, also when `body` throws. An absent accessory is waited for as
  /// `--wait` says, unless it was open before: then it is the one of `again`.
  func withFiles<Result: Sendable>(
    again: SameAgain? = nil, _ transfers: TransferRules = .init(), _ body: (ReachableFiles) async throws -> Result
  ) async throws -> Result {
    var line = line
    if again != nil { line.wait = nil }
    let found = if let again { try await Door.findNow(again, device, line) } else { try await Door.find(device, line) }
    return try await found.with(needing: .files) { opened in
      try await body(ReachableFiles(opened: opened, files: try opened.files(transfers)))
    }
  }
}

struct Ls: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "Lists a folder on an accessory.",
    discussion: """
      On an EV3 brick, relative paths begin in /home/root/lms2012/sys; projects are in ../prjs.

      EXAMPLES
        bridge-cli file ls EV3
        bridge-cli file ls EV3 ../prjs/tst --json | jq -r '.entries[].name'
      """)

  @OptionGroup var target: FileTarget
  @Argument(help: "The folder.", completion: CompletionWords.nothing) var path = "./"

  func run() async throws {
    try await withFiles { files in
      let entries = try await files.files.entries(of: path)
      if output.json {
        return Output.json(
          FolderDocument(device: files.document, path: path, entries: entries))
      }
      for entry in entries {
        let name = SafeText.escape(entry.name)
        switch entry.kind {
        case .folder: Output.line("\(Self.padded("")) \(name)/")
        case .file: Output.line("\(Self.padded(entry.size.map { String($0) } ?? "?")) \(name)")
        }
      }
    }
  }

  private static func padded(_ text: String) -> String { String(repeating: " ", count: max(0, 10 - text.count)) + text }
}

struct Rm: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Removes a file or an empty folder on an accessory.",
    discussion: """
      EXAMPLES
        bridge-cli file rm EV3 ../prjs/tst/tst.rbf
      """)

  @OptionGroup var target: FileTarget
  @Argument(help: "The file or folder.", completion: CompletionWords.nothing) var path: String

  func run() async throws {
    try await withFiles { files in
      try await files.files.remove(path)
      if output.json { Output.json(FolderChangeDocument(event: .removed, device: files.document, path: path)) }
    }
  }
}

struct Mkdir: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "mkdir",
    abstract: "Makes a folder on an accessory.",
    discussion: """
      EXAMPLES
        bridge-cli file mkdir EV3 ../prjs/tst
      """)

  @OptionGroup var target: FileTarget
  @Argument(help: "The folder.", completion: CompletionWords.nothing) var path: String

  func run() async throws {
    try await withFiles { files in
      try await files.files.makeFolder(path)
      if output.json { Output.json(FolderChangeDocument(event: .made, device: files.document, path: path)) }
    }
  }
}
