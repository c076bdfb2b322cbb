// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import Testing

@testable import AccessoryFleet

@Suite struct FreshnessTests {
  /// A reading that becomes stale, or fresh again, changes the published state once; one of an accessory that is gone doesn't.
  @Test func staleness() {
    let device = Bridge.Device(id: "SIM0001", path: "/dev/ttyUSB0", source: "udev")
    var record = AccessoryRecord(TopicLevel(naming: "SIM0001"), device, connected: true, at: 100)
    #expect(!record.takeFreshness(false, at: 110) && record.state.time == 100)
    #expect(record.takeFreshness(true, at: 120) && record.state.stale && record.state.time == 120)
    #expect(!record.takeFreshness(true, at: 130) && record.state.time == 120)
    #expect(record.takeFreshness(false, at: 140) && !record.state.stale)
    var gone = AccessoryRecord(TopicLevel(naming: "SIM0001"), device, connected: false, at: 100)
    #expect(!gone.takeFreshness(true, at: 120) && !gone.state.stale)
  }
}
