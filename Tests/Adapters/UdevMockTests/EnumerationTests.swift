// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import TestSupport
import Testing

extension UdevMock {
  /// What is there, asked once.
  @Suite struct EnumerationTests {
    let bed: Testbed

    init() throws { bed = try Testbed() }

    private func devices() async throws -> [Device] { try await UdevSource().devices() }

    /// No /sys/bus/usb at all.
    @Test func aMachineWithoutUSBHasNoDevices() async throws {
      #expect(try await devices() == [])
      let follower = try await Follower(UdevSource())
      #expect(follower.now.present == [])
      await follower.stop()
    }

    @Test func aTerminalAndItsDeviceAreOne() async throws {
      try bed.plug(.board)
      let device = try #require(try await devices().first)
      #expect(try await devices().count == 1)
      #expect(device.id == "A1")
      #expect(device.source == .udev)
      #expect(device.address.description == "/dev/ttyACM0")
      #expect(device.terminal == "/dev/ttyACM0")
      #expect(device.manufacturer == "Arduino LLC")
      #expect(device.name == "Uno")
      #expect(device.links.contains("/dev/serial/by-id/usb-Arduino_Uno_A1-if00"))
      #expect(device.transports == [.terminal, .usb])
      #expect(device.choosing(.usb)?.address.description == "/dev/bus/usb/001/005")
      #expect(device.choosing(.usb)?.address.transport == .usb)
      #expect(device.mayBeAccessory)
      let usb = try #require(device.usb)
      #expect(usb.product == "2341:0043")
      #expect((usb.bus, usb.address) == (1, 5))
      #expect((usb.port, usb.node) == ("1-2", "/dev/bus/usb/001/005"))
      #expect(usb.speed == 480)
      #expect(usb.release == 0x0102)
      #expect(usb.terminalInterface == nil)
      #expect(usb.damage == nil)
      #expect(usb.interfaces.map(\.description.number) == [0, 1])
      #expect(usb.interfaces.map(\.driver) == ["cdc_acm", "cdc_acm"])
      #expect(usb.interfaces[1].description.endpoints.map(\.address) == [0x83, 0x03])
    }

    @Test func twoTerminalsAreTwoDevicesThatShareNoInterface() async throws {
      try bed.plug(.twoPorts)
      let devices = try await devices()
      #expect(devices.map(\.id) == ["FT1-if00", "FT1-if01"])
      #expect(devices.map(\.address.description) == ["/dev/ttyUSB0", "/dev/ttyUSB1"])
      #expect(devices.map { $0.usb?.interfaces.map(\.description.number) } == [[0], [1]])
      #expect(devices.map(\.usb?.node) == ["/dev/bus/usb/001/009", "/dev/bus/usb/001/009"])
    }

    @Test func aDeviceWithoutATerminalIsReachedByUSB() async throws {
      try bed.plug(.gadget(3))
      let device = try #require(try await devices().first)
      #expect((device.id, device.address.description) == ("G3", "/dev/bus/usb/001/023"))
      #expect(device.terminal == nil)
      #expect(device.transports == [.usb])
      #expect(device.choosing(.terminal) == nil)
      #expect(device.mayBeAccessory)
    }

    /// Without a serial number the socket is what stays.
    @Test func withoutASerialNumberThePortIsTheName() async throws {
      try bed.plug(MockUSB())
      #expect(try await devices().map(\.id) == ["1234:5678@1-2"])
    }

    @Test func devicesOfOtherClassesAreNoAccessories() async throws {
      try bed.plug(MockUSB(port: "usb1", address: 1, deviceClass: 9, interfaces: [.bulk(0, (9, 0, 0))]))
      var keyboard = MockUSB(port: "1-1", address: 2)
      keyboard.interfaces = [.init(number: 0, function: (3, 1, 1), endpoints: [(0x81, 3, 8), (1, 3, 8)])]
      try bed.plug(keyboard)
      try bed.plug(MockUSB(port: "1-5", address: 3, interfaces: [.bulk(0, (8, 6, 0x50), driver: "usb-storage")]))
      try bed.plug(MockUSB(port: "1-6", address: 4, interfaces: [.bulk(0, driver: "rtl8xxxu")]))
      let devices = try await devices()
      #expect(devices.map(\.usb?.port) == ["1-1", "1-5", "1-6"])  // the hub isn't told at all
      #expect(devices.allSatisfy { !$0.mayBeAccessory })
      var report = MockUSB(port: "1-7", address: 6)
      report.interfaces = [
        .init(number: 0, function: (3, 0, 0), endpoints: [(0x81, 3, 1024), (1, 3, 1024)], driver: "usbhid")
      ]
      try bed.plug(report)
      #expect(try await self.devices().last?.mayBeAccessory == true)
    }

