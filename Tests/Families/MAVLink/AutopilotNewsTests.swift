// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryTesting
import TestSupport
import Testing

@testable import FamilyMAVLink

/// What an autopilot sends by itself, for several who take it.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct AutopilotNewsTests {
  private let transport = MemoryTransport(label: "autopilot")

  private func send(_ message: MAVLinkMessage) {
    transport.receive(message.frame(.two, sequence: 0, system: 1, component: 1))
  }

  private func send(percent: UInt8) {
    var status = MAVLinkBatteryStatus(id: 0)
    status.percent = percent
    send(.batteryStatus(status))
  }

  /// Who takes the news late gets them as they were, and makes nobody else's readings older.
  @Test func lateNewsBringNoOldReadingsBack() async throws {
    let clock = ManualClock()
    async let opened = MAVLinkAutopilot.open(AccessorySession(transport), clock: clock)
    try await clock.waitForPending()
    send(.heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, state: 3)))
    let autopilot = try await opened
    var late = autopilot.news().makeAsyncIterator()
    let prompt = autopilot.news()
    send(percent: 87)
    send(percent: 40)
    for try await case .battery(let reading) in prompt where reading.percent == 40 { break }
    for percent in [87, 40] {
      while let news = try await late.next() {
        guard case .battery(let reading) = news else { continue }
        #expect(reading.percent == percent)
        break
      }
      #expect(try await autopilot.battery().percent == 40)
    }
    transport.unplug()
    await #expect(throws: AccessoryError.disconnected("autopilot")) { while try await late.next() != nil {} }
    await autopilot.close()
  }
}
