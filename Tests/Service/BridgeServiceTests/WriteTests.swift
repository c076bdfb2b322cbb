// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

/// What changes something in an accessory needs two permissions, whatever way it takes: without both, no byte of it reaches
/// the accessory. What arrives there in the end shows that: what was asked for behind all that is refused comes first.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct WriteTests {
  private static func with(
    allowsWrites: Bool, more: [Profile] = [], _ body: (ServiceHarness, ControlClient, PackEnd) async throws -> Void
  ) async throws {
    let pack = try await PackEnd()
    let profiles = [Pack.profile(allowsWrites: allowsWrites), .af1] + more
    try await ServiceHarness.with(profiles: profiles, drivers: Pack.library) { harness in
      let file = try harness.announce(pack.terminal.path, serial: "P1", driver: "pack")
      try await harness.said("P1 is attached at")
      try await body(harness, try await harness.client(), pack)
      file.remove()
    }
    await pack.terminal.transport.close()
  }

  private func perform(
    _ client: ControlClient, _ names: String..., write: Bool = false
  ) async -> String? {
    await errorName { () throws(ControlError) in
      _ = try await client.call(
        Bridge.Perform(device: "P1", commands: names.map { Bridge.CommandCall($0) }, write: write))
    }
  }

  /// One permission, or none: every way in is shut, and what needs none is open.
  @Test(arguments: [(false, false), (false, true), (true, false)])
  func writesWithoutBothPermissionsAreDenied(allowsWrites: Bool, isAsked: Bool) async throws {
    try await Self.with(allowsWrites: allowsWrites) { harness, client, pack in
      let denied = "PermissionDenied"
      #expect(await perform(client, "cut", write: isAsked) == denied)
      // One write among others refuses them all.
      #expect(await perform(client, "read", "cut", write: isAsked) == denied)
      for command in ["0x41", "echo"] {
        let name = await errorName { () throws(ControlError) in
          _ = try await client.call(Bridge.Request(command: command, payload: [0x42], write: isAsked))
        }
        #expect(name == denied)
      }
      let other = try await harness.client()
      let open = await errorName { () throws(ControlError) in
        _ = try await other.upgrade(Bridge.Open(write: isAsked))
      }
      #expect(open == denied)
      // Nobody has borrowed anything, so the line is nobody's, either.
      let line = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.GetLineStatus(loan: "00"))
      }
      #expect(line == "NoSuchDevice")
      let file = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.MakeFolder(device: "P1", path: "a"))
      }
      #expect(file == "Unsupported")
      #expect(await perform(client, "read", write: isAsked) == nil)
      try await pack.expect("read\n")
      #expect(try await harness.state("P1") == .attached)
    }
  }

  @Test func writesWithBothPermissionsArePerformed() async throws {
    try await Self.with(allowsWrites: true) { harness, client, pack in
      #expect(await perform(client, "cut", write: true) == nil)
      try await pack.expect("cut 1\n")
      _ = try await client.call(Bridge.Request(command: "0x41", payload: [0x42], write: true))
      try await pack.expect("cut 1\nAB")
      let (_, transport) = try await harness.client().upgrade(Bridge.Open(write: true))
      _ = transport.output.offer(Array("!".utf8))
      try await pack.expect("cut 1\nAB!")
      await transport.close()
    }
  }

  /// The error says what to do: at which profile, and with which word.
  @Test func theErrorSaysWhatToDo() async throws {
    try await Self.with(allowsWrites: false) { harness, _, _ in
      let device = try await BridgeClient.connect(to: harness.path).device("P1")
      var error = await #expect(throws: AccessoryError.self) {
        try await device.perform([.init("cut")], isAnswered: true)
      }
      #expect(error?.kind == .permissionDenied)
      #expect(error?.message.contains("cut changes something in") == true)
      #expect(
        error?.message.contains("its profile my-pack must say writes: allowed, and the command must have --write")
          == true)
      error = await #expect(throws: AccessoryError.self) { _ = try await device.open(write: true) }
      #expect(error?.message.hasSuffix("its profile my-pack must say writes: allowed") == true)
    }
  }

  /// Another profile by hand is no way round what the device's own refuses, nor is one that knows no driver.
  @Test func anotherProfileIsNoWayRound() async throws {
    let bytes = Profile(name: "bytes", rules: [DeviceRule(serialNumber: "nothing")])
    try await Self.with(allowsWrites: false, more: [bytes]) { harness, client, pack in
      _ = try await client.call(Bridge.Detach(device: "P1"))
      let reply = try await client.call(Bridge.Attach(device: "P1", profile: "bytes"))
      #expect(reply.accessory.driver == nil && reply.accessory.writes == .refused)
      for profiles in [nil, ProfileStore([bytes])] {
        // Nor is no profile at all: nothing allows writes then.
        if let profiles { await harness.service.use(profiles) }
        let other = try await harness.client()
        let name = await errorName { () throws(ControlError) in
          _ = try await other.upgrade(Bridge.Open(write: true))
        }
        #expect(name == "PermissionDenied")
      }
      #expect(pack.text.isEmpty)
    }
  }

  /// What another driver says to such an accessory is bytes: no contact is made by it.
  @Test func aProfileOfAnotherDriverIsNotAttached() async throws {
    let other = Profile(name: "other", rules: [DeviceRule(serialNumber: "nothing")], driver: "framed")
    try await Self.with(allowsWrites: true, more: [other]) { harness, client, pack in
      _ = try await client.call(Bridge.Detach(device: "P1"))
      let reply = try await client.call(Bridge.Attach(device: "P1", profile: "other"))
      #expect(reply.accessory.state != .attached && reply.accessory.problem?.kind == "PermissionDenied")
      #expect(pack.text.isEmpty)
    }
  }

  /// Who hears that, hears it of the profile as it is now.
  @Test func aChangedProfileRefusesWritesAtOnce() async throws {
    try await Self.with(allowsWrites: true) { harness, client, pack in
      #expect(try await client.call(Bridge.List()).accessories.first?.writes == .allowed)
      await harness.service.use(ProfileStore([Pack.profile(allowsWrites: false)]))
      try await harness.said("P1 is attached at", times: 2)
      #expect(try await client.call(Bridge.List()).accessories.first?.writes == .refused)
      #expect(await perform(client, "cut", write: true) == "PermissionDenied")
      #expect(pack.text.isEmpty)
    }
  }

  /// A dry run says what would be sent, and why it may not; and sends nothing, with permissions and without.
  @Test(arguments: [false, true]) func aDryRunSendsNothing(allowsWrites: Bool) async throws {
    try await Self.with(allowsWrites: allowsWrites) { harness, client, pack in
      let device = try await BridgeClient.connect(to: harness.path).device("P1")
      for write in [false, true] {
        let told = try await device.preview([.init("read"), .init("cut", ["seconds": "5"])], write: write)
        #expect(told.frames == [Array("read\n".utf8), Array("cut 5\n".utf8)] && told.device.id == "P1")
        #expect((told.refusal == nil) == (write && allowsWrites))
      }
      let wrong = await errorName { () throws(ControlError) in
        _ = try await client.call(Bridge.Perform(commands: [.init("cut", ["seconds": "10"])], dry_run: true))
      }
      #expect(wrong == "Misconfigured")
      #expect(await perform(client, "read") == nil)
      try await pack.expect("read\n")
    }
  }

  @Test func writesAreMarkedAmongTheCommands() async throws {
    try await Self.with(allowsWrites: true) { harness, client, _ in
      let told = try await client.call(Bridge.GetCommands()).commands
      #expect(told.map(\.isWrite) == [false, true])
      let commands = try await BridgeClient.connect(to: harness.path).device("P1").commands().commands
      #expect(commands.map(\.isWrite) == [false, true])
      try await harness.simulate("A1")
      try await harness.attached("A1")
      // Nothing is refused of accessories whose protocol marks nothing.
      let framed = try await client.call(Bridge.List()).accessories.first { $0.device.id == "A1" }
      #expect(framed?.writes == nil)
      let (_, transport) = try await harness.client().upgrade(Bridge.Open(device: "A1"))
      await transport.close()
    }
  }

  /// A Swift program asks when it opens the accessory, through the service as on its own; it doesn't ask unless it says so.
  @Test(arguments: [(true, false), (true, true), (false, true)])
  func aSwiftProgramMustAskToWrite(allowsWrites: Bool, writes: Bool) async throws {
    let isPermitted = allowsWrites && writes
    try await Self.with(allowsWrites: allowsWrites) { harness, _, pack in
      let accessories = Accessories(
        sources: [], profiles: ProfileStore([Pack.profile(allowsWrites: allowsWrites)]), drivers: Pack.library,
        services: [harness.path])
      let accessory = try await accessories.open("P1", writes: writes)
      try await Self.tryAll(accessory, isPermitted, pack)
      await accessory.close()
      if isPermitted {
        await (try await accessories.openSession("P1", writes: true)).close()
      } else {
        await #expect(throws: AccessoryError.self) { try await accessories.openSession("P1", writes: writes) }
      }
      if allowsWrites { await #expect(throws: AccessoryError.self) { try await accessories.openSession("P1") } }
    }
    // The same without a service.
    let pack = try await PackEnd()
    let device = Device(.terminal(pack.terminal.path), source: .named, driver: "pack", serialNumber: "P1")
    let accessories = Accessories(
      sources: [OneDevice(device: device)], profiles: ProfileStore([Pack.profile(allowsWrites: allowsWrites)]),
      drivers: Pack.library, services: [])
    let accessory = try await accessories.open("P1", writes: writes)
    try await Self.tryAll(accessory, isPermitted, pack)
    await accessory.close()
    if isPermitted {
      let session = try await accessories.openSession("P1", writes: true)
      try await session.write(Array("?".utf8))
      try await pack.expect("read\ncut 2\nAB?")
      await session.close()
    } else {
      await #expect(throws: AccessoryError.self) { try await accessories.openSession("P1", writes: writes) }
      #expect(pack.text == "read\n")
    }
    await pack.terminal.transport.close()
  }

  private static func tryAll(_ accessory: any Accessory, _ isPermitted: Bool, _ pack: PackEnd) async throws {
    let read = try CommandCall("read", [:], of: Pack.driver.commands)
    let cut = try CommandCall("cut", ["seconds": "2"], of: Pack.driver.commands)
    guard isPermitted else {
      var error = await #expect(throws: AccessoryError.self) { try await accessory.perform([cut], isAnswered: true) }
      #expect(error?.kind == .permissionDenied)
      error = await #expect(throws: AccessoryError.self) { try await accessory.request(0x41, payload: [0x42]) }
      #expect(error?.kind == .permissionDenied)
      _ = try await accessory.perform([read], isAnswered: true)
      return try await pack.expect("read\n")
    }
    _ = try await accessory.perform([read, cut], isAnswered: true)
    _ = try await accessory.request(0x41, payload: [0x42])
    try await pack.expect("read\ncut 2\nAB")
  }
}

/// A source that knows one device, which neither comes nor goes.
private struct OneDevice: DeviceSource {
  let device: Device
  func devices() async throws(AccessoryError) -> [Device] { [device] }
  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> { AsyncStream { $0.finish() } }
}
