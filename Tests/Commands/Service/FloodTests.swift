// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

/// Devices that tell something without a pause.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct FloodTests {
  /// The main thread, that for I/O, eight that serve tasks and links; and those where devices are opened, which end soon.
  private static let mostThreads = 16

  /// However much arrives, the service has few threads, and answers.
  @Test func aFloodOfEventsLeavesTheServiceAnswering() async throws {
    try await Sandbox.with { box in
      let service = try await box.serve()
      try await eventually("the directory") { exists(box.runtime.path + "/accessory-bridge/simulated") }
      var simulators: [AF1Simulator] = []
      for number in 1...3 {
        var configuration = AF1Simulator.Configuration(seed: UInt64(number))
        configuration.announcementDirectory = box.runtime.path + "/accessory-bridge/simulated"
        configuration.device.identity.serialNumber = "FLOOD\(number)"
        let simulator = AF1Simulator(configuration)
        try await simulator.plugIn()
        simulators.append(simulator)
      }
      try await service.errors(containing: "is attached at", times: 3)
      let floods = simulators.map { simulator in
        Task {
          var percent: UInt8 = 0
          while !Task.isCancelled {
            percent = (percent + 1) % 100
            await simulator.setBattery(AF1BatteryReply(level: .normal, percent: percent))
          }
        }
      }
      var mostThreads = 0
      for _ in 0..<5 {
        for _ in 0..<20 {
          mostThreads = max(mostThreads, Directory.names(in: "/proc/\(service.pid)/task").count)
          await IOThread.shared.sleep(for: .milliseconds(10))
        }
        let list = try await box.run("list", "--json")
        #expect(list.status == 0 && list.outputText.contains("FLOOD3"), "\(list.errorText)")
      }
      #expect(mostThreads <= Self.mostThreads)
      for flood in floods { flood.cancel() }
      for simulator in simulators { await simulator.stop() }
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }
  }

  /// Where memory is limited so much that no more threads can be started, a command does what it can or says why not; it
  /// doesn't hang.
  @Test(arguments: [30_000, 60_000, 120_000, 250_000, 500_000])
  func littleMemoryHangsNoCommand(kilobytes: Int) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      let list = try await box.run(
        ["list"], prefix: ["/bin/sh", "-c", "ulimit -v \(kilobytes); exec \"$0\" \"$@\""])
      #expect(!list.isHung, "\(list.errorText)")
    }
  }
}
