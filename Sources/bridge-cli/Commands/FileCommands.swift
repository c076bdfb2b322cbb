// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput

// The files of accessories.

/// Options of commands about an accessory's files.
struct FileOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The accessory.", valueName: "device")) var device: String
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  /// Runs `body` with the accessory's files, be they reached by a service or opened here; then they are closed whatever
  /// happens.
  func with<Result: Sendable>(_ body: (any ReachableFiles) async throws -> Result) async throws -> Result {
    if let held = try await HeldDevice.find(device, line) {
      try held.requireDriver()
      return try await body(held)
    }
    return try await Attachment.with(device, line) { attachment in
      try await body(OpenFiles(attachment: attachment, files: try attachment.accessory.requireFiles()))
    }
  }
}

struct Ls: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists a folder of an accessory.",
    discussion: """
      On a brick, relative paths begin in /home/root/lms2012/sys; projects are in ../prjs.

      EXAMPLES
        bridge-cli ls EV3
        bridge-cli ls EV3 ../prjs/tst --json | jq -r '.entries[].name'
      """)

  @OptionGroup var files: FileOptions
  @Argument(help: "The folder.") var path = "./"
  var output: OutputOptions { files.output }

  func run() async throws {
    try await files.with { files in
      let entries = try await files.entries(of: path)
      if output.json {
        return Output.json(
          FolderDocument(device: files.document, path: path, entries: entries.map { .init($0) }))
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

struct Rm: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Removes a file of an accessory, or a folder that is empty.",
    discussion: """
      EXAMPLES
        bridge-cli rm EV3 ../prjs/tst/tst.rbf
      """)

  @OptionGroup var files: FileOptions
  @Argument(help: "The file or folder.") var path: String
  var output: OutputOptions { files.output }

  func run() async throws { try await files.with { try await $0.remove(path) } }
}

struct Mkdir: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes a folder of an accessory.",
    discussion: """
      EXAMPLES
        bridge-cli mkdir EV3 ../prjs/tst
      """)

  @OptionGroup var files: FileOptions
  @Argument(help: "The folder.") var path: String
  var output: OutputOptions { files.output }

  func run() async throws { try await files.with { try await $0.makeFolder(path) } }
}
