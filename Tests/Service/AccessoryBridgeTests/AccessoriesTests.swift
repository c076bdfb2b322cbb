// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessorySimulator
import Glibc
import TestSupport
import Testing

/// What is there, and opening without a service.
@Suite("Accessories", .serialized, .timeLimit(.minutes(Patience.minutes(3)))) struct AccessoriesTests {
  @Test func namesMeanOneAccessory() async throws {
    let place = try Place()
    let accessories = place.accessories
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open() } == .notFound)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open("SIM9") } == .notFound)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open("usb:x") } == .misconfigured)
    let first = try await place.simulate()
    let second = try await place.simulate { $0.device.identity.serialNumber = "SIM0002" }
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open() } == .misconfigured)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open("SIM") } == .misconfigured)
    let known = try await accessories.list()
    #expect(known.map(\.device.serialNumber).sorted { ($0 ?? "") < ($1 ?? "") } == ["SIM0001", "SIM0002"])
    for one in known {
      let accessory = try await accessories.open(one)
      #expect(try await accessory.identify().serialNumber == one.device.serialNumber)
      // Open here, it is this program's alone.
      #expect(
        await kind { () throws(AccessoryError) in _ = try await accessories.openSession(one.device.address.description)
        } == .busy)
      await accessory.close()
    }
    await first.stop()
    await second.stop()
  }

  /// Nobody knows its protocol: it can be had as bytes, and nothing is sent to it.
  @Test func anUnknownDeviceIsOpenedOnlyAsBytes() async throws {
    let place = try Place()
    let terminal = try await PseudoTerminal.open()
    let accessories = place.accessories
    let unknown = await kind { () throws(AccessoryError) in _ = try await accessories.open(terminal.path) }
    #expect(unknown == .misconfigured)
    let session = try await accessories.openSession(terminal.path)
    try await session.write([7])
    var arrived: [UInt8] = []
    try await eventually("the byte") {
      var piece: [UInt8] = []
      if case .bytes = terminal.transport.input.take(into: &piece) { arrived += piece }
      return !arrived.isEmpty
    }
    #expect(arrived == [7])
    await session.close()
    // The same through a service that holds it as bytes.
    let service = try place.start("bridge-cli", "attach", terminal.path)
    try await place.attached(1, by: service)
    let held = await kind { () throws(AccessoryError) in _ = try await accessories.open(terminal.path) }
    #expect(held == .misconfigured)
    #expect(try await accessories.list().map(\.service) == [place.socket])
    let lent = try await accessories.openSession(terminal.path)
    try await lent.write([8])
    try await eventually("the byte through the service") {
      var piece: [UInt8] = []
      if case .bytes = terminal.transport.input.take(into: &piece) { arrived += piece }
      return arrived.count >= 2
    }
    #expect(arrived == [7, 8])
    await lent.close()
    await terminal.transport.close()
  }

  /// Devices and services come and go.
  @Test func changesOfDevicesAndServicesAreTold() async throws {
    let place = try Place()
    let first = try await place.simulate()
    let accessories = place.accessories
    var changes = try await accessories.changes().makeAsyncIterator()
    guard case .appeared(let own) = try await changes.next() else { throw Hang("the first") }
    #expect(own.device.serialNumber == "SIM0001" && own.driver == "framed" && own.service == nil)

    var service = try await place.serve()
    var held = own
    held.service = place.socket
    #expect(try await changes.next() == .changed(held, from: own))
    service.signal(SIGKILL)
    try await service.end()
    #expect(try await changes.next() == .changed(own, from: held))
    service = try await place.serve()
    #expect(try await changes.next() == .changed(held, from: own))
    service.signal(SIGTERM)
    try await service.end()
    #expect(try await changes.next() == .changed(own, from: held))

    let path = try await first.plugIn()
    await first.unplug()
    #expect(try await changes.next() == .disappeared(own))
    try await first.plugIn()
    guard case .appeared(let again) = try await changes.next() else { throw Hang("the second") }
    #expect(again.device.serialNumber == "SIM0001" && path == own.device.address.description)

    // A consumer that is cancelled gets the end.
    let waiting = Task { () async throws -> AccessoryChange? in
      var changes = try await accessories.changes().makeAsyncIterator()
      _ = try await changes.next()
      return try await changes.next()
    }
    waiting.cancel()
    #expect(try await waiting.value == nil)
    await first.stop()
  }

  /// What only a service knows.
  @Test func whatOnlyAServiceKnowsAppears() async throws {
    let place = try Place()
    let simulator = try await place.simulate { $0.isAnnounced = false }
    let path = try await simulator.plugIn()
    var changes = try await place.accessories.changes().makeAsyncIterator()
    let service = try place.start("bridge-cli", "attach", path, "--profile", "framed")
    guard case .appeared(let known) = try await changes.next() else { throw Hang("the accessory") }
    #expect(known.device.address.description == path && known.driver == "framed" && known.service == place.socket)
    #expect(try await place.accessories.open(path).battery().percent == 57)
    service.signal(SIGKILL)
    #expect(try await changes.next() == .disappeared(known))
    await simulator.stop()
  }

  /// A source that can't be asked is an error, but not for who names a path.
  @Test func aFailingSourceFailsAllButPaths() async throws {
    let terminal = try await PseudoTerminal.open()
    let accessories = Accessories(sources: [BrokenSource()], services: [])
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.list() } == .ioFailure)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.changes() } == .ioFailure)
    #expect(await kind { () throws(AccessoryError) in _ = try await accessories.open("SIM0001") } == .ioFailure)
    let session = try await accessories.openSession(terminal.path)
    await session.close()
    await terminal.transport.close()
  }

  private struct BrokenSource: DeviceSource {
    func devices() async throws(AccessoryError) -> [Device] { throw AccessoryError(.ioFailure, "broken") }
    func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> {
      throw AccessoryError(.ioFailure, "broken")
    }
  }
}
