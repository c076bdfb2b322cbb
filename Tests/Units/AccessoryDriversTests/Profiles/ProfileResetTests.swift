// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryFamilies
import AccessoryIO
import Testing

@testable import AccessoryDrivers

/// What a profile says of its board's reset by DTR and RTS.
@Suite struct ProfileResetTests {
  private func read(_ text: String) throws(ProfileProblems) -> Profile {
    try ProfileReader.read(Array(("name: a\nmatch: {serial: x}\n" + text).utf8), file: "f")
  }

  @Test func resetsOfKnownBoardsAreRead() throws {
    #expect(try read("").reset == nil)
    #expect(try read("reset: esp").reset?.resets == LineReset.esp)
    let arduino = try read("reset: arduino")
    #expect(arduino.reset?.resets == LineReset.arduino && arduino.reset?.name == "arduino")
    #expect(try ProfileReader.read(Array(ProfileText.text(arduino).utf8), file: "g") == arduino)
  }

  @Test func aProfileMayDescribeItsOwnReset() throws {
    let profile = try read(
      "reset:\n- begins: {rts: off}\n  steps:\n  - {rts: on}\n  - {wait: 20ms}\n  - {rts: off}\nalarms: [fault]\n")
    let script = profile.reset?.resets.first?.script.steps
    #expect(
      script == [
        .set(raising: .rts, lowering: []), .wait(.milliseconds(20)), .set(raising: [], lowering: .rts),
      ])
    #expect(profile.reset?.name == nil)
    #expect(try ProfileReader.read(Array(ProfileText.text(profile).utf8), file: "g") == profile)
  }

  @Test(arguments: [
    ("reset: esp32", 8, "reset (or a list of resets) must be esp or arduino"), ("reset: {}", 8, "reset"),
    ("reset: none", 8, "reset (or a list of resets) must be esp or arduino"),
    ("reset: [{steps: [{dtr: on}]}]", 9, "begins is missing"),
    ("reset: [{begins: {dtr: on}, steps: [{wait: 5}]}]", 44, "wait must be a time with its unit"),
  ])
  func mistakesInResetsAreReported(_ text: String, _ column: Int, _ message: String) throws {
    let error = #expect(throws: ProfileProblems.self) { try read(text) }
    let problem = error?.problems.first
    #expect(problem?.message.contains(message) == true, "\(String(describing: error))")
    #expect(problem?.line == 3 && problem?.column == column, "\(String(describing: problem))")
  }
}
