// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import TestSupport
import Testing

@testable import AccessoryDrivers

/// A driver of a program's own, whose accessories answer nothing: making contact writes one byte.
private struct Lamp: Accessory {
  let session: AccessorySession
  var label: String { session.label }

  static let driver = Driver(name: "lamp", summary: "lamps", rawBytes: .harmless) {
    session, _, _ throws(AccessoryError) in
    try await session.write([0x4C])
    return Lamp(session: session)
  }

  func battery() async throws(AccessoryError) -> BatteryReading { BatteryReading(percent: 42) }
  func news() -> EventStream<AccessoryNews> { EventStream(AsyncThrowingStream { nil }) }
  func close() async { await session.close() }
}

@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct DeviceOpenerTests {
  private static let library: DriverLibrary = {
    var library = DriverLibrary.builtIn
    library.register(Lamp.driver)
    return library
  }()

  /// A profile may name a driver that the program added; for who didn't add it, the profile is wrong.
  @Test func aProfileMayNameAnAddedDriver() async throws {
    let text = Array("name: lamp\nmatch: {serial: L1}\ndriver: lamp\n".utf8)
    let problems = #expect(throws: ProfileProblems.self) { try ProfileReader.read(text, file: "lamp.yaml") }
    #expect(problems?.problems.first?.message.contains("framed") == true)
    let profile = try ProfileReader.read(text, file: "lamp.yaml", drivers: Self.library)

    let terminal = try await PseudoTerminal.open()
    let device = Device(.terminal(terminal.path), source: .named, serialNumber: "L1")
    let opener = DeviceOpener(device, profile: profile, drivers: Self.library)
    #expect(opener.driver?.name == "lamp")
    let accessory = try await opener.accessory()
    #expect(try await accessory.battery().percent == 42)
    var host = AccessorySession(terminal.transport).input.makeAsyncIterator()
    #expect(try await host.next() == [0x4C])
    await accessory.close()
    // Who hasn't that driver opens it as bytes, and is told why there is no more.
    let stranger = DeviceOpener(device, profile: profile)
    #expect(stranger.driver == nil)
    let error = await #expect(throws: AccessoryError.self) { try await stranger.accessory() }
    #expect(error?.kind == .misconfigured && error?.message.contains("names the unknown driver lamp") == true)
  }

  @Test func aLaterDriverReplacesOneOfItsName() {
    var library = DriverLibrary([.af1, Lamp.driver])
    library.register(
      Driver(name: "framed", summary: "another", rawBytes: .harmless) { _, _, _ throws(AccessoryError) in
        throw .closed("x")
      })
    #expect(library.drivers.map(\.name) == ["framed", "lamp"])
    #expect(library.driver(named: "framed")?.summary == "another")
    #expect(
      library.drivers.map(\.summary) == ["another", "lamps"] && library.drivers.map(\.name) == ["framed", "lamp"])
  }

  /// Opening resets some boards, so it is left when nothing could be asked anyway.
  @Test func withoutADriverNothingIsOpened() async throws {
    let opener = DeviceOpener(Device(.terminal("/nowhere/at/all"), source: .named))
    let contact = await #expect(throws: AccessoryError.self) { try await opener.accessory() }
    #expect(contact?.kind == .misconfigured)
    let bytes = await #expect(throws: AccessoryError.self) { try await opener.session() }
    #expect(bytes?.kind == .notFound && bytes?.message.contains("/nowhere/at/all") == true)
  }

  /// A session is bytes: nothing is sent, also where a driver is known. A tap hears all that passes.
  @Test func aSessionSendsNothing() async throws {
    let terminal = try await PseudoTerminal.open()
    let heard = Heard()
    var opener = DeviceOpener(Device(.terminal(terminal.path), source: .named, driver: "lamp"), drivers: Self.library)
    opener.tap = heard
    opener.label = "my lamp"
    let session = try await opener.greetedSession()
    #expect(session.label == "my lamp")
    try await session.write([1, 2])
    var host = AccessorySession(terminal.transport).input.makeAsyncIterator()
    #expect(try await host.next() == [1, 2])
    #expect(heard.bytes.withLock { $0 } == [1, 2])
    await session.close()
  }

  /// A profile's transport is preferred, unless somebody chose the address.
  @Test func theProfilesTransportIsPreferredUnlessOneIsChosen() {
    var usb = USBIdentity(
      vendorID: 0x1209, productID: 1, bus: 1, address: 2, node: "/dev/bus/usb/001/002", port: "1-1", devpath: "",
      function: USBClass(code: 0))
    let pair = [0x81, 0x02].map { address in
      USBEndpointDescription(address: address, transfer: .bulk, maxPacketSize: 64, packetsPerInterval: 1, interval: 0)
    }
    usb.interfaces = [
      USBInterface(
        description: USBInterfaceDescription(
          number: 0, alternateSetting: 0, function: USBClass(code: 0xFF), endpoints: pair))
    ]
    let device = Device(.terminal("/dev/ttyACM0"), source: .udev, terminal: "/dev/ttyACM0", usb: usb)
    var profile = Profile(name: "x", rules: [])
    profile.transport.preferredTransport = .usb
    profile.transport.terminal.baudRate = 9_600
    #expect(DeviceOpener(device).device.address == .terminal("/dev/ttyACM0"))
    #expect(DeviceOpener(device, profile: profile).device.address == .usb("/dev/bus/usb/001/002"))
    let chosen = DeviceOpener(device, profile: profile, isChosen: true)
    #expect(chosen.device.address == .terminal("/dev/ttyACM0") && chosen.settings.terminal.baudRate == 9_600)
  }
}

private final class Heard: TransportTap {
  let bytes = Locked<[UInt8]>([])
  func passed(_ direction: ByteDirection, _ bytes: RawSpan) {
    let bytes = bytes.withUnsafeBytes(Array.init)
    self.bytes.withLock { $0 += bytes }
  }
}
