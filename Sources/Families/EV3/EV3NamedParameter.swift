// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

/// A parameter of a named command: what the user gives, and what the instruction gets.
struct EV3NamedParameter: Sendable {
  /// What the user gives; nil for a number that is always the same.
  let argument: CommandDescription.Argument?
  let value: @Sendable (CommandCall) -> EV3Argument
  /// Whether the user gives it last, although the instruction has it first.
  var isLast = false

  var last: Self {
    var parameter = self
    parameter.isLast = true
    return parameter
  }

  /// The same number each time, such as the size of a result.
  static func fixed(_ number: Int) -> Self { Self(argument: nil) { _ in .number(number) } }

  static func whole(
    _ name: String, _ range: ClosedRange<Int>, _ unit: String? = nil, standard: Int? = nil
  ) -> Self {
    let argument = CommandDescription.Argument(
      name, .whole(range), unit: unit, defaultValue: standard.map { .whole($0) })
    return Self(argument: argument) { .checked(name, $0.whole(name), range) }
  }

  static func text(_ name: String, _ limit: Int) -> Self {
    Self(argument: CommandDescription.Argument(name, .text(limit))) { .text($0.text(name), limit: limit) }
  }

  static func flag(_ name: String, standard: Bool? = nil) -> Self {
    let argument = CommandDescription.Argument(name, .flag, defaultValue: standard.map { .flag($0) })
    return Self(argument: argument) { .number($0.flag(name) ? 1 : 0) }
  }

  /// One of these words, each with the number that is sent.
  static func choice(_ name: String, _ words: KeyValuePairs<String, Int>, standard: String? = nil) -> Self {
    choice(name, words.map { ($0.key, $0.value) }, standard: standard)
  }

  /// One of these cases, by its name in Swift.
  static func choice<Choice: CaseIterable & RawRepresentable & Sendable>(_ name: String, _ type: Choice.Type) -> Self
  where Choice.RawValue: BinaryInteger {
    choice(name, type.allCases.map { ("\($0)", Int($0.rawValue)) })
  }

  private static func choice(_ name: String, _ words: [(String, Int)], standard: String? = nil) -> Self {
    let argument = CommandDescription.Argument(
      name, .choice(words.map(\.0)), defaultValue: standard.map { .text($0) })
    return Self(argument: argument) { call in .number(words.first { $0.0 == call.text(name) }?.1 ?? 0) }
  }

  private static let letters = ["A", "B", "C", "D"]

  static let layer = whole("layer", 0...3, standard: 0).last
  static let ports = Self(argument: CommandDescription.Argument("ports", .choices(letters))) { call in
    .number(call.words("ports").reduce(0) { $0 | 1 << (letters.firstIndex(of: $1) ?? 0) })
  }
  static let motor = choice("port", letters.enumerated().map { ($1, $0) })
  static let sensor = choice("port", EV3Port.allCases.map { ($0.name, Int($0.rawValue)) })
  static let button = choice("button", EV3Button.self)
  static let ink = choice(
    "ink", ["black": Int(EV3Ink.black.rawValue), "white": Int(EV3Ink.white.rawValue)], standard: "black"
  ).last
  static let speed = whole("speed", -100...100, "%")
  static let power = whole("power", -100...100, "%")
  static let turn = whole("turn", -200...200)
  static let brake = flag("brake", standard: false)
  static let volume = whole("volume", 0...100, "%", standard: 50)
  static let type = whole("type", 0...127, standard: 0)
  static let mode = whole("mode", -1...7, standard: -1)
  static let count = whole("values", 1...8, standard: 1)
  static let path = text("path", EV3Limits.path)
  static let number = whole("number", 0...127)

  static func length(_ name: String, _ unit: String, standard: Int? = nil) -> Self {
    whole(name, 0...Int(Int32.max), unit, standard: standard)
  }

  /// The three parts of a movement.
  static func parts(_ unit: String) -> [Self] {
    [length("up", unit, standard: 0), length("constant", unit), length("down", unit, standard: 0)]
  }

  static func coordinate(_ name: String) -> Self { whole(name, -32_767...32_767, "points") }
  static func extent(_ name: String) -> Self { whole(name, 0...32_767, "points") }
  static let point = [coordinate("x"), coordinate("y")]
}

/// A result of a named command.
struct EV3NamedResult: Sendable {
  let description: CommandDescription.Result
  /// The result of this number among the instruction's results.
  let value: @Sendable (EV3Results, Int) -> CommandValue

  private init(
    _ name: String, _ unit: String?, _ value: @escaping @Sendable (EV3Results, Int) -> CommandValue
  ) {
    description = CommandDescription.Result(name, unit: unit)
    self.value = value
  }

  static func whole(_ name: String, _ unit: String? = nil) -> Self { Self(name, unit) { .whole($0.number($1)) } }
  /// A byte without a sign.
  static func byte(_ name: String, _ unit: String? = nil) -> Self { Self(name, unit) { .whole(Int($0.byte($1))) } }
  static func float(_ name: String, _ unit: String? = nil) -> Self { Self(name, unit) { .number($0.float($1)) } }
  /// A number that may be missing.
  static func value(_ name: String, _ unit: String? = nil) -> Self {
    Self(name, unit) { results, index in results.value(index).map { .whole($0) } ?? .nothing }
  }
  /// Several numbers, of which some may be missing: all results of the instruction.
  static func values(_ kind: EV3ResultKind, _ unit: String? = nil) -> Self {
    Self("values", unit) { results, _ in .list(results.sensorValues(kind).map { .number($0) }) }
  }
  static let text = Self("text", nil) { .text($0.text($1)) }
  static let flag = Self("is", nil) { .flag($0.flag($1)) }
  static let type = Self("type", nil) { .text(EV3DeviceType(rawValue: $0.byte($1)).name) }
  static let types = Self("types", nil) { results, index in
    .list(results.bytes(index).map { .text(EV3DeviceType(rawValue: $0).name) })
  }
  static let warnings = Self("warnings", nil) { results, index in
    .list(EV3Warnings(rawValue: results.byte(index)).names.map { .text($0) })
  }
}

extension CommandValue {
  static func number(_ value: Float) -> CommandValue {
    // Only as many digits as the brick's four bytes are accurate to.
    value.isFinite ? .number(Double("\(value)") ?? Double(value)) : .nothing
  }

  static func number(_ value: Float?) -> CommandValue { value.map { .number($0) } ?? .nothing }
}
