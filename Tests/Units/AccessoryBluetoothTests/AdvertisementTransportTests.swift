// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryBluetooth

/// Listening to what devices advertise, over a bus that says what a test says.
@Suite(.timeLimit(.minutes(Patience.minutes(1)))) struct AdvertisementTransportTests {
  private static let address = BluetoothAddress("E1:2B:44:0A:11:22")!
  private static let path = "/org/bluez/hci0/dev_E1_2B_44_0A_11_22"
  private static let company: UInt16 = 0x02E1

  private static func objects(known: Bool) -> WireValue {
    func object(_ path: String, _ interface: String, _ properties: [(String, WireValue)]) -> WireValue {
      .entry(.path(path), .array("{sa{sv}}", [.entry(.text(interface), .properties(properties))]))
    }
    var all = [object("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(true))])]
    if known {
      // What BlueZ remembers of earlier.
      all.append(
        object(
          path, "org.bluez.Device1",
          [
            ("Address", .text("\(address)")), ("Adapter", .path("/org/bluez/hci0")),
            ("ManufacturerData", data([9, 9])),
          ]
        ))
    }
    return .array("{oa{sa{sv}}}", all)
  }

  private static func data(_ bytes: [UInt8], company: UInt16 = company) -> WireValue {
    .array("{qv}", [.entry(.uint16(company), .variant(.array("y", bytes.map { .byte($0) })))])
  }

  private static func bus(known: Bool = true) throws -> FakeBus {
    let objects = objects(known: known)
    return try FakeBus { $0.member == "GetManagedObjects" ? .values([objects]) : nil }
  }

  private static func tell(_ bus: FakeBus, _ bytes: [UInt8], company: UInt16 = company) {
    bus.changed(
      path, "org.bluez.Device1", [("RSSI", .int16(-70)), ("ManufacturerData", data(bytes, company: company))])
  }

  /// Opens it, and has the device advertise as soon as the search has begun.
  private static func open(
    _ bus: FakeBus, within limit: Duration = .seconds(20), first: [UInt8]? = [1], company: UInt16 = company,
    noting note: (@Sendable (String) -> Void)? = nil,
    reading: @escaping AdvertisementTransport.Reading = { data, _ in data }
  ) async throws -> AdvertisementTransport {
    let bluez = try await BlueZ.open(bus.address)
    async let opening = AdvertisementTransport.open(
      address, company: Self.company, label: "ble:x", over: bluez, within: limit, noting: note, reading: reading)
    try await eventually("it searches") { bus.calls.contains { $0.member == "StartDiscovery" } }
    if let first { tell(bus, first, company: company) }
    return try await opening
  }

  private static func taken(_ transport: AdvertisementTransport) -> [UInt8] {
    var buffer: [UInt8] = []
    return transport.input.take(into: &buffer) == .bytes ? buffer : []
  }

  @Test func whatIsAdvertisedComesAndNothingIsConnected() async throws {
    let bus = try Self.bus()
    let notes = Locked<[String]>([])
    let transport = try await Self.open(bus, noting: { note in notes.withLock { $0.append(note) } })
    #expect(Self.taken(transport) == [1])
    Self.tell(bus, [2, 3])
    try await eventually("the next one has come") { transport.input.hasBytesAvailable }
    #expect(Self.taken(transport) == [2, 3])
    #expect(notes.withLock { $0 }.first?.contains("by hci0: data of the company 0x02e1; nothing is connected") == true)
    await transport.close()
    #expect(bus.calls.allSatisfy { !["Connect", "Pair", "AcquireNotify", "StartNotify"].contains($0.member) })
  }

  /// What the reading drops is no news, and its error ends the transport.
  @Test func whatIsReadDecides() async throws {
    let bus = try Self.bus()
    let reading: AdvertisementTransport.Reading = { data, _ throws(AccessoryError) in
      if data == [7] { return nil }
      if data == [8] { throw AccessoryError(.misconfigured, "another key") }
      return data
    }
    let transport = try await Self.open(bus, reading: reading)
    Self.tell(bus, [7])
    Self.tell(bus, [8])
    try await eventually("it has ended") { transport.hasEnded == "another key" }
    await transport.close()
  }

  @Test func aWrongKeyFailsAtOnce() async throws {
    let bus = try Self.bus()
    let reading: AdvertisementTransport.Reading = { _, _ throws(AccessoryError) in
      throw AccessoryError(.misconfigured, "wrong key")
    }
    let error = await #expect(throws: AccessoryError.self) { try await Self.open(bus, reading: reading) }
    #expect(error?.kind == .misconfigured && error?.message == "wrong key")
  }

  @Test func whoIsNotHeardOrTellsSomethingElse() async throws {
    let silent = await #expect(throws: AccessoryError.self) {
      try await Self.open(try Self.bus(), within: .milliseconds(100), first: nil)
    }
    #expect(silent?.kind == .notFound && silent?.message.contains("isn't heard") == true)
    let other = await #expect(throws: AccessoryError.self) {
      try await Self.open(try Self.bus(), within: .milliseconds(500), company: 0x004C)
    }
    // On a busy machine the signal may come behind the time limit.
    #expect([.unsupported, .notFound].contains(other?.kind))
  }

  @Test func itEndsWithItsDeviceItsAdapterAndBluetoothd() async throws {
    for end in 0..<3 {
      let bus = try Self.bus()
      let transport = try await Self.open(bus)
      try await eventually("it follows its device alone") {
        bus.rules.contains { $0.contains("path='/org/bluez/hci0'") }
      }
      switch end {
      case 0:
        bus.signal(
          "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
          [.path(Self.path), .texts(["org.bluez.Device1"])])
      case 1: bus.changed("/org/bluez/hci0", "org.bluez.Adapter1", [("Powered", .boolean(false))])
      default: bus.hangUp()
      }
      try await eventually("it has ended, \(end)") { transport.hasEnded?.contains("ble:x") == true }
      await transport.close()
      bus.close()
    }
  }

  /// Nobody takes what is heard: it doesn't grow.
  @Test func whatNobodyTakesIsLimited() async throws {
    let bus = try Self.bus()
    let long = [UInt8](repeating: 5, count: 200)
    let transport = try await Self.open(bus, first: long)
    for _ in 0..<600 { Self.tell(bus, long) }
    Self.tell(bus, [6])
    bus.hangUp()
    try await eventually("it has heard all") { transport.hasEnded != nil || transport.input.count > 65_000 }
    #expect(transport.input.count < 70_000)
    await transport.close()
  }
}

extension AdvertisementTransport {
  /// The error with which its input has ended, once all was taken.
  fileprivate nonisolated var hasEnded: String? {
    var buffer: [UInt8] = []
    while true {
      switch input.take(into: &buffer) {
      case .bytes: continue
      case .nothing: return nil
      case .end(let error): return error?.message ?? ""
      }
    }
  }
}
