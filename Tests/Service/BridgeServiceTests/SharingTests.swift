// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import FamilyAF1
import TestSupport
import Testing

@testable import BridgeService

/// `Share`: any number of clients have an accessory's bytes.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct SharingTests {
  private func share(
    _ harness: ServiceHarness, _ access: Bridge.ShareAccess, _ device: String? = nil, write: Bool = false
  ) async throws -> Received {
    Received(
      try await harness.client().upgrade(Bridge.Share(device: device, access: access, write: write)).transport)
  }

  private static func withPack(
    allowsWrites: Bool = true, _ body: (ServiceHarness, PackEnd) async throws -> Void
  ) async throws {
    let pack = try await PackEnd()
    try await ServiceHarness.with(
      profiles: [Pack.profile(allowsWrites: allowsWrites), .af1], drivers: Pack.library
    ) { harness in
      let file = try harness.announce(pack.terminal.path, serial: "P1", driver: "pack")
      try await harness.said("P1 is attached at")
      try await body(harness, pack)
      file.remove()
    }
    await pack.terminal.transport.close()
  }

  /// Returns when a reader gets what the accessory sends, which begins a moment after the reply to its call; returns how many bytes
  /// it has got.
  @discardableResult
  private static func begin(_ reader: Received, _ pack: PackEnd) async throws -> Int {
    try await eventually("a reader to begin") {
      _ = pack.terminal.transport.output.offer(Array("told".utf8))
      return !reader.arrived.value.isEmpty
    }
    _ = pack.terminal.transport.output.offer(Array("!".utf8))
    let arrived = try await reader.arrived.wait { $0.contains(UInt8(ascii: "!")) }
    #expect(arrived == Array((String(repeating: "told", count: arrived.count / 4) + "!").utf8))
    return arrived.count
  }

  @Test func writersShareAndTheServiceKeepsSilent() async throws {
    try await Self.withPack { harness, pack in
      let one = try await share(harness, .write, write: true)
      let other = try await share(harness, .write, write: true)
      #expect(try await harness.state("P1") == .lent)
      let client = try await harness.client()
      let told = try await client.call(Bridge.List()).accessories.first
      #expect(told?.holder?.hasSuffix(" and 1 more") == true, "\(told?.holder ?? "")")
      let name = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.Perform(commands: [.init("read")]))
      }
      #expect(name == "Busy")
      one.send("one\n")
      try await pack.expect("one\n")
      other.send("two\n")
      try await pack.expect("one\ntwo\n")
      _ = pack.terminal.transport.output.offer(Array("answer".utf8))
      try await one.expect("answer")
      try await other.expect("answer")
      // With the last writer the service has it again.
      await one.transport.close()
      other.send("three\n")
      try await pack.expect("one\ntwo\nthree\n")
      #expect(try await harness.state("P1") == .lent)
      await other.transport.close()
      try await harness.said("P1 is attached at", times: 2)
      _ = try await client.call(Bridge.Perform(commands: [.init("read")]))
      try await pack.expect("one\ntwo\nthree\nread\n")
    }
  }

  /// What a client sent last arrives, though it has gone at once.
  @Test func theLastBytesOfAClientArrive() async throws {
    try await Self.withPack { harness, pack in
      let client = try await share(harness, .write, write: true)
      client.send("cut 9\n")
      await client.transport.close()
      try await pack.expect("cut 9\n")
      try await harness.said("P1 is attached at", times: 2)
    }
  }

  /// Readers look on: the service goes on, and they see its answers, too. What they send goes nowhere.
  @Test func readersSeeTheServicesAnswers() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1") { $0.device.battery = AF1BatteryReply(level: .normal, percent: 57) }
      try await harness.attached("A1")
      let (one, other) = (try await share(harness, .read), try await share(harness, .read))
      one.send("this goes nowhere")
      let client = try await harness.client()
      let battery = try await client.call(Bridge.GetBattery())
      #expect(battery.battery.percent == 57 && battery.age_ms == nil)
      #expect(try await harness.state("A1") == .attached)
      let payload: [UInt8] = [0xDE, 0xAD, 0xBE, 0xEF]
      _ = try await client.call(Bridge.Request(command: "echo", payload: payload))
      for sharer in [one, other] { _ = try await sharer.arrived.wait { $0.firstRange(of: payload) != nil } }
      // They stay when somebody writes, and when that is over.
      let writer = try await share(harness, .write)
      #expect(try await harness.state("A1") == .lent)
      await writer.transport.close()
      try await harness.said("A1 is attached at", times: 2)
      _ = try await client.call(Bridge.Request(command: "echo", payload: payload + [1] + payload))
      for sharer in [one, other] {
        _ = try await sharer.arrived.wait { $0.firstRange(of: payload + [1] + payload) != nil }
        #expect(!sharer.isOver.value)
      }
      await one.transport.close()
      await other.transport.close()
    }
  }

  /// Exclusive and shared writing exclude each other; reading goes with both.
  @Test func aLoanExcludesOtherWriters() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let (_, loan) = try await harness.client().upgrade(Bridge.Open())
      let name = await errorName { () throws(ControlError) in
        _ = try await harness.connected().upgrade(Bridge.Share(access: .write))
      }
      #expect(name == "Busy")
      let reader = try await share(harness, .read)
      await loan.close()
      try await harness.said("A1 is attached at", times: 2)
      let writer = try await share(harness, .write)
      let refused = await errorName { () throws(ControlError) in
        _ = try await harness.connected().upgrade(Bridge.Open())
      }
      #expect(refused == "Busy")
      await writer.transport.close()
      await reader.transport.close()
    }
  }

  @Test(arguments: [(false, false), (false, true), (true, false)])
  func bytesOfWhatWritesChangeNeedBothPermissions(allowsWrites: Bool, isAsked: Bool) async throws {
    try await Self.withPack(allowsWrites: allowsWrites) { harness, pack in
      let name = await errorName { () throws(ControlError) in
        _ = try await harness.connected().upgrade(Bridge.Share(access: .write, write: isAsked))
      }
      #expect(name == "PermissionDenied")
      #expect(try await harness.state("P1") == .attached)
      // To look on needs none.
      let reader = try await share(harness, .read, write: isAsked)
      try await Self.begin(reader, pack)
      reader.send("cut\n")
      _ = try await harness.client().call(Bridge.Perform(commands: [.init("read")]))
      try await pack.expect("read\n")
      await reader.transport.close()
    }
  }

  /// Whoever shares it, the connection ends with the accessory, and it is attached again when it is back.
  @Test(arguments: [Bridge.ShareAccess.read, .write])
  func sharesEndWithTheirAccessory(access: Bridge.ShareAccess) async throws {
    try await ServiceHarness.with { harness in
      let simulator = try await harness.simulate("A1")
      try await harness.attached("A1")
      let sharers = [try await share(harness, access), try await share(harness, access)]
      await simulator.unplug()
      for sharer in sharers { try await sharer.isOver.wait { $0 } }
      try await simulator.plugIn()
      try await harness.said("A1 is attached at", times: 2)
      let again = try await share(harness, access)
      #expect(!again.isOver.value)
      _ = try await harness.client().call(Bridge.Detach())
      try await again.isOver.wait { $0 }
    }
  }

  /// One who doesn't read loses its connection, and holds up nobody.
  @Test func aClientThatNeverReadsIsDisconnected() async throws {
    try await Self.withPack { harness, pack in
      let (_, sleeper) = try await harness.client().upgrade(Bridge.Share(access: .read))
      let reader = try await share(harness, .read)
      let begun = try await Self.begin(reader, pack)
      let isOver = Watched(false)
      sleeper.output.onClosed { _ in isOver.update { $0 = true } }
      let block = [UInt8](repeating: 0x55, count: 16_384)
      var sent = 0
      while !isOver.value, sent < 64 << 20 {
        if case .accepted = pack.terminal.transport.output.offer(block) { sent += block.count }
        let due = sent
        if due > 0 { _ = try await reader.arrived.wait { $0.count - begun >= due - 65_536 } }
      }
      #expect(isOver.value, "\(sent) bytes were sent")
      let all = sent
      _ = try await reader.arrived.wait { $0.count - begun == all }
      await reader.transport.close()
      await sleeper.close()
    }
  }

  /// Clients that come and go at once leave nothing behind.
  @Test func manyComeAndGo() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<40 {
          group.addTask {
            let raw = try RawClient(path: harness.path)
            let access = index.isMultiple(of: 3) ? "write" : "read"
            raw.send(
              #"{"method":"accessorybridge.Bridge.Share","parameters":{"access":"\#(access)"},"upgrade":true}"#)
            if index.isMultiple(of: 2) { raw.send("bytes behind that") }
            raw.close()
          }
        }
        try await group.waitForAll()
      }
      try await eventually("the accessory's return") {
        await harness.service.sharersAreGone("A1")
      }
      let client = try await harness.client()
      #expect(try await client.call(Bridge.Request(command: "echo", payload: [7])).reply.payload == [7])
    }
  }

  /// A borrower's secret works for each of those who share, on its own connection.
  @Test func theLineObeysAllWriters() async throws {
    try await ServiceHarness.with { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let (one, first) = try await harness.client().upgrade(Bridge.Share(access: .write))
      let (two, second) = try await harness.client().upgrade(Bridge.Share(access: .write))
      #expect(one.line != nil && one.loan != two.loan)
      let client = try await harness.client()
      for reply in [one, two] {
        let loan = try #require(reply.loan)
        let status = try await client.call(Bridge.ChangeLine(loan: loan, LineChanges(baudRate: 9_600)))
        #expect(status.line.baud == 9_600)
      }
      await first.close()
      try await eventually("the first one's loan has ended") {
        await errorName { () throws(ControlError) in
          _ = try await client.call(Bridge.GetLineStatus(loan: one.loan ?? ""))
        } == "NoSuchDevice"
      }
      _ = try await client.call(Bridge.GetLineStatus(loan: two.loan ?? ""))
      await second.close()
    }
  }
}

extension ServiceHarness {
  /// A new connection, for whom the error of a call counts.
  func connected() async throws(ControlError) -> ControlClient {
    do throws(AccessoryError) { return try await ControlClient.connect(to: path) } catch { throw .connection(error) }
  }
}

extension BridgeService {
  /// Whether nobody shares the accessory any more, and it is attached.
  func sharersAreGone(_ id: String) -> Bool {
    guard let attachment = attachments.ordered.first(where: { $0.device.id == id }) else { return false }
    guard attachment.machine.state == .attached else { return false }
    guard let sharing = attachment.sharing else { return true }
    return sharing.writing.isEmpty && sharing.readerCount == 0 && sharing.lent == nil && !sharing.isChanging
  }
}
