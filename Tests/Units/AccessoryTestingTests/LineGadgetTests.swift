// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import Testing

@testable import OwnGadget

/// Documentation/own-gadget.md: a gadget that answers lines of text.
@Suite(.timeLimit(.minutes(2))) struct LineGadgetTests {
  private func gadget(answering line: String) async throws -> (LineGadget, AccessoryScript) {
    let script = AccessoryScript([.expect(Array("BAT?\r\n".utf8)), .send(Array("\(line)\r\n".utf8))])
    return (try await LineGadget.open(AccessorySession(script.transport)), script)
  }

  @Test func aReplyBeginsWithTheWordOfItsRequest() async throws {
    let (gadget, script) = try await gadget(answering: "ready\r\nBAT 57 3712")
    #expect(try await gadget.battery() == BatteryReading(percent: 57, millivolts: 3_712))
    try await script.finish()
  }

  @Test(arguments: [("ERR 3 not now", AccessoryError.Kind.refused), ("BAT 200 x", .badData), ("BAT", .badData)])
  func refusalsAndNonsenseOfAGadgetAreErrors(line: String, kind: AccessoryError.Kind) async throws {
    let (gadget, script) = try await gadget(answering: line)
    let error = await #expect(throws: AccessoryError.self) { try await gadget.battery() }
    #expect(error?.kind == kind)
    try await script.finish()
  }

  /// A record that can't have an end is refused before a byte is sent.
  @Test func anImpossibleFramingIsRefused() {
    let error = #expect(throws: AccessoryError.self) {
      try FrameExchange(DelimitedFormat(.sequence([])), maximumPayload: 80, label: "gadget") { _, _ in .unrelated }
    }
    #expect(error?.kind == .misconfigured)
  }
}
