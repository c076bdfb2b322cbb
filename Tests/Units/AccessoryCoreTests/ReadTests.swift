// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite struct ReadTests {
  @Test func `A part of what was read is as old as the whole`() {
    let read = Read(BatteryReading(percent: 57), age: .seconds(3), isStale: true)
    #expect(read.percent == 57 && read.level == .normal)
    #expect(read.map(\.percent) == Read(57, age: .seconds(3), isStale: true))
  }

  @Test func `What was read just now may have no age, and isn't stale`() {
    #expect(Read(1) == Read(1, age: nil, isStale: false))
  }
}
