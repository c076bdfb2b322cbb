// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import ArgumentParser
import CommandOutput

struct Request: SendingCommand {
  static let configuration = CommandConfiguration(
    commandName: "request",
    abstract: "Sends commands to an accessory, and prints the replies.",
    usage: """
      bridge-cli request [<device>] <command> [<name>=<value> ...] [+ <command> ...]
             bridge-cli request [<device>] <command> [<payload>] [--text]
             bridge-cli request [<device>] --list
      """,
    discussion: """
      --list shows the accessory's commands. Several commands are separated by +. For AF1 accessories a command is identify, status, \
      battery, echo or a number like 0x7E; its payload is hexadecimal, or text with --text.

      EXAMPLES
        bridge-cli request EV3 --list
        bridge-cli request EV3 motor-speed ports=A,B speed=-50 + motor-start ports=A,B
        bridge-cli request PACK1 charge to=off --dry-run
        bridge-cli request ./acc 0x7E 68656c6c6f
      """)

  @Argument(
    help: .value("word", "The device (where there are several), a command, and its payload."),
    completion: CompletionWords.requests)
  var words: [String] = []
  @Flag(help: "The payload is text, not hexadecimal.")
  var text = false
  @Flag(
    help:
      "List the commands with their arguments and units."
  )
  var list = false
  @Flag(help: "Don't wait until the commands are done.")
  var noReply = false
  @OptionGroup var options: SendingOptions

  /// The parsed words of the short form, a request by its number.
  struct Parts: Equatable {
    var device: String?
    var number: UInt8
    var payload: [UInt8]

    /// Whether the command's name may also be a command of another driver.
    var mayBeAName: Bool { payload.isEmpty && Request.form.named.contains { $0.number == number } }
  }

  /// The requests that have the short form.
  static let form = DriverLibrary.builtIn.numberedRequests

  func validate() throws {
    if list {
      guard words.count <= 1 else { throw ValidationError("--list takes a device and nothing else") }
    } else if let named = NamedRequest(words, driver: line.driver) {
      try named.check(driver: line.driver)
      if text, named.isKnown {
        throw ValidationError(
          "--text is for the payload of an \(Self.form.protocolName) command, not for a named command")
      }
    } else {
      _ = try parts()
      if noReply { throw ValidationError("--no-reply is for named commands: \(Self.form.protocolName) always replies") }
    }
  }

  func parts() throws -> Parts {
    guard let first = words.first else {
      throw ValidationError("expected a command: \(Self.form.names), or a number like 0x7E")
    }
    // A first word that is a command is not a device, unless another command follows.
    let leavesDeviceOut = Self.form.number(first) != nil && (words.count < 2 || Self.form.number(words[1]) == nil)
    let device = leavesDeviceOut ? nil : first
    let rest = leavesDeviceOut ? words[...] : words.dropFirst()
    guard let word = rest.first else {
      let names = Self.form.named.map(\.name) + KnownDrivers.library.all.flatMap { $0.commands.map(\.name) }
      let meant = NearestWord.find(first, among: names)?.likely.first
      let question = meant.map { ", or did you mean bridge-cli request \($0)?" } ?? ""
      throw ValidationError(
        "expected a command after \(first): bridge-cli request \(first) --list shows them\(question)")
    }
    guard let number = Self.form.number(word) else {
      throw ValidationError(
        "\(word) is not a command: expected \(Self.form.names), or a number from 0x00 to 0xFF")
    }
    guard rest.count <= 2 else {
      throw ValidationError("expected one payload; quote it if it has spaces")
    }
    let payload = rest.dropFirst().first ?? ""
    if text { return Parts(device: device, number: number, payload: Array(payload.utf8)) }
    guard let bytes = Hex.bytes(payload) else {
      throw ValidationError("\(payload) is not hexadecimal (two digits a byte, like 68656c6c6f): for text use --text")
    }
    return Parts(device: device, number: number, payload: bytes)
  }

  private var sending: CommandSending {
    sending(isAnswered: !noReply)
  }

  func run() async throws {
    if list { return try await CommandList.show(words.first, line, output) }
    if let named = NamedRequest(words, driver: line.driver) { return try await named.run(sending) }
    let parts = try parts()
    let found = try await Door.find(parts.device, line)
    if parts.mayBeAName || options.dryRun {
      try await found.checkDriver()
      let commands = try await found.commands().commands
      if let named = named(parts, found.driver, commands) { return try await named.run(sending, on: found) }
      if options.dryRun { return try await named(parts, found.driver, found.label).run(sending, on: found) }
    }
    try found.checkBytes(isAsked: options.write)
    try await Self.hinting { try found.check(.requests) }
    try await found.with { opened in
      let reply = try await usage {
        try await Self.hinting {
          try await opened.request(parts.number, payload: parts.payload, write: options.write)
        }
      }
      show(reply, parts, DeviceDocument(opened.device), found.driver)
    }
  }

  /// The words as a command of the accessory's own driver, if that accepts no requests by number and has a command of
  /// this name. `status`, for example, exists in several drivers.
  private func named(_ parts: Parts, _ driver: Driver?, _ commands: [CommandDescription]) -> NamedRequest? {
    let name = Self.form.name(parts.number)
    guard parts.mayBeAName, driver?.requests == nil, commands.contains(where: { $0.name == name }) else {
      return nil
    }
    return NamedRequest(name, of: parts.device)
  }

  /// The short form as a named command. Throws `UsageError` where the accessory takes no requests by number.
  private func named(_ parts: Parts, _ driver: Driver?, _ label: String) throws -> NamedRequest {
    guard let requests = driver?.requests else {
      throw UsageError(
        "\(label) doesn't accept \(Self.form.protocolName) commands, so nothing was sent: "
          + "request --list shows the commands of each driver"
      )
    }
    return NamedRequest(requests.words(parts.number, parts.payload), of: parts.device)
  }

  private func show(_ reply: [UInt8], _ parts: Parts, _ device: DeviceDocument, _ driver: Driver?) {
    let words = driver?.requests?.reply(reply, parts.number)
    if output.json {
      return Output.json(
        RequestDocument(
          device, command: Self.form.name(parts.number), byte: parts.number, reply: reply,
          fields: words.map { Dictionary($0.fields.map { ($0.name, $0.value) }) { $1 } }))
    }
    let style = Style.standardOutput
    // A decoded reply is printed in words. Its bytes are in the JSON document and in a trace.
    if let words { return Output.wrapped(words.summary, indent: 2) }
    Output.line(Hexadecimal.string(reply) + (style.isTerminal ? style.dim("  |\(Hex.text(reply))|") : ""))
  }

  /// Adds a hint on `request --list` to errors of the kind `unsupported`.
  private static func hinting<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as AccessoryError where error.kind == .unsupported {
      throw AccessoryError(
        .unsupported, "\(error.message): bridge-cli request --list shows the commands of each driver")
    }
  }

  private func usage<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as AccessoryError where error.kind == .misconfigured {
      // The accessory's limit is known only after it was opened, but the argument that exceeds it is the user's.
      throw UsageError(error.message)
    }
  }
}
