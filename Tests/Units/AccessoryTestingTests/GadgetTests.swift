// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import Testing

@testable import OwnGadget

@Suite(.timeLimit(.minutes(2))) struct GadgetTests {
  @Test func aReplyAndARefusal() async throws {
    let script = AccessoryScript([
      .expect([0xA5, 0x00, 0x01, 0x07]), .send([0xA5, 0x03, 0x81, 57, 0x42, 0x0F, 0x06]),
      .expect([0xA5, 0x00, 0x02, 0x0E]), .send([0xA5, 0x01, 0x7F, 0x03, 0x03], after: .milliseconds(20)),
    ])
    let gadget = try await Gadget.open(AccessorySession(script.transport))
    #expect(try await gadget.battery() == BatteryReading(percent: 57, millivolts: 3_906))
    let error = await #expect(throws: AccessoryError.self) { try await gadget.status() }
    #expect(error?.kind == .refused)
    try await script.finish()
  }

  @Test func anUnpluggedGadgetIsDisconnected() async throws {
    let script = AccessoryScript([.expect([0xA5, 0x00, 0x01, 0x07]), .unplug()])
    let gadget = try await Gadget.open(AccessorySession(script.transport))
    let error = await #expect(throws: AccessoryError.self) { try await gadget.battery() }
    #expect(error?.kind == .disconnected)
  }

  /// The rules alone: nothing waits here, however long the time limits are.
  @Test func aRequestThatNobodyAnswersIsSentThreeTimes() throws {
    let format = HeaderFormat(sync: [0xA5], headerByteCount: 3, length: .init(offset: 1, byteCount: 1))
    let rules = try FrameExchange(format, maximumPayload: 64, label: "gadget") { frame, request in
      frame.header[2] == request.header[2] | 0x80 ? .reply : .unrelated
    }
    var host = ExchangeHost(rules)
    host.begin()
    let battery = host.submit(FrameRequest(Frame(HeaderBytes(0x01, at: 2)), name: "BATTERY", isIdempotent: true))
    for _ in 1...3 {
      #expect(host.takeWritten() == [[0xA5, 0x00, 0x01]])
      host.advance(.milliseconds(500))
    }
    #expect(host.takeWritten().isEmpty)
    #expect(host.error(of: battery)?.kind == .timedOut)
  }
}
