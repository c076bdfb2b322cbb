// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import TestSupport
import Testing

extension ProcessWide {
  /// The whole way, fifty times at once: simulators, terminals, links, requests.
  @Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct FiftyLinksTests {
    @Test func oneThreadReadsAndWritesForAll() async throws {
      _ = IOThread.shared
      try await CallLog.record { log in
        var simulators: [AF1Simulator] = []
        var accessories: [AF1Accessory] = []
        for _ in 0..<50 {
          var configuration = AF1Simulator.Configuration(seed: 1)
          configuration.isAnnounced = false
          let simulator = AF1Simulator(configuration)
          let path = try await simulator.plugIn()
          simulators.append(simulator)
          accessories.append(try await .open(try await .open(TerminalConfiguration(path: path))))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (number, accessory) in accessories.enumerated() {
            group.addTask {
              for length in [0, 1, 1_000] {
                let bytes = [UInt8](repeating: UInt8(number), count: length)
                let reply = try await accessory.echo(bytes)
                #expect(reply == bytes)
              }
              let battery = try await accessory.battery()
              #expect(battery.percent == 100)
            }
          }
          try await group.waitForAll()
        }
        let calls = log.calls.value.filter { $0.call == .read || $0.call == .write }
        #expect(Set(calls.map(\.thread)).count == 1)
        #expect(Set(calls.filter { $0.call == .write }.map(\.descriptor)).count == 100)
        #expect(ThisProcess.threadCount(named: "accessory-io") == 1)
        for accessory in accessories { await accessory.close() }
        for simulator in simulators { await simulator.stop() }
      }
    }
  }
}
