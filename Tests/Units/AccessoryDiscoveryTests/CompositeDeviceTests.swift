// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Foundation
import TestSupport
import Testing

@testable import AccessoryDiscovery

/// USB devices that are several accessories.
@Suite struct CompositeDeviceTests {
  private static let path = "/devices/usb1/1-2"
  /// An Arduino's UPS, and reports of 8 bytes that may carry text.
  private static let ups = HIDSamples.bytes("05 84 09 04 a1 01 09 24 a1 02 85 01 75 08 95 01 05 85 09 66 b1 a2 c0 c0")
  private static let text = HIDSamples.bytes("06 00 ff 09 01 a1 01 75 08 95 08 15 00 26 ff 00 09 01 81 02 c0")
  private static let keyboard = HIDSamples.bytes("05 01 09 06 a1 01 05 07 75 01 95 08 19 e0 29 e7 81 02 c0")

  /// An interface of a device: its class, subclass and protocol, whether it has endpoints in both directions, its terminal, and its reports.
  private struct Part {
    var function: [UInt8]
    var hasPair = false
    var driver: String?
    var terminal: String?
    var reports: [UInt8]?

    static func port(_ terminal: String?) -> [Part] {
      [
        Part(function: [2, 2, 1], driver: "cdc_acm", terminal: terminal),
        Part(function: [0x0A, 0, 0], hasPair: true, driver: "cdc_acm"),
      ]
    }
    static func hid(_ reports: [UInt8]?, _ function: [UInt8] = [3, 0, 0]) -> Part {
      Part(function: function, driver: "usbhid", reports: reports)
    }
  }

  private func records(_ parts: [Part], serial: String? = "HIDPD") -> [UdevRecord] {
    var device = UdevRecord(kind: .device, devpath: Self.path, instance: 1)
    device.attributes = ["busnum": "1", "devnum": "5", "bDeviceClass": "ef"]
    device.attributes["serial"] = serial
    device.isInitialized = true
    var described: [UInt8] = []
    var records: [UdevRecord] = []
    for (number, part) in parts.enumerated() {
      let number = UInt8(number)
      described += [9, 4, number, 0, part.hasPair ? 2 : 1] + part.function + [0, 7, 5, 0x81 + number, 3, 16, 0, 10]
      if part.hasPair { described += [7, 5, 1 + number, 2, 64, 0, 0] }
      var interface = UdevRecord(kind: .interface, devpath: "\(Self.path)/1-2:1.\(number)", instance: 10)
      interface.attributes = ["bInterfaceNumber": "0\(number)", "bAlternateSetting": " 0"]
      interface.driver = part.driver
      records.append(interface)
      func add(_ kind: UdevRecord.Kind, _ name: String, _ descriptors: [UInt8] = []) {
        var record = UdevRecord(kind: kind, devpath: "\(interface.devpath)/\(name)", instance: 20 + UInt64(number))
        (record.node, record.isInitialized, record.descriptors) = ("/dev/\(record.name)", true, descriptors)
        records.append(record)
      }
      if let terminal = part.terminal { add(.terminal, "tty/\(terminal)") }
      if let reports = part.reports { add(.hid, "0003:2341:8036.000\(number)/hidraw/hidraw\(number)", reports) }
    }
    device.descriptors =
      [18, 1, 0, 2, 0xEF, 2, 1, 64, 0x41, 0x23, 0x36, 0x80, 0, 1, 1, 2, 3, 1]
      + [9, 2, UInt8(described.count + 9), 0, UInt8(parts.count), 1, 0, 0x80, 50] + described
    return [device] + records
  }

  private func devices(_ parts: [Part], serial: String? = "HIDPD") -> [Device] {
    UdevAssembly.entries(records(parts, serial: serial), onlyInitialized: true).values.map(\.device)
      .sorted { $0.id < $1.id }
  }

  @Test func aUPSBesideASerialPortIsAnAccessoryOfItsOwn() throws {
    let found = devices(Part.port("ttyACM0") + [.hid(Self.ups)])
    #expect(found.map(\.id) == ["HIDPD", "HIDPD-if02"])
    #expect(found.map(\.address.description) == ["/dev/ttyACM0", "/dev/hidraw2"])
    #expect(found.map(\.transports) == [[.terminal, .usb], [.hidraw]])
    #expect(found.map { $0.usb?.interfaces.map(\.description.number) } == [[0, 1], [2]])
    #expect(found.allSatisfy { $0.mayBeAccessory })
    let (port, ups) = (try #require(found.first), try #require(found.last))
    #expect(!port.isSame(as: ups) && !ups.isSame(as: port))
    #expect(port.choosing(.hidraw) == nil && ups.choosing(.usb) == nil)
    // Without a serial number the port on the bus is the name.
    #expect(
      devices(Part.port("ttyACM0") + [.hid(Self.ups)], serial: nil).map(\.id) == [
        "2341:8036@1-2", "2341:8036@1-2-if02",
      ])
  }

  /// What a service tells has no reports: the identity says which of the two it is.
  @Test func whatAServiceTellsIsTheSameOne() throws {
    let found = devices(Part.port("ttyACM0") + [.hid(Self.ups)])
    for device in found {
      let told = try JSONDecoder().decode(Device.self, from: JSONEncoder().encode(device))
      #expect(told.id == device.id)
      #expect(found.filter { told.isSame(as: $0) }.map(\.id) == [device.id])
      #expect(found.filter { $0.isSame(as: told) }.map(\.id) == [device.id])
    }
  }

