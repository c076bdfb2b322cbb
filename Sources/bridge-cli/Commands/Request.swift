// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols
import ArgumentParser
import CommandOutput

struct Request: AsyncParsableCommand, JSONCommand, LineCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Sends commands to an accessory and prints what they are answered.",
    usage: """
      bridge-cli request [<device>] <command> [<name>=<value> ...] [+ <command> ...] [--no-reply] [--json]
             bridge-cli request [<device>] <command> [<payload>] [--text] [--baud <rate>] [--json]
             bridge-cli request [<device>] <command> [<name>=<value> ...] [--write] [--dry-run] [--json]
             bridge-cli request [<device>] --list
      """,
    discussion: """
      --list shows the commands of the accessory with their arguments and units; with --driver those of that kind. \
      Several, with + between them, are sent as one batch where the protocol has that.

      A command that --list marks as a write changes something in the accessory: it needs --write, and writes: allowed \
      in the accessory's profile. --dry-run shows what would be sent, and sends nothing.

      For AF1 there is a shorter form: COMMAND is identify, status, battery, echo, or a number like 0x7E. PAYLOAD is \
      hexadecimal, or with --text taken as it is. What is known of the reply is printed in words, and any other reply in \
      hexadecimal; --json has both. A command that the AF1 specification doesn't know is not sent \
      twice unless it is sure that the accessory has not restarted.

      EXAMPLES
        bridge-cli request ./acc echo 68656c6c6f
        bridge-cli request ./acc 0x7E 68656c6c6f
        bridge-cli request echo --text hello
        bridge-cli request EV3 --list
        bridge-cli request EV3 motor-speed ports=A,B speed=-50 + motor-start ports=A,B
        bridge-cli request EV3 sensor-si port=4
        bridge-cli request PACK1 mosfets charge=off discharge=on --dry-run
        bridge-cli request PACK1 mosfets charge=off discharge=on --write
      """)

  @Argument(
    help: ArgumentHelp("The device, unless there is just one; a command; its payload.", valueName: "word"),
    completion: CompletionWords.requests)
  var words: [String] = []
  @Flag(help: "The payload is text, not hexadecimal.")
  var text = false
  @Flag(
    help:
      "Show the accessory's commands with their arguments and units; of every kind, where it isn't known which is meant."
  )
  var list = false
  @Flag(help: "Don't wait until the commands were carried out.")
  var noReply = false
  @Flag(help: "Let the commands change something in the accessory, if its profile allows that, too.")
  var write = false
  @Flag(help: "Show the bytes that commands with names would send, and what they say; send nothing.")
  var dryRun = false
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  /// What the words mean.
  struct Parts: Equatable {
    var device: String?
    var command: AF1Command
    var payload: [UInt8]

    /// Whether other kinds of accessories could have a command that is called so.
    var mayBeAName: Bool { payload.isEmpty && Request.names.values.contains(command) }
  }

  fileprivate static let names: [String: AF1Command] = [
    "identify": .identify, "status": .status, "battery": .battery, "echo": .echo,
  ]

  func validate() throws {
    if list {
      guard words.count <= 1 else { throw ValidationError("--list goes with a device, or alone") }
    } else if let named = NamedRequest(words, driver: line.driver) {
      try named.check(driver: line.driver)
      if text, named.isKnown { throw ValidationError("--text is for payloads that stand alone") }
    } else {
      _ = try parts()
      if noReply { throw ValidationError("--no-reply is for commands with names: AF1 always answers") }
    }
  }

  func parts() throws -> Parts {
    guard let first = words.first else {
      throw ValidationError("a command was expected: identify, status, battery, echo, or a number like 0x7E")
    }
    // A word that is a command can't be meant as a device, unless another command follows.
    let leavesDeviceOut = Self.command(first) != nil && (words.count < 2 || Self.command(words[1]) == nil)
    let device = leavesDeviceOut ? nil : first
    let rest = leavesDeviceOut ? words[...] : words.dropFirst()
    guard let word = rest.first else {
      throw ValidationError(
        "a command was expected after \(first): bridge-cli request \(first) --list shows those that it takes")
    }
    guard let command = Self.command(word) else {
      throw ValidationError("\(word) is no command: identify, status, battery, echo, or a number from 0x00 to 0xFF")
    }
    guard rest.count <= 2 else {
      throw ValidationError("one payload was expected; quote it if it has spaces")
    }
    let payload = rest.dropFirst().first ?? ""
    if text { return Parts(device: device, command: command, payload: Array(payload.utf8)) }
    guard let bytes = Hex.bytes(payload) else {
      throw ValidationError("\(payload) is not hexadecimal, two digits a byte, like 68656c6c6f; for text say --text")
    }
    return Parts(device: device, command: command, payload: bytes)
  }

  /// The command of AF1 that a word names, or gives the number of.
  static func command(_ word: String) -> AF1Command? {
    if let command = names[word.lowercased()] { return command }
    guard word.lowercased().hasPrefix("0x") else { return nil }
    return UInt8(word.dropFirst(2), radix: 16).map(AF1Command.init(rawValue:))
  }

  func run() async throws {
    if list { return try await CommandList.show(words.first, line, output) }
    if let named = NamedRequest(words, driver: line.driver) { return try await named.run(self) }
    let parts = try parts()
    if let held = try await HeldDevice.find(parts.device, line) {
      try held.requireDriver()
      if parts.mayBeAName {
        let (driver, commands) = try await held.commands()
        if let named = named(parts, driver, commands) { return try await named.run(self) }
      }
      if dryRun { return try await named(parts, held.accessory.driver, held.label ?? held.name).run(self) }
      let command = "0x" + Hexadecimal.string([parts.command.rawValue])
      let reply = try await usage {
        try await Self.hinting {
          try await held.calls.request(command, payload: parts.payload, write: write)
        }
      }
      return show(reply.payload, parts, DeviceDocument(reply.device), driver: held.accessory.driver)
    }
    let target = try await OpenedAccessory.find(parts.device, line)
    if let driver = target.driver, let named = named(parts, driver.name, driver.commands) {
      return try await named.run(self, on: target)
    }
    if dryRun { return try await named(parts, target.driver?.name, target.label).run(self, on: target) }
    // Before it is opened: that resets some boards.
    try target.opener.writeRules.checkBytes(isAsked: write)
    try await Self.hinting { try target.driver?.check(.requests, label: target.label) }
    try await OpenedAccessory.with(target) { opened in
      let reply = try await usage {
        try await Self.hinting {
          try await OpenedAccessory.answer(of: opened.accessory.label) {
            try await opened.accessory.asking(toWrite: write).request(
              parts.command.rawValue, payload: parts.payload)
          }
        }
      }
      show(reply, parts, DeviceDocument(opened.device), driver: opened.driver.name)
    }
  }

  /// The words as a command of the accessory's own kind, where that isn't AF1's and has one of this name: many a thing has
  /// a `status`.
  private func named(_ parts: Parts, _ driver: String, _ commands: [CommandDescription]) -> NamedRequest? {
    let name = parts.command.name.lowercased()
    guard parts.mayBeAName, driver != AF1Accessory.driverName, commands.contains(where: { $0.name == name }) else {
      return nil
    }
    return NamedRequest(name, of: parts.device)
  }

  /// The same in the longer form, which names everything. Throws `UsageError` where the accessory doesn't speak AF1.
  private func named(_ parts: Parts, _ driver: String?, _ label: String) throws -> NamedRequest {
    guard driver == AF1Accessory.driverName else {
      throw UsageError(
        "\(label) takes no AF1 commands, so nothing is known that would be sent: request --list shows what each kind takes"
      )
    }
    let payload = parts.payload.isEmpty ? [] : ["payload=" + Hexadecimal.string(parts.payload)]
    return NamedRequest(["command", "number=\(parts.command.rawValue)"] + payload, of: parts.device)
  }

  private func show(_ reply: [UInt8], _ parts: Parts, _ device: DeviceDocument, driver: String?) {
    let words =
      driver == AF1Accessory.driverName ? AF1Accessory.words(ofReply: reply, to: parts.command.rawValue) : nil
    if output.json {
      return Output.json(
        RequestDocument(
          device, command: parts.command.name.lowercased(), byte: parts.command.rawValue, reply: reply,
          fields: words.map { Dictionary($0.fields.map { ($0.name, $0.value) }) { $1 } }))
    }
    let style = Style.standardOutput
    // What can be read is shown so; its bytes are in JSON, and in a trace.
    if let words { return Output.line(words.summary) }
    Output.line(Hexadecimal.string(reply) + (style.isTerminal ? style.dim("  |\(Hex.text(reply))|") : ""))
  }

  /// What an accessory can't do, another command may.
  private static func hinting<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as AccessoryError where error.kind == .unsupported {
      throw AccessoryError(
        .unsupported, "\(error.message): bridge-cli request --list shows what each kind takes")
    }
  }

  private func usage<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as AccessoryError where error.kind == .misconfigured {
      // The accessory's limit is known only now, but what exceeds it is what the user typed.
      throw UsageError(error.message)
    }
  }
}
