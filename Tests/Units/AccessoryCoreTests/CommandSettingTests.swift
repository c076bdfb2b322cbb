// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import Testing

@Suite struct CommandSettingTests {
  private typealias Setting = CommandDescription.Setting

  /// The argument that gives a value is exact, or there is none.
  @Test(
    arguments: [
      ("25.5", -2731, 1, 10, "2986"), ("25.55", -2731, 1, 10, nil), ("-273.1", -2731, 1, 10, "0"),
      ("25", -2731, 1, 10, "2981"),
      ("12", 0, -1, 1, "-12"), ("1", 0, 1, 3, "3"), ("2", 0, 3, 1, nil), ("1", 0, 0, 1, nil), ("x", 0, 2, 1, nil),
      ("", 0, 2, 1, nil),
      ("1.", 0, 2, 1, nil), ("1.-5", 0, 2, 1, nil), ("1e3", 0, 2, 1, nil), ("9223372036854775807", 0, 1, 2, nil),
      ("999999999999999999", 0, 1, 1_000, nil), ("2", .min, 2, 1, nil), ("4", 1, .min, .min, nil),
    ] as [(String, Int, Int, Int, String?)])
  func aTypedValueGivesItsArgument(value: String, offset: Int, numerator: Int, denominator: Int, argument: String?) {
    let setting = Setting("x", .argument("to", offset: offset, numerator: numerator, denominator: denominator))
    #expect(setting.argument(for: value) == argument)
  }

  @Test func whatIsTypedForAPlainArgumentIsItsText() {
    #expect(Setting("x", .argument("to")).argument(for: "on") == "on")
    #expect(Setting("x", .value("on")).argument(for: "on") == nil)
  }

  @Test func settingsAreReadAsTheyAreWritten() throws {
    var command = CommandDescription("heat", "Heats")
    #expect(try !String(decoding: JSONEncoder().encode(command), as: UTF8.self).contains("sets"))
    command.settings = [
      Setting("a", .argument("to", offset: -5, denominator: 10)), Setting("b", .argument("to")),
      Setting("c", .value("on")),
    ]
    #expect(try JSONDecoder().decode(CommandDescription.self, from: JSONEncoder().encode(command)) == command)
  }
}
