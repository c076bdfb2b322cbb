// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessorySimulator
import Glibc
import TestSupport
import Testing

/// What the service costs with many accessories.
@Suite(.timeLimit(.minutes(5))) struct ServiceCostTests {
  /// One thread does all I/O, however many there are.
  @Test func twoHundredAccessories() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      try await eventually("the directory") { exists(box.runtime.path + "/accessory-bridge/simulated") }
      var simulators: [FramedSimulator] = []
      for number in 1...200 {
        var configuration = FramedSimulator.Configuration(seed: UInt64(number))
        configuration.announcementDirectory = box.runtime.path + "/accessory-bridge/simulated"
        configuration.device.identity.serialNumber = "C\(1_000 + number)"
        let simulator = FramedSimulator(configuration)
        try await simulator.plugIn()
        simulators.append(simulator)
      }
      try await service.errors(containing: "is attached at", times: 200)
      let battery = try await box.run("battery", "C1200")
      #expect(battery.status == 0, "\(battery.errorText)")
      let threads = Directory.names(in: "/proc/\(service.pid)/task").compactMap { thread in
        try? SmallFile.read("/proc/\(service.pid)/task/\(thread)/comm", limit: 64)
      }.map { String(decoding: $0, as: UTF8.self) }
      #expect(threads.count { $0.hasPrefix("accessory-io") } == 1, "\(threads)")
      for simulator in simulators { await simulator.stop() }
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }
  }
}
