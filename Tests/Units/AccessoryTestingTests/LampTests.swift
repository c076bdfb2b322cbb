// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryTesting
import Testing

@testable import OwnGadget

/// Documentation/testing.md: frames with numbers, commands by name, and time.
@Suite(.timeLimit(.minutes(2))) struct LampTests {
  @Test func commandsHaveNumbersAndResults() async throws {
    let script = AccessoryScript([
      .expect([0xA5, 0x01, 0x10, 0x01, 0x28, 0x79]), .send([0xA5, 0x00, 0x10, 0x01, 0x50]),
      .expect([0xA5, 0x00, 0x11, 0x02, 0x4C]), .send([0xA5, 0x01, 0x11, 0x02, 0x15, 0x9E]),
    ])
    let lamp = try await Lamp.open(AccessorySession(script.transport), firstNumber: 1)
    try await lamp.perform("light", ["level": "40"])
    #expect(try await lamp.perform("heat") == ["temperature": .whole(21)])
    let error = await #expect(throws: AccessoryError.self) { try await lamp.perform("light", ["level": "101"]) }
    #expect(error?.kind == .misconfigured)
    try await script.finish()
  }

  @Test func aRequestIsSentAgainAfterHalfASecond() async throws {
    let clock = ManualClock()
    let script = AccessoryScript(
      [
        .expect([0xA5, 0x00, 0x11, 0x07, 0x57]), .expect([0xA5, 0x00, 0x11, 0x07, 0x57]),
        .send([0xA5, 0x01, 0x11, 0x07, 0xFB, 0x5B]),
      ], clock: clock)
    let lamp = try await Lamp.open(AccessorySession(script.transport), firstNumber: 7, clock: clock)
    let heat = Task { try await lamp.perform("heat") }
    try await clock.waitForPending(during: heat)  // the request is sent, and its timeout is set
    clock.advance(by: .milliseconds(500))
    #expect(try await heat.value == ["temperature": .whole(-5)])
    try await script.finish()
  }
}
