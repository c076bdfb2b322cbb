// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryDiscovery

/// The events of accessories that have one serial number, and the names that people type for them.
struct TwinEventTests {
  private static func simulator(_ link: String, at path: String) -> Device {
    Device(.terminal(path), link: link, source: .simulator, driver: "framed", serialNumber: "0001")
  }

  private let first = simulator("/a", at: "/dev/pts/1")
  private let second = simulator("/b", at: "/dev/pts/2")

  private func text(_ event: DeviceEvent) -> String {
    switch event {
    case .added(let device): "added \(device.id)"
    case .changed(let device, let old): "changed \(old.id) to \(device.id)"
    case .removed(let device): "removed \(device.id)"
    }
  }

  @Test func theFirstOneChangesWhenTheSecondOneComes() {
    var twins = Twins()
    #expect(twins.take(.added(first)).map(text) == ["added 0001"])
    #expect(twins.take(.added(second)).map(text) == ["changed 0001 to 0001@/a", "added 0001@/b"])
    #expect(twins.take(.removed(first)).map(text) == ["removed 0001@/a"])
    #expect(twins.take(.added(first)).map(text) == ["added 0001@/a"])
    // One whose serial number is known later.
    var nameless = second
    nameless.serialNumber = nil
    var others = Twins()
    #expect(others.take(.added(first)).count == 1 && others.take(.added(nameless)).count == 1)
    #expect(
      others.take(.changed(second, from: nameless)).map(text) == [
        "changed 0001 to 0001@/a", "changed /dev/pts/2 to 0001@/b",
      ])
  }

  @Test func theSerialNumberIsTheNameOfNeither() throws {
    let both = Twins.marked([first, second])
    let name = DeviceName("0001", lookingAtFiles: false)
    #expect(throws: ResolutionError.ambiguous("0001", both)) { try name.device(among: both) }
    // Also while one of them is away.
    #expect(throws: ResolutionError.ambiguous("0001", both)) {
      try name.device(there: [both[0]], awaited: [both[1]])
    }
    for device in both {
      #expect(try DeviceName(device.id, lookingAtFiles: false).device(there: both, awaited: []) == device)
    }
    // The name with the port is known wherever one looks, also where the other one has never been seen.
    #expect(try DeviceName("0001@/b", lookingAtFiles: false).device(among: [second]) == second)
  }
}
