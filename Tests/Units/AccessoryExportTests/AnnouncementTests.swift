// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import MessageBus
import TestSupport
import Testing

@testable import AccessoryExport

/// Announcements on the local network, with an Avahi that the test plays.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct AnnouncementTests {
  private static let service = AnnouncedService(
    name: "box", type: "_esphomelib._tcp", port: 6_053, text: ["mac=0200c0ffee01", "friendly_name=Box"])
  private static let group = "/Client1/EntryGroup1"

  /// A bus with an Avahi that runs, unless the test answers something else.
  private static func bus(
    _ answer: @escaping @Sendable (FakeBus.Call) -> FakeBus.Answer? = { _ in nil }
  ) throws -> FakeBus {
    try FakeBus(clients: 8) { call in
      if let answer = answer(call) { return answer }
      switch call.member {
      case "GetState": return .values([.uint32(2)])
      case "EntryGroupNew": return .values([.path(group)])
      default: return nil
      }
    }
  }

  private static func state(_ bus: FakeBus, _ state: UInt32, sender: String = FakeBus.owner, path: String = group) {
    bus.signal(path, Avahi.group, "StateChanged", [.uint32(state), .text("")], sender: sender)
  }

  private static func owner(_ bus: FakeBus, _ old: String, _ new: String) {
    bus.signal(
      "/org/freedesktop/DBus", Avahi.bus, "NameOwnerChanged", [.text(Avahi.name), .text(old), .text(new)],
      sender: Avahi.bus)
  }

  private static let order = ["GetState", "EntryGroupNew", "AddService", "Commit"]

  @Test func aServiceIsAnnounced() async throws {
    let bus = try Self.bus()
    let announcement = ServiceAnnouncement(Self.service, address: bus.address)
    var states = announcement.states.makeAsyncIterator()
    await announcement.start()
    #expect(bus.calls.map(\.member) == Self.order)
    let body = String(decoding: bus.bodies(of: "AddService").first ?? [], as: UTF8.self)
    #expect(
      body.contains("_esphomelib._tcp") && body.contains("mac=0200c0ffee01") && body.contains("friendly_name=Box"))
    #expect(
      (bus.bodies(of: "AddService").first ?? []).starts(with: [255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0]))
    Self.state(bus, 2, sender: ":1.99")
    Self.state(bus, 3, path: "/Client2/EntryGroup1")
    Self.state(bus, 1)
    Self.state(bus, 2)
    #expect(await states.next() == .announced, "a stranger's, another group's and a preliminary state don't count")
    await announcement.close()
    #expect(bus.calls.last?.member == "Reset")
    #expect(await states.next() == nil)
  }

  @Test func itIsAnnouncedAgainAfterAvahi() async throws {
    let bus = try Self.bus()
    let announcement = ServiceAnnouncement(Self.service, address: bus.address)
    var states = announcement.states.makeAsyncIterator()
    await announcement.start()
    Self.state(bus, 2)
    #expect(await states.next() == .announced)
    Self.owner(bus, FakeBus.owner, "")
    #expect(await states.next() == .unavailable(Avahi.isMissing))
    Self.owner(bus, "", FakeBus.owner)
    // The group is a new one: the old one went with the old Avahi.
    while bus.bodies(of: "Commit").count < 2 { await Task.yield() }
    #expect(bus.calls.map(\.member) == Self.order + Self.order)
    Self.state(bus, 2)
    #expect(await states.next() == .announced)
    // It looks for another name of its host: what was announced is announced again.
    bus.signal("/", Avahi.server, "StateChanged", [.uint32(1), .text("")])
    bus.signal("/", Avahi.server, "StateChanged", [.uint32(2), .text("")])
    while bus.bodies(of: "Commit").count < 3 { await Task.yield() }
    #expect(bus.calls.suffix(4).map(\.member) == ["GetState", "Reset", "AddService", "Commit"])
    await announcement.close()
  }

  @Test func aTakenNameIsToldAndLivedWith() async throws {
    let bus = try Self.bus { call in
      call.member == "AddService" ? .error(Avahi.collision, "Local name collision") : nil
    }
    let announcement = ServiceAnnouncement(Self.service, address: bus.address)
    var states = announcement.states.makeAsyncIterator()
    await announcement.start()
    #expect(await states.next() == .nameIsTaken)
    #expect(bus.bodies(of: "AddService").count == 1 && bus.bodies(of: "Commit").isEmpty, "no other name is tried")
    await announcement.close()
    // On another machine.
    let network = try Self.bus()
    let other = ServiceAnnouncement(Self.service, address: network.address)
    states = other.states.makeAsyncIterator()
    await other.start()
    Self.state(network, 3)
    #expect(await states.next() == .nameIsTaken)
    var renamed = Self.service
    renamed.name = "other"
    await other.update(renamed)
    Self.state(network, 2)
    #expect(await states.next() == .announced)
    #expect(AnnouncementState.nameIsTaken.text(Self.service).contains("another _esphomelib._tcp has this name"))
    await other.close()
  }

  @Test func withoutAvahiItWaitsForIt() async throws {
    let bus = try Self.bus { call in
      call.member == "GetNameOwner" ? .error("org.freedesktop.DBus.Error.NameHasNoOwner", "no") : nil
    }
    let announcement = ServiceAnnouncement(Self.service, address: bus.address)
    var states = announcement.states.makeAsyncIterator()
    await announcement.start()
    #expect(await states.next() == .unavailable(Avahi.isMissing))
    #expect(bus.calls.isEmpty, "Avahi isn't started by a call")
    Self.owner(bus, "", FakeBus.owner)
    while bus.bodies(of: "Commit").isEmpty { await Task.yield() }
    Self.state(bus, 2)
    #expect(await states.next() == .announced)
    await announcement.close()
  }

  @Test func withoutABusItSaysSo() async throws {
    let announcement = ServiceAnnouncement(Self.service, address: "unix:path=/nowhere/bus")
    var states = announcement.states.makeAsyncIterator()
    await announcement.start()
    guard case .unavailable(let error)? = await states.next() else {
      Issue.record("it is announced")
      return
    }
    #expect(error.message.contains("apt install avahi-daemon"))
    await announcement.close()
    let report = await AvahiDoctor.report(address: "unix:path=/nowhere/bus")
    #expect(report.findings.count == 1 && report.findings[0].severity == .warning)
  }

  /// The bus ends, and comes back.
  @Test func theBusIsTriedAgain() async throws {
    let bus = try Self.bus()
    let clock = ManualClock()
    let announcement = ServiceAnnouncement(Self.service, address: bus.address, clock: clock)
    var states = announcement.states.makeAsyncIterator()
    await announcement.start()
    Self.state(bus, 2)
    #expect(await states.next() == .announced)
    bus.hangUp()
    guard case .unavailable? = await states.next() else {
      Issue.record("it is announced")
      return
    }
    while clock.scheduledCount == 0 { await Task.yield() }
    clock.advance(by: .seconds(1))
    while bus.bodies(of: "Commit").count < 2 { await Task.yield() }
    Self.state(bus, 2)
    #expect(await states.next() == .announced)
    await announcement.close()
  }

  @Test func aBoxTellsWhatHomeAssistantNeeds() {
    var box = NativeBox(
      name: "box", friendlyName: String(repeating: "\u{E9}", count: 200), mac: [2, 0, 0xC0, 0xFF, 0xEE, 1],
      version: "1.0")
    let told = box.announcement(port: 6_054)
    #expect(told.name == "box" && told.type == "_esphomelib._tcp" && told.port == 6_054)
    #expect(told.text.contains("mac=0200c0ffee01"))
    #expect(told.text.contains("api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256"))
    #expect(told.text.allSatisfy { $0.utf8.count <= 255 })
    box.isEncrypted = false
    #expect(!box.announcement(port: 6_054).text.contains { $0.hasPrefix("api_encryption") })
  }

  @Test func theDoctorLooks() async throws {
    let running = await AvahiDoctor.report(address: try Self.bus().address)
    #expect(running.findings.map(\.severity) == [.ok])
    let folder = try TemporaryDirectory()
    #expect(await AvahiDoctor.reportIfUsed(folder.path) == nil)
    try folder.write([], to: "accessory-bridge-home-assistant.service")
    #expect(await AvahiDoctor.reportIfUsed(folder.path, address: "unix:path=/nowhere/bus")?.path == "mdns")
    let bus = try Self.bus { $0.member == "GetState" ? .values([.uint32(1)]) : nil }
    #expect(await AvahiDoctor.report(address: bus.address).findings.map(\.severity) == [.warning])
  }
}
