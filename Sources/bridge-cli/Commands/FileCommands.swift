// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser

// The files of a brick.

/// Options of commands about an accessory's files.
struct BrickOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The accessory.", valueName: "device")) var device: String
  @OptionGroup var line: LineOptions
  @OptionGroup var output: OutputOptions

  /// Opens the brick, runs `body`, and closes whatever happens.
  func with<Result: Sendable>(_ body: (Attachment, EV3Brick) async throws -> Result) async throws -> Result {
    try await HeldDevice.refuse(device, line)
    return try await Attachment.with(device, line) { attachment in
      try await body(attachment, try Self.brick(attachment))
    }
  }

  /// The brick that was opened. Throws `unsupported` when it is something else.
  static func brick(_ attachment: Attachment) throws(AccessoryError) -> EV3Brick {
    guard let brick = attachment.accessory as? EV3Brick else {
      throw AccessoryError(.unsupported, "\(attachment.accessory.label) has no files that this command knows of")
    }
    return brick
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

  @OptionGroup var brick: BrickOptions
  @Argument(help: "The folder.") var path = "./"
  var output: OutputOptions { brick.output }

  func run() async throws {
    try await brick.with { attachment, brick in
      let entries = try await brick.list(path)
      if output.json {
        return Output.json(
          FolderDocument(device: DeviceDocument(attachment.device), path: path, entries: entries.map { .init($0) }))
      }
      for entry in entries {
        switch entry {
        case .folder(let name): Output.line("\(Self.padded("")) \(SafeText.escape(name))/")
        case .file(let name, let size, _): Output.line("\(Self.padded(String(size))) \(SafeText.escape(name))")
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

  @OptionGroup var brick: BrickOptions
  @Argument(help: "The file or folder.") var path: String
  var output: OutputOptions { brick.output }

  func run() async throws { try await brick.with { _, brick in try await brick.remove(path) } }
}

struct Mkdir: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes a folder of an accessory.",
    discussion: """
      EXAMPLES
        bridge-cli mkdir EV3 ../prjs/tst
      """)

  @OptionGroup var brick: BrickOptions
  @Argument(help: "The folder.") var path: String
  var output: OutputOptions { brick.output }

  func run() async throws { try await brick.with { _, brick in try await brick.makeFolder(path) } }
}
