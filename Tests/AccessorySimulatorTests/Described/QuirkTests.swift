// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator

/// What real accessories do that makes it harder to speak with them: whatever it is, the same is told as without it, twice,
/// and nothing is made up. Documentation/simulators.md has the same table with the options of `simulate`.
@Suite(.timeLimit(.minutes(10))) struct QuirkTests {
  private static func isAsleep(_ count: Int) -> @Sendable (inout DescribedDevice, inout Faults) -> Void {
    { device, _ in (device.quirks.lostAsleep, device.quirks.sleepsAfter) = (count, .seconds(60)) }
  }

  private static func comesInPieces(_ count: Int) -> @Sendable (inout DescribedDevice, inout Faults) -> Void {
    { device, _ in device.quirks.pieces = count }
  }

  private static let isEchoed: @Sendable (inout DescribedDevice, inout Faults) -> Void = { device, _ in
    device.quirks.isEchoing = true
  }

  private static func isLate(_ time: Duration) -> @Sendable (inout DescribedDevice, inout Faults) -> Void {
    { _, faults in faults.delay = time }
  }

  private static func isDeaf(_ time: Duration) -> @Sendable (inout DescribedDevice, inout Faults) -> Void {
    { device, _ in device.quirks.deafTime = time }
  }

  private static func pushes(
    _ hex: String, amid: Bool = false
  ) -> @Sendable (inout DescribedDevice, inout Faults) throws -> Void {
    { device, _ in
      device.quirks.pushes = [.bytes(try #require(Hexadecimal.bytes(hex)))]
      device.quirks.pushesAmid = amid
    }
  }

  private static func refuses(
    _ name: String
  ) -> @Sendable (inout DescribedDevice, inout Faults) throws -> Void {
    { device, _ in device.quirks.refused = [try #require(device.description.request(named: name))] }
  }

  static let jbd = [
    QuirkCase("jbd", "sleeps, and loses the first request", isAsleep(1)),
    QuirkCase("jbd", "sleeps, and loses two requests", isAsleep(2)),
    QuirkCase("jbd", "replies in pieces", comesInPieces(3)),
    QuirkCase("jbd", "replies late", isLate(.milliseconds(450))),
    QuirkCase("jbd", "the adapter echoes", isEchoed),
    QuirkCase("jbd", "another module answers first", pushes("DDA50000000077DD0500023031FF9D77")),
    QuirkCase("jbd", "a newer board says more", more: ["humidity"]) { device, _ in
      let basic = try #require(device.description.messages.firstIndex { $0.name == "basic" })
      device.quirks.surplus = [basic: [0x32, 0x00, 0x00, 0x03, 0xE8, 0x02, 0xD0]]
    },
    QuirkCase("jbd", "the cells are refused", missing: ["battery.cells"], refuses("cells")),
  ]

  static let daly = [
    QuirkCase("daly", "sleeps, and loses two requests", isAsleep(2)),
    QuirkCase("daly", "sleeps, and gives requests back") { device, _ in
      (device.quirks.lostAsleep, device.quirks.isEchoingAsleep) = (2, true)
    },
    QuirkCase("daly", "the adapter echoes", isEchoed),
    QuirkCase("daly", "replies in pieces", comesInPieces(2)),
    QuirkCase("daly", "replies late", isLate(.milliseconds(80))),
    QuirkCase("daly", "hears nothing for 20 ms behind a message", isDeaf(.milliseconds(20))),
  ]

  @Test(arguments: jbd + daly) func theSameIsTold(quirk: QuirkCase) async throws {
    let plain = try await QuirkBench.with(quirk.kind) { try await $0.told() }
    let told = try await QuirkBench.with(quirk.kind, quirk.show) { bench in
      [try await bench.told(), try await bench.told()]
    }
    #expect(!plain.isEmpty)
    for told in told {
      for name in Set(plain.keys).union(told.keys) where told[name] != plain[name] {
        let isExpected = told[name] == nil && quirk.missing.contains(name) || quirk.more.contains(name)
        #expect(isExpected, "\(name) is \(told[name] ?? "unknown"), not \(plain[name] ?? "unknown")")
      }
      #expect(quirk.missing.allSatisfy { told[$0] == nil } && quirk.more.allSatisfy { told[$0] != nil })
    }
  }
}
