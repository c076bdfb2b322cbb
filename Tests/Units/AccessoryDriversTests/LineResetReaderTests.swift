// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryIO
import Testing

@testable import AccessoryDrivers

@Suite struct LineResetReaderTests {
  private func read(_ text: String) throws(ProfileProblems) -> [LineReset] {
    try LineResetReader.read(Array(text.utf8), file: "board.yaml")
  }

  private func problems(_ text: String) -> [String] {
    do throws(ProfileProblems) {
      return ["read: \(try read(text))"]
    } catch {
      return error.problems.map(\.description)
    }
  }

  @Test func aResetWithEveryKeyIsRead() throws {
    let resets = try read(
      """
      - name: boot loader
        when: {dtr: off, rts: on}
        begins: {dtr: on}
        steps:
          - {dtr: off, rts: on}
          - wait: 100ms
          - {dtr: on, rts: off}
          - wait: 50ms
          - {dtr: off, rts: off}
        until: {dtr: off, rts: off}
      """)
    #expect(resets == [LineReset.esp[0]])
  }

  @Test func aResetWithFewKeysHasTheDefaults() throws {
    let resets = try read("- begins: {rts: off}\n  steps: [{rts: on}, {wait: 1.5s}, {rts: off}]\n")
    let reset = try #require(resets.first)
    #expect(reset.name == "reset" && reset.trigger == .rts && !reset.isTriggerRaised)
    #expect(
      reset.script.steps == [
        .set(raising: .rts, lowering: []), .wait(.milliseconds(1_500)), .set(raising: [], lowering: .rts),
      ])
    #expect(reset.raised == [] && reset.endLowered == [])
  }

  @Test func whatIsWrongIsSaidWithItsPlace() {
    #expect(
      problems("- begins: {dtr: high}\n  steps:\n    - {dtr: on}\n    - {wait: 11s}\n    - {wait: 5, dtr: on}\n") == [
        "board.yaml:1:17: dtr must be on or off, not \"high\"",
        "board.yaml:4:14: wait must be a time with its unit, like 500ms or 2s, from 0s to 10s, not \"11s\"",
        "board.yaml:5:14: wait is a step of its own: write it on a line that begins with -",
      ])
    #expect(
      problems("- steps: [{dtr: on}]\n") == [
        "board.yaml:1:3: begins is missing: which change begins it, for example begins: {dtr: on}"
      ])
    #expect(
      problems("- begins: {dtr: on, rts: on}\n  steps: [{dtr: on}]\n") == [
        "board.yaml:1:11: begins is the change of one line: {dtr: on}, {dtr: off}, {rts: on} or {rts: off}"
      ])
    #expect(
      problems("- begins: {dtr: on}\n  step: [{dtr: on}]\n").contains { $0.contains("did you mean steps?") })
    #expect(
      problems("- begins: {dtr: on}\n  steps: [{wait: 6s}, {wait: 6s}]\n") == [
        "board.yaml:2:10: a line script waits for 10 seconds at most, all waits together"
      ])
    #expect(problems("").count == 1)
  }
}
