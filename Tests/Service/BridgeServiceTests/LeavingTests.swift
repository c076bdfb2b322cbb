// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import TestSupport
import Testing

@testable import BridgeService

/// Before a service leaves, it looks whether it is needed.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct LeavingTests {
  /// Devices that are there, and of which no event has told yet.
  private struct LateSource: DeviceSource {
    var present: [Device]
    func devices() async throws(AccessoryError) -> [Device] { present }
    func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> { AsyncStream { _ in } }
  }

  @Test func whatNobodyHasToldYetIsWork() async throws {
    try await ServiceHarness.with { harness in
      let ours = Device(.node("/dev/pts/none"), source: .simulator, driver: "framed", serialNumber: "LATE1")
      let others = Device(.node("/dev/ttyS0"), source: .udev)
      for (devices, hasWork) in [([], false), ([others], false), ([others, ours], true)] as [([Device], Bool)] {
        await harness.service.watch([LateSource(present: devices)])
        #expect(await harness.service.hasWork() == hasWork)
      }
    }
  }

  @Test func whatIsAttachedIsWork() async throws {
    try await ServiceHarness.with { harness in
      #expect(await !harness.service.hasWork())
      let simulator = try await harness.simulate("WORK1")
      try await harness.attached("WORK1")
      #expect(await harness.service.hasWork())
      await simulator.stop()
    }
  }
}
