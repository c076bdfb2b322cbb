// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySharing
import ArgumentParser
import CommandOutput

/// A file with the options of `bridge`: `device: SIM0001`, `tcp: 7000`.
enum ShareFile {
  private static let options: [(key: SettingsFile.Key, option: String)] = [
    (.init("device", .text), ""),
    (.init("tcp", .texts, problem: form(ListeningPlace.self)), "--tcp"),
    (.init("rfc2217", .texts, problem: form(ListeningPlace.self)), "--rfc2217"),
    (.init("unix", .texts), "--unix"), (.init("pty", .texts), "--pty"),
    (.init("ble", .text), "--ble"), (.init("uart", .text, problem: word(GATTUART.self)), "--uart"),
    (.init("ble_paired", .flag), "--ble-paired"),
    (.init("allow", .texts, problem: form(NetworkArgument.self)), "--allow"),
    (.init("writers", .text, problem: word(SharingRules.Writers.self)), "--writers"),
    (.init("by", .text, problem: word(SharedUnit.self)), "--by"),
    (.init("slow_reader", .text, problem: word(SharingRules.SlowReader.self)), "--slow-reader"),
    (.init("buffer", .text, problem: form(SizeArgument.self)), "--buffer"),
    (.init("on_unplug", .text, problem: word(UnplugArgument.self)), "--on-unplug"),
    (.init("max_clients", .text, problem: count), "--max-clients"),
    (.init("newest_wins", .flag), "--newest-wins"),
    (.init("mode", .text, problem: form(ModeArgument.self)), "--mode"),
    (.init("linger", .text, problem: form(TimeArgument.self)), "--linger"),
    (.init("reset", .text, problem: reset), "--reset"), (.init("write", .flag), "--write"),
  ]

  /// The keys that no other file has.
  static let ownKeys = Set(options.map(\.key.name)).subtracting(["reset", "write"])

  static func form<Argument: FormArgument & SendableMetatype>(
    _: Argument.Type
  ) -> @Sendable (String) -> String? {
    { Argument(argument: $0) == nil ? Argument.form.trimmingComma : nil }
  }

  private static func word<Word: CaseIterable & RawRepresentable<String>>(
    _: Word.Type
  ) -> @Sendable (String) -> String? {
    let words = Word.allCases.map(\.rawValue)
    return { words.contains($0) ? nil : words.joined(separator: " or ") }
  }

  private static let reset: @Sendable (String) -> String? = { text in
    ResetArgument(argument: text) == nil ? "esp, arduino, none or a file like ./board.yaml" : nil
  }

  private static let count: @Sendable (String) -> String? = { text in
    Int(text).map { $0 >= 1 } == true ? nil : "a number, at least 1"
  }

  /// Reads a file and returns the command that it describes. Throws all mistakes in it, with line and column.
  static func read(path: String) async throws(ProfileProblems) -> BridgeCommand {
    let arguments = try await SetupQueue(label: "share").run { () throws(ProfileProblems) -> [String] in
      try Self.arguments(path: path)
    }
    do {
      return try await BridgeCommand.asyncParse(arguments)
    } catch {
      // A combination of options that is wrong has no position in the file.
      let message = BridgeCommand.message(for: error)
      throw ProfileProblems(problems: [ProfileProblem(file: path, line: 1, column: 1, message: message)])
    }
  }

  /// The file's settings as arguments of `bridge`. Blocks, so call it on a `SetupQueue`.
  private static func arguments(path: String) throws(ProfileProblems) -> [String] {
    let (arguments, settings) = try SettingsFile.arguments(path: path, what: "a share", options: options)
    guard let device = settings.first(where: { $0.key == "device" })?.values.first else { return arguments }
    return arguments + ["--", device]
  }
}

extension String {
  /// The text without a comma at its end, which forms of arguments have for use inside a sentence.
  fileprivate var trimmingComma: String { hasSuffix(",") ? String(dropLast()) : self }
}

extension AccessoryError {
  /// An error with all mistakes in a file.
  init(_ problems: ProfileProblems) {
    self.init(problems.kind, problems.problems.map(\.description).joined(separator: "\n"))
  }
}
