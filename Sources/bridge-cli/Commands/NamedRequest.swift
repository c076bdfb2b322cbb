// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput

/// A request of named commands with named arguments, as drivers describe them.
struct NamedRequest {
  private let device: String?
  private let words: ArraySlice<String>
  /// Values to set, in place of `words`: the accessory's driver says by which command.
  private var settings: [CommandSetting] = []

  /// The drivers that may be meant.
  private let drivers: [Driver]

  /// The known drivers, and those of protocols that are described in profiles.
  private static let known = KnownDrivers.library.all + KnownDrivers.inProfiles

  /// One command of the accessory's own driver, whose name is also a name in the short form.
  init(_ command: String, of device: String?) { self.init([command], of: device) }

  init(_ words: [String], of device: String?) { (self.device, self.words, drivers) = (device, words[...], []) }

  /// The command of the accessory's own driver that sets these values.
  init(settings: [CommandSetting], of device: String?) {
    self.init([], of: device)
    self.settings = settings
  }

  /// Whether any driver has the first command. If none has, the accessory's own driver reports its commands in the
  /// error.
  var isKnown: Bool { drivers.contains { driver in driver.commands.contains { $0.name == words.first } } }

  /// Reads a command line. Returns nil when the words have the short form: a command by its number, perhaps with a payload.
  /// `driver` is the value of `--driver`: a name, or the file of a description.
  init?(_ words: [String], driver: String?) {
    guard let first = words.first else { return nil }
    var drivers = Self.known
    if let driver, KnownDrivers.isFile(driver) {
      // An unreadable file is reported when the device is opened.
      drivers = (try? DescriptionReader.read(path: driver)).map { [Driver($0.description)] } ?? []
    }
    self.drivers = drivers
    let names = Set(drivers.flatMap { $0.commands.map(\.name) })
    let isShorter = Request.form.number(first) != nil && words.dropFirst().first.map { names.contains($0) } != true
    if isShorter, !words.contains(where: { $0.contains("=") || $0 == "+" }) { return nil }
    // The first word is the device, unless it is a command's name and no second command follows. A word before
    // NAME=VALUE is a command, too, even if no driver has it: a device is followed by a command, and command names have
    // no `=`.
    let leavesDeviceOut =
      words.count > 1 && words[1].contains("=")
      || names.contains(first) && !(words.count > 1 && names.contains(words[1]))
    device = leavesDeviceOut ? nil : first
    self.words = leavesDeviceOut ? words[...] : words.dropFirst()
    guard let command = self.words.first else { return nil }
    let isShort = Request.form.named.contains { $0.name == command.lowercased() } || command.hasPrefix("0x")
    let hasArguments = self.words.dropFirst().contains { $0.contains("=") || $0 == "+" }
    if isShort && !hasArguments { return nil }
  }

  /// Throws `ValidationError` where the user names a driver that doesn't take these words. Without a named driver the
  /// arguments can't be checked before the accessory is known, since several drivers have commands of the same name.
  func check(driver name: String?) throws {
    guard let name, let driver = drivers.first(where: { $0.name == name }) ?? (drivers.count == 1 ? drivers.first : nil)
    else { return }
    do throws(AccessoryError) {
      _ = try CommandCall.read(words, of: driver.commands)
    } catch {
      throw ValidationError("\(driver.name): \(error.description)")
    }
  }

  func run(_ request: CommandSending) async throws {
    try await run(request, on: try await Door.find(device, request.line))
  }

  /// Sends the commands to an accessory.
  func run(_ request: CommandSending, on found: any FoundAccessory) async throws {
    let calls = try calls(of: try await found.commands().commands, found.label)
    if request.dryRun { return try await DryRun(calls, on: found, write: request.write).show(request.output) }
    try found.checkWrites(calls, isAsked: request.write)
    try await found.with { opened in
      let replies = try await Self.usage {
        try await opened.perform(calls, isAnswered: request.isAnswered, write: request.write)
      }
      let answers = zip(calls, replies).map { CommandAnswer($0.command, $1.values) }
      Self.show(answers, DeviceDocument(opened.device), request.output, isAnswered: request.isAnswered)
    }
  }

  private func calls(of commands: [CommandDescription], _ label: String) throws -> [CommandCall] {
    let words: [String]
    do throws(UsageError) {
      words = settings.isEmpty ? Array(self.words) : try CommandSetting.words(settings, of: commands)
    } catch {
      throw UsageError("\(label): \(error.description)")
    }
    do throws(AccessoryError) {
      return try CommandCall.read(words, of: commands)
    } catch {
      throw UsageError("\(label): \(error)")
    }
  }

  /// Turns `misconfigured`, an argument that the accessory doesn't take, into `UsageError`.
  private static func usage<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await body()
    } catch let error as AccessoryError where error.kind == .misconfigured {
      throw UsageError(error.message)
    }
  }

  private static func show(
    _ answers: [CommandAnswer], _ device: DeviceDocument, _ output: OutputOptions, isAnswered: Bool
  ) {
    if output.json { return Output.json(AnswersDocument(device, isAnswered ? answers : [])) }
    for answer in answers where !answer.values.isEmpty { Output.wrapped(ValueView.line(answer.values), indent: 2) }
  }
}

/// Prints all commands with their arguments and units.
enum CommandList {
  static func show(_ device: String?, _ line: LineOptions, _ output: OutputOptions) async throws {
    var lists: [(driver: String, commands: [CommandDescription])]?
    if let device {
      lists = try await Door.find(device, line).possibleCommands()
    } else if let file = line.driver, KnownDrivers.isFile(file) {
      let driver = Driver(try await KnownDrivers.described(inFile: file).description)
      lists = [(driver.name, driver.commands)]
    } else if let name = line.driver, let driver = KnownDrivers.library.driver(named: name) {
      lists = [(driver.name, driver.commands)]
    } else {
      lists = try? await Door.find(nil, line).possibleCommands()
      // `--wait` has run out, or the user has interrupted.
      if lists == nil { try AccessoryWait.checkInterruption() }
    }
    let all = lists ?? KnownDrivers.library.drivers.map { ($0.name, $0.commands) }
    for (driver, commands) in all { show(driver, commands, output) }
  }

  private static func show(_ driver: String, _ commands: [CommandDescription], _ output: OutputOptions) {
    if output.json { return Output.json(CommandListDocument(driver, commands)) }
    Output.line(Style.standardOutput.bold(driver))
    for command in commands {
      let results = command.results.map { $0.name + ($0.unit.map { " (\($0))" } ?? "") }
      let arrow = results.isEmpty ? "" : " → " + results.joined(separator: ", ")
      Output.wrapped("  \(command.form)\(arrow)", indent: 4)
      let write = command.isWrite ? " (a write: needs --write, and writes: allowed in the profile)" : ""
      Output.wrapped("      " + Style.standardOutput.dim(command.summary + write), indent: 6)
    }
  }
}
