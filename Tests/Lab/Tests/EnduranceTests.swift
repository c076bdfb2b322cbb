// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import FamilyAF1
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// Many times, and many at a time.
  @Suite struct EnduranceTests {
    /// Plugged in, asked and unplugged again and again, four accessories of all kinds side by side: the first answer is
    /// always right, and nothing is left behind. LAB_CYCLES says how often.
    @Test func manyCyclesLeaveNothingBehind() async throws {
      try await cycles(5)
      let descriptors = ThisProcess.descriptors
      let (threads, memory) = (ThisProcess.threadCount, Self.residentBytes)
      let count = getenv("LAB_CYCLES").flatMap { Int(String(cString: $0)) } ?? 200
      let start = MonotonicTime.now
      try await cycles(count / 4)
      let grown = Self.residentBytes - memory
      print(
        "lab: \(count / 4 * 4) cycles in \(MonotonicTime.now - start); resident memory \(memory >> 10) KiB before,",
        "\(grown >> 10) KiB more after; threads \(threads) before, \(ThisProcess.threadCount) after")
      try await ThisProcess.waitForNoDescriptors(except: descriptors)
      #expect(ThisProcess.threadCount <= threads + 8, "but for the dispatch pool's")
      #expect(ThisProcess.threadCount(named: "accessory-io") == 2, "that of the devices is one")
      #expect(grown < 8 << 20)
    }

    private func cycles(_ count: Int) async throws {
      let kinds = SimulatedUSBIdentity.Kind.allCases
      try await withThrowingTaskGroup { group in
        for lane in 0..<4 {
          group.addTask {
            for number in 0..<count { try await cycle(kinds[lane], "L\(lane)C\(number)") }
          }
        }
        try await group.waitForAll()
      }
    }

    private func cycle(_ kind: SimulatedUSBIdentity.Kind, _ serial: String) async throws {
      let plugged = try await PluggedIn(kind) { $0.device.identity.serialNumber = serial }
      let accessory = try await plugged.accessory()
      #expect(try await accessory.identify().serialNumber == serial)
      #expect(try await accessory.echo(Array(serial.utf8)) == Array(serial.utf8))
      await plugged.simulator.stop()
      let error = await #expect(throws: AccessoryError.self) { try await accessory.status() }
      #expect(error?.kind == .disconnected)
      await accessory.close()
    }

    private static var residentBytes: Int {
      let text = (try? SmallFile.read("/proc/self/statm", limit: 200)) ?? []
      let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
      return (Int(fields.dropFirst().first ?? "") ?? 0) * Int(getpagesize())
    }

    @Test func eightAccessoriesWorkAtOnce() async throws {
      var all: [(PluggedIn, AF1Accessory)] = []
      for number in 0..<8 {
        let plugged = try await PluggedIn(SimulatedUSBIdentity.Kind.allCases[number % 4]) {
          $0.device.identity.serialNumber = "N\(number)"
        }
        all.append((plugged, try await plugged.accessory()))
      }
      #expect(Set(all.map(\.0.node)).count == 8)
      await all[3].0.simulator.unplug()
      let error = await #expect(throws: AccessoryError.self) {
        // It may be the next but one that finds it gone: the kernel needs a moment.
        while true { _ = try await all[3].1.status() }
      }
      #expect(error?.kind == .disconnected)
      for (number, (_, accessory)) in all.enumerated() where number != 3 {
        #expect(try await accessory.identify().serialNumber == "N\(number)")
      }
      for (plugged, accessory) in all {
        await accessory.close()
        try await plugged.stop()
      }
    }
  }
}