  /// An accessory that is alone in its device keeps its name.
  @Test func whereThereIsNoSerialPortTheUPSIsTheDevice() {
    let alone: [[Part]] = [
      [.hid(Self.ups)], [.hid(Self.keyboard, [3, 1, 1]), .hid(Self.ups)], [.hid(Self.ups), .hid(Self.text)],
      [Part(function: [8, 6, 0x50], hasPair: true, driver: "usb-storage"), .hid(Self.ups)],
    ]
    for parts in alone {
      let found = devices(parts)
      #expect(found.map(\.id) == ["HIDPD"])
      #expect(found.first?.hid?.isPowerDevice == true)
      #expect(found.first?.address.transport == .hidraw)
      #expect(found.first?.usb?.interfaces.count == parts.count)
    }
  }

  @Test func twoSerialPortsAndTwoUPSsAreFour() {
    let found = devices(Part.port("ttyACM0") + [.hid(Self.ups)] + Part.port("ttyACM1") + [.hid(Self.ups)])
    #expect(found.map(\.id) == ["HIDPD-if00", "HIDPD-if02", "HIDPD-if03", "HIDPD-if05"])
    #expect(
      found.map(\.address.description) == ["/dev/ttyACM0", "/dev/hidraw2", "/dev/ttyACM1", "/dev/hidraw5"])
    #expect(found.map { $0.usb?.interfaces.map(\.description.number) } == [[0, 1], [2], [3, 4], [5]])
    #expect(devices([.hid(Self.ups), .hid(Self.ups)]).map(\.id) == ["HIDPD", "HIDPD-if01"])
  }

  @Test func textInReportsIsAWayToTheSerialPortBesideIt() {
    let found = devices(Part.port("ttyACM0") + [.hid(Self.text)])
    #expect(found.map(\.id) == ["HIDPD"])
    #expect(found.first?.transports == [.terminal, .usb, .hidText])
    #expect(found.first?.address.description == "/dev/ttyACM0")
  }

  /// The nodes come one after another, in any order: each accessory is told once, and none becomes the other.
  @Test(arguments: [[0, 1], [1, 0]]) func eachNodeIsToldAsItComes(_ order: [Int]) {
    let whole = Part.port("ttyACM0") + [.hid(Self.ups)]
    let parts = [Part.port(nil) + [.hid(Self.ups)], Part.port("ttyACM0") + [.hid(nil)]]
    var model = UdevModel(onlyInitialized: true)
    func look(_ parts: [Part]) -> [DeviceEvent] {
      model.beginScan()
      return model.endScan(records(parts))
    }
    _ = look(parts[order[0]])
    let first = model.devices
    _ = look(whole)
    #expect(model.devices.map(\.id).sorted() == ["HIDPD", "HIDPD-if02"])
    for device in first where device.terminal != nil || device.hid != nil {
      #expect(model.devices.contains { $0.id == device.id && $0.address == device.address })
    }
    // The port goes, and the UPS stays.
    let gone = look(parts[0])
    #expect(!gone.contains { if case .removed(let device) = $0 { device.id == "HIDPD-if02" } else { false } })
    #expect(model.devices.contains { $0.id == "HIDPD-if02" })
  }

  /// Another program takes the UPS from the kernel's driver, and gives it back: it has another node then.
  @Test func aUPSThatComesBackIsToldAgain() throws {
    var model = UdevModel(onlyInitialized: true)
    func look(_ records: [UdevRecord]) -> [DeviceEvent] {
      model.beginScan()
      return model.endScan(records)
    }
    _ = look(records(Part.port("ttyACM0") + [.hid(Self.ups)]))
    let ups = try #require(model.devices.first { $0.hid != nil })
    let gone = look(records(Part.port("ttyACM0") + [.hid(nil)]))
    #expect(gone.contains(.removed(ups)))
    let again = look(records(Part.port("ttyACM0") + [.hid(Self.ups)]))
    #expect(again.contains(.added(ups)))
  }

  // MARK: - Names

  @Test func aNameMeansOneOfThem() throws {
    let found = devices(Part.port("ttyACM0") + [.hid(Self.ups)])
    func name(_ text: String?, by transport: TransportKind? = nil) throws -> String {
      try DeviceName(text, lookingAtFiles: false).device(among: found, by: transport).id
    }
    // The serial number alone was the port's before, and is still.
    #expect(try name("HIDPD") == "HIDPD")
    #expect(try name("HIDPD-if02") == "HIDPD-if02")
    #expect(try name("/dev/hidraw2") == "HIDPD-if02")
    #expect(throws: ResolutionError.self) { try name("usb:2341:8036") }
    // The transport says which one is meant.
    for text in ["HIDPD", "/dev/ttyACM0", "usb:2341:8036", nil] { #expect(try name(text, by: .hidraw) == "HIDPD-if02") }
    #expect(try name("usb:2341:8036", by: .terminal) == "HIDPD")
    #expect(try name("/dev/hidraw2", by: .terminal) == "HIDPD")
  }
}
