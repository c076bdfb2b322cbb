// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import ArgumentParser
import CommandOutput

struct SetCommand: SendingCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Sets values in an accessory.",
    discussion: """
      NAME is a value that the accessory lets you change (see values), or the name of a command that writes (see request --list), \
      with or without its prefix set-, or the name of its argument. A change that can do harm needs --write, and 'writes: allowed' in \
      the profile.

      EXAMPLES
        bridge-cli set EV3 volume=50
        bridge-cli set PACK1 charge=off --dry-run
        bridge-cli set PACK1 charge=off --write
      """)

  @Argument(
    help: .value("word", "The accessory (where there are several), and NAME=VALUE."),
    completion: CompletionWords.devices)
  var words: [String]
  @OptionGroup var options: SendingOptions

  private var device: String? { words.first.flatMap { $0.contains("=") ? nil : $0 } }

  func validate() throws { _ = try settings() }

  /// The value to set.
  private func settings() throws -> [CommandSetting] {
    let words = device == nil ? words[...] : words.dropFirst()
    guard !words.isEmpty else { throw ValidationError("expected NAME=VALUE, like volume=50") }
    return try words.map { word in
      guard let setting = CommandSetting(word) else { throw ValidationError("\(word) is not NAME=VALUE") }
      return setting
    }
  }

  func run() async throws {
    try await NamedRequest(settings: try settings(), of: device).run(sending())
  }
}

/// How commands are sent to an accessory.
struct CommandSending {
  let line: LineOptions
  /// Whether commands may change something in the accessory.
  let write: Bool
  /// Whether the bytes are only shown.
  let dryRun: Bool
  /// Whether replies are awaited.
  var isAnswered = true
  let output: OutputOptions
}

/// A command that sends commands to an accessory.
protocol SendingCommand: AsyncParsableCommand, JSONCommand, LineCommand {
  var options: SendingOptions { get }
}

/// The options of `request` and `set`: the permission to write, and how to open the accessory.
struct SendingOptions: ParsableArguments {
  @Flag(help: "Allow changes of the accessory, if its profile allows them too.")
  var write = false
  @Flag(help: "Show the bytes that would be sent; send nothing.")
  var dryRun = false
  @OptionGroup var transport: TransportOptions
  @OptionGroup var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions
}

extension SendingCommand {
  var transport: TransportOptions { options.transport }
  var serial: SerialOptions { options.serial }
  var waiting: WaitOptions { options.waiting }
  var output: OutputOptions { options.output }

  /// How the commands are sent.
  func sending(isAnswered: Bool = true) -> CommandSending {
    CommandSending(
      line: line, write: options.write, dryRun: options.dryRun, isAnswered: isAnswered, output: output)
  }
}
