// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessorySimulator

/// A device with HID reports that goes silent.
@Suite struct SilentDeviceTests {
  @Test func aSilentDeviceAnswersAfterAResetAndTheAccessoryHearsOfIt() throws {
    var identity = SimulatedUSBIdentity(.reports)
    identity.reports = SimulatedReports(descriptor: [], features: [7: [7, 42]])
    var bench = Bench(identity)
    // SET_CONFIGURATION, which the kernel sends after a plug and after a reset; then GET_REPORT of the feature report 7.
    _ = try bench.control(0x00, 0x09, value: 1)
    #expect(try bench.control(0xA1, 0x01, value: 0x0307, length: 2)?.data == [7, 42])
    #expect(bench.received() == [])

    #expect(bench.send(SimulatedReports.silence) == [])
    #expect(try bench.control(0xA1, 0x01, value: 0x0307, length: 2) == nil)
    _ = try bench.control(0x00, 0x09, value: 1)
    #expect(bench.received() == SimulatedReports.awake)
    #expect(try bench.control(0xA1, 0x01, value: 0x0307, length: 2)?.data == [7, 42])
    _ = try bench.control(0x00, 0x09, value: 1)
    #expect(bench.received() == [], "it wasn't silent")
  }
}
