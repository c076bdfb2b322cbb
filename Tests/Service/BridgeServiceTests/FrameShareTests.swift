// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import TestSupport
import Testing

@testable import BridgeService

/// `Share` by frames: each client gets the replies to its own requests.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct FrameShareTests {
  private static func share(
    _ harness: ServiceHarness, _ device: String? = nil, write: Bool = false
  ) async throws -> Received {
    let call = Bridge.Share(device: device, access: .write, by: .frames, write: write)
    return Received(try await harness.client().upgrade(call).transport)
  }

  private static func error(_ harness: ServiceHarness, _ call: Bridge.Share) async -> String? {
    await errorName { () throws(ControlError) in _ = try await harness.connected().upgrade(call) }
  }

  private static func frame(_ header: AF1Header, _ text: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    try AF1Codec(maximumPayload: 4_096).encode(header, payload: Array(text.utf8), into: &bytes)
    return bytes
  }

  /// Clients whose requests have the same numbers, sent without waiting for replies.
  @Test func clientsWithEqualNumbersGetTheirOwnReplies() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      var clients: [Received] = []
      for _ in 0..<4 { clients.append(try await Self.share(harness)) }
      #expect(try await harness.state("A1") == .lent)
      var expected = [[UInt8]](repeating: [], count: clients.count)
      for number in UInt16(1)...20 {
        for (index, client) in clients.enumerated() {
          let header = AF1Header.request(.echo, number: number)
          let text = "client \(index), request \(number)"
          _ = client.transport.output.offer(try Self.frame(header, text))
          expected[index] += try Self.frame(.reply(to: header), text)
        }
      }
      for (client, expected) in zip(clients, expected) {
        let all = try await client.arrived.wait { $0.count >= expected.count }
        #expect(all == expected)
      }
      for client in clients { await client.transport.close() }
      // With the last of them the service has it again.
      try await harness.said("A1 is attached at", times: 2)
      #expect(try await harness.client().call(Bridge.GetBattery()).age_ms == nil)
    }
  }

  /// A frame that isn't finished, and noise, hold up nobody.
  @Test func halfAFrameHoldsUpNobody() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let (hostile, client) = (try await Self.share(harness), try await Self.share(harness))
      let header = AF1Header.request(.echo, number: 7)
      _ = hostile.transport.output.offer(Array("noise".utf8) + (try Self.frame(header, "never whole")).dropLast(3))
      try await harness.said("are not a frame of the accessory's protocol")
      for _ in 0..<3 { _ = client.transport.output.offer(try Self.frame(header, "mine")) }
      let reply = try Self.frame(.reply(to: header), "mine")
      _ = try await client.arrived.wait { $0.starts(with: reply) }
      #expect(hostile.arrived.value.isEmpty && !hostile.isOver.value)
      await client.transport.close()
      await hostile.transport.close()
    }
  }

  @Test func bytesAndFramesExcludeEachOther() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      for (unit, other) in [(Bridge.ShareUnit.bytes, Bridge.ShareUnit.frames), (.frames, .bytes)] {
        let call = Bridge.Share(access: .write, by: unit)
        let first = Received(try await harness.client().upgrade(call).transport)
        #expect(await Self.error(harness, Bridge.Share(access: .write, by: other)) == "Busy")
        // Those who only read are in nobody's way.
        let reader = Received(try await harness.client().upgrade(Bridge.Share(access: .read)).transport)
        await reader.transport.close()
        await first.transport.close()
        try await eventually("the accessory's return") { await harness.service.sharersAreGone("A1") }
      }
      #expect(await Self.error(harness, Bridge.Share(access: .read, by: .frames)) == "Misconfigured")
    }
  }

  /// The pack's driver can't tell replies apart, and a device that nobody knows has no frames.
  @Test func anAccessoryWithoutFramesIsNotSharedByFrames() async throws {
    let pack = try await PackEnd()
    try await ServiceHarness.with(profiles: [Pack.profile(allowsWrites: true)], drivers: Pack.library) { harness in
      let file = try harness.announce(pack.terminal.path, serial: "P1", driver: "pack")
      try await harness.said("P1 is attached at")
      let call = Bridge.Share(device: "P1", access: .write, by: .frames, write: true)
      #expect(await Self.error(harness, call) == "Unsupported")
      #expect(try await harness.state("P1") == .attached)
      file.remove()
    }
    await pack.terminal.transport.close()
  }

  /// Requests that only read need no permission. Each client has its own.
  @Test func framesThatWriteNeedPermission() async throws {
    let described = try #require(DescriptionLibrary.builtIn.described("jbd"))
    for allowsWrites in [true, false] {
      var profile = Profile(
        name: "my-jbd", rules: [DeviceRule(driver: "jbd")], driver: "jbd", protocolStrings: ["com.example.jbd"])
      profile.allowsWrites = allowsWrites
      try await ServiceHarness.with(profiles: [profile]) { harness in
        var configuration = SerialSimulator<DescribedDevice>.Configuration(
          try DescribedDevice(described.description, serialNumber: "B1"), seed: 1)
        configuration.announcementDirectory = harness.directory.path
        let board = SerialSimulator(configuration)
        try await board.plugIn()
        try await harness.attached("B1")
        let reader = try await Self.share(harness, "B1")
        let asked: [UInt8] = [0xDD, 0xA5, 3, 0, 0xFF, 0xFD, 0x77]
        _ = reader.transport.output.offer(asked)
        _ = try await reader.arrived.wait { $0.starts(with: [0xDD, 3, 0]) && $0.last == 0x77 }
        // A request that the description doesn't have may change something.
        _ = reader.transport.output.offer([0xDD, 0x5A, 0xE1, 2, 0, 2, 0xFF, 0x1B, 0x77])
        try await harness.said("may change something in the accessory")
        let writing = Bridge.Share(device: "B1", access: .write, by: .frames, write: true)
        if allowsWrites {
          let writer = try await Self.share(harness, "B1", write: true)
          _ = writer.transport.output.offer([0xDD, 0x5A, 0xE1, 2, 0, 2, 0xFF, 0x1B, 0x77])
          // The board takes it without an answer.
          try await eventually("the write is sent") { await harness.service.framesSent("B1") == 2 }
          await writer.transport.close()
        } else {
          #expect(await Self.error(harness, writing) == "PermissionDenied")
        }
        await reader.transport.close()
        await board.stop()
      }
    }
  }

  /// The connections end with the accessory; the next ones find it as it is then.
  @Test func frameSharesEndWithTheirAccessory() async throws {
    try await ServiceHarness.with { harness in
      let simulator = try await harness.simulate("A1")
      try await harness.attached("A1")
      let clients = [try await Self.share(harness), try await Self.share(harness)]
      await simulator.unplug()
      for client in clients { try await client.isOver.wait { $0 } }
      try await simulator.plugIn()
      try await harness.said("A1 is attached at", times: 2)
      let again = try await Self.share(harness)
      let header = AF1Header.request(.echo, number: 1)
      _ = again.transport.output.offer(try Self.frame(header, "again"))
      let reply = try Self.frame(.reply(to: header), "again")
      _ = try await again.arrived.wait { $0 == reply }
      await again.transport.close()
    }
  }
}

extension BridgeService {
  /// The number of requests that were sent for those who share frames.
  fileprivate func framesSent(_ id: String) async -> UInt64? {
    await attachments.ordered.first { $0.device.id == id }?.sharing?.frames?.hub.routingStatistics?.requests
  }
}
