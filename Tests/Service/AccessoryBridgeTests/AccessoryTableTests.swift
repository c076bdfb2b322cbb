// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import TestSupport
import Testing

@testable import AccessoryBridge

/// What sources and services tell of, put together.
@Suite("What is known of accessories") struct AccessoryTableTests {
  private let mouse: Device = {
    var usb = USBIdentity(
      vendorID: 1, productID: 2, bus: 1, address: 3, node: "/dev/bus/usb/001/003", port: "1-1", devpath: "",
      function: USBClass(code: 0))
    usb.interfaces = []
    return Device(.usb(usb.node), source: .udev, usb: usb)
  }()

  private func device(_ path: String) -> Device { Device(.node(path), source: .udev, serialNumber: "A") }
  private func services(_ table: AccessoryTable) -> [String?] { table.entries.compactMap(\.shown).map(\.service) }

  @Test func oneDeviceOfSeveralTellersIsOneAccessory() {
    var table = AccessoryTable()
    table.addServiceEntry(device("/dev/a"), "framed", at: "s1")
    table.add(device("/dev/a"), nil)
    table.addServiceEntry(device("/dev/a"), "ev3", at: "s2")
    #expect(
      table.entries.compactMap(\.shown) == [KnownAccessory(device: device("/dev/a"), driver: "framed", service: "s1")])
    table.removeServiceEntry("/dev/a", at: "s1")
    #expect(services(table) == ["s2"])
    table.removeServiceEntry("/dev/a", at: "s2")
    #expect(services(table) == [nil])
    table.remove(device("/dev/a"))
    #expect(table.entries.isEmpty)
    // What the system says is gone is gone.
    table.add(device("/dev/a"), nil)
    table.addServiceEntry(device("/dev/a"), nil, at: "s1")
    table.remove(device("/dev/a"))
    table.removeServiceEntry("/dev/a", at: "s1")
    #expect(table.entries.isEmpty)
  }

  @Test func whatIsNoAccessoryIsNotShownUnlessAServiceHoldsIt() {
    var table = AccessoryTable()
    table.add(mouse, nil)
    #expect(services(table) == [])
    table.addServiceEntry(mouse, nil, at: "s1")
    #expect(services(table) == ["s1"])
  }

  /// A service that tells of more and more.
  @Test func aServiceCantFillTheMemory() {
    var table = AccessoryTable(countLimit: 20)
    for index in 0..<30 { table.addServiceEntry(device("/dev/\(index)"), nil, at: "s1") }
    #expect(table.entries.count == 20)
    for _ in 0..<10 { table.addServiceEntry(device("/dev/0"), nil, at: "s1") }
    #expect(table.entries.count == 20 && table.entries.allSatisfy { $0.serviceEntries.count == 1 })
    // Another service has its own bounds, for texts, too.
    var long = device("/dev/other")
    long.name = String(repeating: "x", count: ReplyLimits.deviceBytes / 2)
    for path in ["/dev/a", "/dev/b", "/dev/c"] {
      (long.address, long.terminal) = (.terminal(path), path)
      table.addServiceEntry(long, nil, at: "s2")
    }
    #expect(services(table).count { $0 == "s2" } == 1)
    table.removeServiceEntry("/dev/a", at: "s2")
    table.addServiceEntry(long, nil, at: "s2")
    #expect(services(table).count { $0 == "s2" } == 1)
    for index in 0..<30 { table.removeServiceEntry("/dev/\(index)", at: "s1") }
    #expect(services(table) == ["s2"])
  }
}

/// Services that make no sense.
@Suite("A hostile service", .timeLimit(.minutes(Patience.minutes(2)))) struct HostileServiceTests {
  private static let device =
    #"{"id":"X1","path":"/dev/null","source":"named","serial":"X1","links":[],"ways":[],"initialized":true}"#
  private static let list = #"{"accessories":[{"device":\#(device),"state":"attached","tries":0,"driver":"framed"}]}"#
  private static let ready = #"{"event":"ready","time":1}"#
  private static let info = #"{"accessory":{"device":\#(device),"state":"attached","tries":0,"driver":"framed"}}"#

  private func open(
    _ answers: [String: [String]], replyTimeout: Duration = .seconds(60)
  ) async throws -> (ServiceAccessory, CannedService) {
    let directory = try TemporaryDirectory()
    let service = try CannedService(at: directory.path + "/socket", ["List": [Self.list]].merging(answers) { $1 })
    let held = try #require(
      try await ServiceEntry.find(DeviceName("X1"), at: [directory.path + "/socket"], replyTimeout: .seconds(60)) { [] }
    )
    return (try await ServiceAccessory.open(held, label: "X1", replyTimeout: replyTimeout), service)
  }

  @Test func aServiceThatIsNeverReadyFailsTheOpening() async throws {
    for answers in [["Subscribe": []], ["Subscribe": [Self.ready.replacing("ready", with: "present")]]] {
      let error = await #expect(throws: AccessoryError.self) {
        try await open(answers, replyTimeout: .milliseconds(100))
      }
      #expect(error?.kind == .timedOut || error?.kind == .disconnected)
    }
  }

  @Test func nonsenseOfAServiceIsBadData() async throws {
    let event = #"{"event":"battery","time":1,"battery":{"level":"low","level_origin":"x","charge":"y","percent":200}}"#
    let error = await #expect(throws: AccessoryError.self) { try await open(["Subscribe": [event, "{}"]]) }
    #expect(error?.kind == .badData)
    let infos = await #expect(throws: AccessoryError.self) {
      try await open(["Subscribe": ["!" + #"{"parameters":\#(Self.ready),"continues":true}"#], "Info": ["{}"]])
    }
    #expect(infos?.kind == .badData)
  }

  @Test func closingCancelsAWaitingCall() async throws {
    let (accessory, service) = try await open([
      "Subscribe": ["!" + #"{"parameters":\#(Self.ready),"continues":true}"#], "Info": [Self.info], "Battery": [],
      "Status": [#"{"device":\#(Self.device)}"#],
    ])
    #expect(await kind { () throws(AccessoryError) in _ = try await accessory.status() } == .badData)
    // Closed while a call waits.
    let waiting = Task { await kind { () throws(AccessoryError) in _ = try await accessory.battery() } }
    try await service.calls.wait { $0.contains("Battery") }
    await accessory.close()
    #expect(await waiting.value == .cancelled)
    service.close()
  }
}
