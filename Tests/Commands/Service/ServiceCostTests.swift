// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

/// What the service costs with many accessories.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ServiceCostTests {
  /// One thread does all I/O, however many there are.
  @Test func twoHundredAccessoriesShareOneThread() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      try await eventually("the directory") { exists(box.runtime.path + "/accessory-bridge/simulated") }
      var simulators: [AF1Simulator] = []
      for number in 1...200 {
        var configuration = AF1Simulator.Configuration(seed: UInt64(number))
        configuration.announcementDirectory = box.runtime.path + "/accessory-bridge/simulated"
        configuration.device.identity.serialNumber = "C\(1_000 + number)"
        let simulator = AF1Simulator(configuration)
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

  #if THREAD_SANITIZER
    /// The main one, that for I/O, one that is kept for tasks, and the sanitizer's own.
    private static let threads = 4
  #else
    /// The main one, that for I/O, and one that is kept for tasks.
    private static let threads = 3
  #endif

  /// With an accessory and nothing happening, no timer runs that would wake it, its own or a library's; and no thread is
  /// left but the one that does I/O, one for tasks, and the main one.
  @Test func anIdleServiceRunsNoTimers() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      for command in ["battery", "status", "info"] { #expect(try await box.run(command).status == 0) }
      let process = "/proc/\(service.pid)"
      // Threads that have nothing to do stay for a few seconds.
      try await eventually("the threads' end", within: .seconds(60)) {
        Directory.names(in: process + "/task").count == Self.threads
      }
      // What was read is written to the history once, a minute later.
      try await eventually("the end of all timers", within: .seconds(150)) { service.runsNoTimers }
      #expect(try await box.run("battery").status == 0)
    }
  }
}
