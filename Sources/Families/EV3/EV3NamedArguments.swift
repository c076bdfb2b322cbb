// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

// The arguments of a brick's commands: their descriptions, and their values in a call.

extension CommandCall {
  var motors: EV3Motors {
    words("ports").reduce(into: []) { $0.formUnion(.number(Self.letters.firstIndex(of: $1) ?? 0)) }
  }
  var motor: Int { Self.letters.firstIndex(of: text("port")) ?? 0 }
  var port: EV3Port { EV3Port.allCases.first { $0.name == text("port") } ?? .one }
  var layer: Int { whole("layer") }
  var button: EV3Button { EV3Button.allCases.first { "\($0)" == text("button") } ?? .any }
  var ink: EV3Ink { text("ink") == "white" ? .white : .black }
  func point(_ x: String = "x", _ y: String = "y") -> EV3Point { EV3Point(whole(x), whole(y)) }

  static let letters = ["A", "B", "C", "D"]
}

extension CommandDescription.Argument {
  static let ports = Self("ports", .choices(CommandCall.letters))
  static let motor = Self("port", .choice(CommandCall.letters))
  static let sensor = Self("port", .choice(EV3Port.allCases.map(\.name)))
  static let layer = Self("layer", .whole(0...3), defaultValue: .whole(0))
  static let speed = Self("speed", .whole(-100...100), unit: "%")
  static let power = Self("power", .whole(-100...100), unit: "%")
  static let brake = Self("brake", .flag, defaultValue: .flag(false))
  static let volume = Self("volume", .whole(0...100), unit: "%", defaultValue: .whole(50))
  static let type = Self("type", .whole(0...127), defaultValue: .whole(0))
  static let mode = Self("mode", .whole(-1...7), defaultValue: .whole(-1))
  static let count = Self("values", .whole(1...8), defaultValue: .whole(1))
  static let button = Self("button", .choice(EV3Button.allCases.map { "\($0)" }))
  static let ink = Self("ink", .choice(["black", "white"]), defaultValue: .text("black"))
  static let path = Self("path", .text(EV3Limits.path))

  static func length(_ name: String, _ unit: String, isOptional: Bool = false) -> Self {
    Self(name, .whole(0...Int(Int32.max)), unit: unit, defaultValue: isOptional ? .whole(0) : nil)
  }

  static func parts(_ unit: String) -> [Self] {
    [length("up", unit, isOptional: true), length("constant", unit), length("down", unit, isOptional: true)]
  }

  static func coordinate(_ name: String) -> Self { Self(name, .whole(-32_767...32_767), unit: "points") }
  static func extent(_ name: String) -> Self { Self(name, .whole(0...32_767), unit: "points") }
}
