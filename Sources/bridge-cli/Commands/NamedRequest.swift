// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import ArgumentParser

/// Commands by name, with arguments by name: what drivers describe.
struct NamedRequest {
  private let device: String?
  private let words: ArraySlice<String>

  private static let names = Set(KnownDrivers.library.drivers.flatMap { $0.commands.map(\.name) })

  /// Nil when the words have the shorter form that AF1 has: a command, perhaps with a payload.
  init?(_ words: [String]) {
    guard let first = words.first else { return nil }
    // A word that is a command can't be meant as a device, unless another command follows.
    let leavesDeviceOut = Self.names.contains(first) && !(words.count > 1 && Self.names.contains(words[1]))
    device = leavesDeviceOut ? nil : first
    self.words = leavesDeviceOut ? words[...] : words.dropFirst()
    guard let command = self.words.first else { return nil }
    let isShort = ["identify", "status", "battery", "echo"].contains(command.lowercased()) || command.hasPrefix("0x")
    let hasArguments = self.words.dropFirst().contains { $0.contains("=") || $0 == "+" }
    let isKnown = Self.names.contains(command) || hasArguments
    if isShort && !hasArguments || !isKnown { return nil }
  }

  /// Throws when it is right for no driver.
  func check() throws {
    var problem: CommandSyntaxError?
    for driver in KnownDrivers.library.drivers {
      do throws(CommandSyntaxError) {
        _ = try CommandCall.read(words, of: driver.commands)
        return
      } catch {
        // Of the driver that knows the first command, if one does.
        let isItsOwn = driver.commands.contains { $0.name == words.first }
        if problem == nil || isItsOwn { problem = error }
      }
    }
    if let problem { throw ValidationError(problem.description) }
  }

  func run(_ line: LineOptions, _ output: OutputOptions, isAnswered: Bool) async throws {
    if let held = try await HeldDevice.find(device, line) {
      let calls = try calls(of: try await held.commands().commands, held.label ?? held.name)
      let (device, replies) = try await Self.usage { try await held.perform(calls, isAnswered: isAnswered) }
      return Self.show(replies, DeviceDocument(device), output, isAnswered: isAnswered)
    }
    try await Attachment.with(device, line) { attachment in
      let calls = try calls(of: attachment.driver.commands, attachment.accessory.label)
      let replies = try await Self.usage {
        try await attachment.accessory.perform(calls, isAnswered: isAnswered)
      }
      Self.show(replies, DeviceDocument(attachment.device), output, isAnswered: isAnswered)
    }
  }

  private func calls(of commands: [CommandDescription], _ label: String) throws -> [CommandCall] {
    do throws(CommandSyntaxError) {
      return try CommandCall.read(words, of: commands)
    } catch {
      throw UsageError(description: "\(label): \(error)")
    }
  }

  /// What an accessory can't be sent is what the user typed.
  private static func usage<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as AccessoryError where error.kind == .misconfigured {
      throw UsageError(description: error.message)
    }
  }

  private static func show(
    _ replies: [CommandReply], _ device: DeviceDocument, _ output: OutputOptions, isAnswered: Bool
  ) {
    if output.json {
      return Output.json(CommandsDocument(device: device, replies: isAnswered ? replies.map { .init($0) } : []))
    }
    for reply in replies where !reply.values.isEmpty { Output.line(text(reply)) }
  }

  /// "motor-read speed=50 % tacho=90 °"; of a command with one result only that.
  private static func text(_ reply: CommandReply) -> String {
    let values = zip(reply.command.results, reply.values).map { result, value in
      (result.name, CommandText.value(value) + (result.unit.map { value == .nothing ? "" : " \($0)" } ?? ""))
    }
    if values.count == 1 { return values[0].1 }
    return values.map { "\($0): \($1)" }.joined(separator: ", ")
  }
}

/// Values for people.
enum CommandText {
  static func value(_ value: CommandValue) -> String {
    switch value {
    case .whole(let number): "\(number)"
    case .number(let number): "\(number)"
    case .text(let text): SafeText.escape(text)
    case .list(let values): values.isEmpty ? "none" : values.map(Self.value).joined(separator: ", ")
    case .bytes(let bytes): Hexadecimal.string(bytes)
    case .flag(let isSet): isSet ? "yes" : "no"
    case .nothing: "-"
    }
  }
}

/// All commands, with their arguments and units.
enum CommandList {
  static func show(_ device: String?, _ line: LineOptions, _ output: OutputOptions) async throws {
    if let device, let held = try await HeldDevice.find(device, line) {
      let (driver, commands) = try await held.commands()
      return show(driver, commands, output)
    }
    let drivers: [Driver]
    if let device {
      drivers = (try await Attachment.find(device, line)).driver.map { [$0] } ?? KnownDrivers.library.drivers
    } else if let name = line.driver, let driver = KnownDrivers.library.driver(named: name) {
      drivers = [driver]
    } else {
      drivers = KnownDrivers.library.drivers
    }
    for driver in drivers { show(driver.name, driver.commands, output) }
  }

  private static func show(_ driver: String, _ commands: [CommandDescription], _ output: OutputOptions) {
    if output.json { return Output.json(CommandListDocument(driver, commands)) }
    Output.line(Style.standardOutput.bold(driver))
    for command in commands {
      let results = command.results.map { $0.name + ($0.unit.map { " (\($0))" } ?? "") }
      let arrow = results.isEmpty ? "" : " → " + results.joined(separator: ", ")
      Output.line("  \(command.form)\(arrow)")
      Output.line("      " + Style.standardOutput.dim(command.summary))
    }
  }
}
