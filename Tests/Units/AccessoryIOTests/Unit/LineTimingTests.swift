// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Testing

@Suite struct LineTimingTests {
  @Test func aByteOnASerialLineIsTenBits() {
    #expect(LineTiming.serial(baudRate: 9_600).time(of: 96) == .nanoseconds(1_041_666 * 96))
    #expect(LineTiming.serial(baudRate: 1_000_000).perByte == .microseconds(10))
    #expect(LineTiming.serial(baudRate: 1_000_000, bits: 12).perByte == .microseconds(12))
  }

  @Test func noRateIsNoTrap() {
    #expect(LineTiming.serial(baudRate: 0).perByte == .seconds(10))
    #expect(LineTiming.instant.time(of: 1_000_000) == .zero)
  }
}
