// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// Commands with strangers' devices: what they tell counts by whatever they are meant, and nothing is sent to them without permission.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct NeighbourCommandTests {
  private static let packs: [PretendedNeighbours.Neighbour] = [
    .init(address: "C8:47:8C:11:22:33", name: "JK-B1A24S15P", services: ["ffe0"], manufacturer: 0x0B65),
    .init(address: "A5:C2:37:44:55:66", name: "xiaoxiang1", services: ["ff00"]),
    .init(address: "D0:11:22:33:44:55", name: "DL-41200", services: ["fff0"]),
  ]

  private func with(
    _ neighbours: [PretendedNeighbours.Neighbour], _ body: (Sandbox, PretendedNeighbours) async throws -> Void
  ) async throws {
    try await Sandbox.with { box in
      let air = try PretendedNeighbours(neighbours)
      defer { air.bus.close() }
      try await body(box, air)
    }
  }

  /// By its address and by its name, remembered from a scan or not: the kind is known, and the device isn't connected.
  @Test(arguments: [true, false]) func aKindIsFoundByAnAddressAsByAName(isRemembered: Bool) async throws {
    let packs = Self.packs.map { pack in
      var pack = pack
      pack.isRemembered = isRemembered
      return pack
    }
    try await with(packs) { box, air in
      // A name is searched for to the end of a search: all at the same time.
      try await withThrowingTaskGroup { group in
        for (pack, kind) in zip(packs, ["jk02", "jbd", "daly-d2"]) {
          for name in isRemembered ? ["ble:" + pack.address] : ["ble:" + pack.address, "ble:" + (pack.name ?? "")] {
            group.addTask {
              let found = try await box.run(["profile", "identify", name], environment: air.environment)
              #expect(found.status == 0 && found.errorText.contains("Found \(kind)"), "\(name): \(found.errorText)")
              #expect(found.outputText.contains("bluetooth: {address: \"\(pack.address)\"}"), "\(found.outputText)")
            }
          }
        }
        try await group.waitForAll()
      }
      for pack in packs {
        let info = try await box.run(["info", "--passive", "ble:" + pack.address], environment: air.environment)
        #expect(info.status == 0 && info.outputText.contains(pack.name ?? "-"), "\(info.outputText)\(info.errorText)")
      }
      #expect(!air.isTouched)
    }
  }

  /// Without permission nothing is connected or sent; what would be sent are the requests of kinds of the air.
  @Test func aStrangerIsSentNothingWithoutPermission() async throws {
    let stranger = PretendedNeighbours.Neighbour(address: "D0:11:22:33:44:66", name: "Speaker", services: ["ffe0"])
    try await with([stranger]) { box, air in
      let name = "ble:" + stranger.address
      let asked = try await box.run(["profile", "identify", name], environment: air.environment)
      #expect(asked.status == EX_USAGE && asked.errorText.contains("use --yes"), "\(asked.errorText)")
      let dry = try await box.run(["profile", "identify", name, "--dry-run", "--json"], environment: air.environment)
      for kind in ["jbd", "jk02"] { #expect(dry.outputText.contains("\"\(kind)\""), "\(kind)") }
      // Kinds of a cable are among those that aren't tried.
      let steps = dry.outputText.part(before: "\"untried\"")
      for kind in ["hm10", "vedirect", "elm327"] { #expect(!steps.contains("\"\(kind)\""), "\(kind)") }
      #expect(!air.isTouched)
    }
  }

  /// A profile that goes by the name is that of the device, also by its address.
  @Test func aProfileByNameCountsByTheAddress() async throws {
    try await with(Self.packs) { box, air in
      try box.directory.makeFolders(of: "profiles/x")
      try box.directory.write(
        Array("name: van\nmatch: {bluetooth: {name: \"xiaoxiang*\"}}\nprotocol: jbd\n".utf8), to: "profiles/van.yaml")
      let battery = try await box.run(["battery", "ble:A5:C2:37:44:55:66"], environment: air.environment)
      // The profile is found, and the device is connected by it, which this bluetoothd can't.
      #expect(
        air.isTouched && battery.errorText.contains("it couldn't be asked for its services"), "\(battery.errorText)")
      #expect(!battery.errorText.contains("--driver"), "\(battery.errorText)")
    }
  }

  @Test func twoDevicesOfOneNameAreRefused() async throws {
    let twin = PretendedNeighbours.Neighbour(address: "D0:11:22:33:44:77", name: "xiaoxiang1", services: ["ff00"])
    try await with(Self.packs + [twin]) { box, air in
      let battery = try await box.run(["battery", "ble:xiaoxiang1", "--driver", "jbd"], environment: air.environment)
      #expect(battery.status == EX_USAGE, "\(battery.errorText)")
      #expect(
        battery.errorText.contains("ble:A5:C2:37:44:55:66, ble:D0:11:22:33:44:77")
          && battery.errorText.contains("name one by its address"), "\(battery.errorText)")
      #expect(!air.isTouched)
    }
  }

  @Test func whatIsTypedWrongIsSaid() async throws {
    try await with(Self.packs) { box, air in
      let channel = try await box.run(["console", "rfcomm:A5:C2:37:44:55:66/31"], environment: air.environment)
      #expect(channel.status == EX_USAGE && channel.errorText.contains("from 1 to 30"), "\(channel.errorText)")
      // Each is searched for to the end of a search: both at the same time.
      async let named = box.run(["battery", "ble:XIAOXIANG1"], environment: air.environment)
      let absent = try await box.run(["battery", "ble:00:00:00:00:00:01"], environment: air.environment)
      let name = try await named
      #expect(name.status == EX_NOINPUT && name.errorText.contains("write ble:xiaoxiang1"), "\(name.errorText)")
      #expect(absent.status == EX_NOINPUT && absent.errorText.contains("isn't there"), "\(absent.errorText)")
      #expect(air.bus.calls.filter { $0.member == "StartDiscovery" }.count == 2, "nothing is searched for twice")
    }
  }
}

extension String {
  /// What is before a word; all of it where the word isn't there.
  fileprivate func part(before word: String) -> Substring {
    guard let range = firstRange(of: word) else { return self[...] }
    return self[..<range.lowerBound]
  }
}