    /// A device behind a hub belongs to itself, not to the hub that is above it.
    @Test func aDeviceBehindAHubIsNotTheHub() async throws {
      let hub = MockUSB(port: "1-1", address: 2, deviceClass: 9, interfaces: [.bulk(0, (9, 0, 0), driver: "hub")])
      try bed.plug(hub)
      var board = MockUSB.board
      board.port = "1-1/1-1.4"
      try bed.add(board.text.replacing("1-1/1-1.4:", with: "1-1.4:"))
      let devices = try await devices()
      #expect(devices.map(\.address.description) == ["/dev/ttyACM0"])
      #expect(devices.first?.usb?.port == "1-1.4")
      #expect(devices.first?.usb?.interfaces.count == 2)
    }

    // MARK: - Hostile texts

    @Test func textsOfADeviceAreRepairedAndBounded() async throws {
      var device = MockUSB()
      device.strings = [
        "manufacturer": Array("\u{1B}[2J\r\u{7}evil".utf8), "product": [0xFF, 0xFE, 0x41, 0xC3],
        "serial": [UInt8](repeating: UInt8(ascii: "s"), count: 4_095),
      ]
      try bed.plug(device)
      let found = try #require(try await devices().first)
      #expect(found.manufacturer == "\u{1B}[2J\r\u{7}evil")  // shown escaped, kept as it is
      #expect(found.name == "\u{FFFD}\u{FFFD}A\u{FFFD}")
      #expect(found.serialNumber == String(repeating: "s", count: 126))
    }

    @Test func textsOfUdevsPropertiesAreDecoded() async throws {
      var device = MockUSB()
      device.properties = [
        "ID_VENDOR_ENC": "Two\\x20words\\x1b\\xff\\x", "ID_MODEL_ENC": String(repeating: "\\x41", count: 1_000),
        "ID_SERIAL_SHORT": "S_1",
      ]
      device.strings["serial"] = Array("S 1".utf8)
      try bed.plug(device)
      let found = try #require(try await devices().first)
      #expect(found.manufacturer == "Two words\u{1B}\u{FFFD}\\x")
      #expect(found.name == String(repeating: "A", count: 126))
      #expect(found.serialNumber == "S 1")  // udev writes an underscore for what it doesn't like
    }

    @Test func blanksAreNoName() async throws {
      var device = MockUSB()
      device.strings = ["serial": Array("   ".utf8), "product": Array("  Lamp ".utf8), "manufacturer": []]
      try bed.plug(device)
      let found = try #require(try await devices().first)
      #expect(found.serialNumber == nil)
      #expect(found.name == "Lamp")
      #expect(found.manufacturer == nil)
    }

    @Test(arguments: [[], [1], [18, 1], [UInt8](repeating: 0, count: 18), [UInt8](repeating: 255, count: 4_096)])
    func aBoardWithSenselessDescriptorsIsListed(_ bytes: [UInt8]) async throws {
      var device = MockUSB.board
      device.descriptors = bytes
      try bed.plug(device)
      let found = try #require(try await devices().first)
      #expect(found.address.description == "/dev/ttyACM0")
      #expect(found.usb?.product == "2341:0043")
      #expect(found.transports == [.terminal])
    }

    @Test func aDeviceWithoutNumbersIsNotListed() async throws {
      try bed.add("P: /devices/usb9/9-1\nE: SUBSYSTEM=usb\nE: DEVTYPE=usb_device\n")
      try bed.add("P: /devices/usb9/9-1/9-1:1.0\nE: SUBSYSTEM=usb\nE: DEVTYPE=usb_interface\nA: bInterfaceNumber=zz\n")
      #expect(try await devices() == [])
    }
  }
}
