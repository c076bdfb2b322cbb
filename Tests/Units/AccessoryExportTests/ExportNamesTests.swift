// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@testable import AccessoryExport

/// The names of accessories in the protocols of others.
struct ExportNamesTests {
  private var names = ExportNames()

  private mutating func named(_ accessories: [(UInt64, String)]) -> [String] {
    let snapshot = MirrorSnapshot(
      accessories: accessories.map { MirroredAccessory(id: $0, service: "s", device: .sample($1, path: "/\($0)")) })
    return names.name(snapshot).accessories.map { "\($0.id) \($0.name)" }
  }

  @Test mutating func equalNamesAreNumbered() {
    let all = [(UInt64(1), "A"), (2, "A"), (3, "B@1"), (4, "B#1")]
    #expect(named(all) == ["A A", "A#2 A_2", "B@1 B_1", "B#1 B_1_2"])
    // The names stay while others are forgotten and come.
    #expect(named([(2, "A"), (4, "B#1")]) == ["A#2 A_2", "B#1 B_1_2"])
    #expect(named([(2, "A"), (4, "B#1"), (5, "A")]) == ["A A", "A#2 A_2", "B#1 B_1_2"])
  }

  /// Twins have their ports in their ids: their names don't depend on which one came first, or was alone.
  @Test mutating func namesFollowTheIdsOfTwins() {
    #expect(named([(1, "0001")]) == ["0001 0001"])
    let twins = ["0001@1-1.1 0001_1-1_1", "0001@1-1.2 0001_1-1_2"]
    #expect(named([(1, "0001@1-1.1"), (2, "0001@1-1.2")]) == twins)
    names = ExportNames()
    #expect(named([(1, "0001@1-1.2"), (2, "0001@1-1.1")]) == twins)
    #expect(named([(1, "0001@1-1.2")]) == [twins[1]])
  }
}
