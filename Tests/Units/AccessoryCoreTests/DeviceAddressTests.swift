// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@Suite struct DeviceAddressTests {
  @Test(arguments: [
    ("/dev/ttyACM0", DeviceAddress.terminal("/dev/ttyACM0")),
    ("/tmp/acc", .terminal("/tmp/acc")),
    ("/dev/bus/usb/001/005", .usb("/dev/bus/usb/001/005")),
    ("tcp:192.168.0.7:5555", .tcp(NetworkAddress(host: "192.168.0.7", port: 5_555))),
    ("tcp:[fe80::1]:5555", .tcp(NetworkAddress(host: "fe80::1", port: 5_555))),
    ("rfc2217:box:2217", .rfc2217(NetworkAddress(host: "box", port: 2_217))),
    ("esphome://box", .esphome(ESPHomeAddress(node: NetworkAddress(host: "box", port: 6_053)))),
    ("esphome://box:7000/1", .esphome(ESPHomeAddress(node: NetworkAddress(host: "box", port: 7_000), port: "1"))),
    (
      "esphome://[fe80::1]/P1%20meter%2F2%40home",
      .esphome(ESPHomeAddress(node: NetworkAddress(host: "fe80::1", port: 6_053), port: "P1 meter/2@home"))
    ),
    ("unix:/run/lamp.sock", .unix("/run/lamp.sock")),
    ("unix:/a b:c", .unix("/a b:c")),
    ("ble:00:16:53:4A:FF:09", .ble(BluetoothAddress("00:16:53:4a:ff:09")!)),
    ("rfcomm:00:16:53:4A:FF:09", .rfcomm(BluetoothAddress("00:16:53:4A:FF:09")!, channel: nil)),
    ("rfcomm:00:16:53:4A:FF:09/30", .rfcomm(BluetoothAddress("00:16:53:4A:FF:09")!, channel: 30)),
    (
      "ble:hci1/00:16:53:4A:FF:09",
      .ble(BluetoothAddress("00:16:53:4A:FF:09")!, adapter: BluetoothAdapterName("hci1"))
    ),
    (
      "rfcomm:00:1A:7D:DA:71:13/00:16:53:4A:FF:09/3",
      .rfcomm(
        BluetoothAddress("00:16:53:4A:FF:09")!, channel: 3, adapter: BluetoothAdapterName("00:1a:7d:da:71:13"))
    ),
  ])
  func anAddressIsReadAndWritten(text: String, address: DeviceAddress) {
    #expect(DeviceAddress(text) == address)
    #expect(address.description == text)
    #expect(address.node == (text.hasPrefix("/") ? text : nil))
    let isFile = text.hasPrefix("/") || text.hasPrefix("unix:")
    #expect(address.file == (isFile ? String(text.trimmingPrefix("unix:")) : nil))
    #expect(DeviceAddress(text, in: "/anywhere") == address)
  }

  /// Names of accessories, relative paths, and what only begins like an address.
  @Test(arguments: [
    "", "SIM0001", "ttyACM0", "./acc", "tcp", "tcp:", "tcp:host", "tcp:host:", "tcp::5555", "tcp:host:0",
    "tcp:host:65536", "tcp:a:b:5", "tcp:a b:5", "tcp:a/b:5", "TCP:host:5", "udp:host:5", "rfc2217:host",
    "usb:1209:0001", "unix", "unix:", "unix:lamp.sock", "unix:./lamp.sock", "UNIX:/lamp.sock", "unix:/a\0b",
    "ble:", "ble:00:16:53:4A:FF", "ble:00:16:53:4A:FF:0", "ble:00:16:53:4A:FF:+9", "ble:00:16:53:4A:FF:0G",
    "ble:00:16:53:4A:FF:09:01", "ble:00:16:53:4A:FF:09/1", "rfcomm:00:16:53:4A:FF:09/",
    "rfcomm:00:16:53:4A:FF:09/0", "rfcomm:00:16:53:4A:FF:09/31", "rfcomm:00:16:53:4A:FF:09/01",
    "rfcomm:00:16:53:4A:FF:09/1/2", "rfcomm:00:16:53:4A:FF:09/+1", "ble:hci/00:16:53:4A:FF:09",
    "ble:hci01/00:16:53:4A:FF:09", "ble:hci65536/00:16:53:4A:FF:09", "ble:hci1/", "ble:eth0/00:16:53:4A:FF:09",
    "ble:hci1/hci2/00:16:53:4A:FF:09", "rfcomm:hci1/3", "esphome:", "esphome://", "esphome:///1", "esphome://a b/1",
    "esphome://box:0/1", "esphome://box:65536", "esphome://a:b:c", "esphome://fe80::1/1", "esphome://box/a/b",
    "esphome://box/1?key=AAAA", "esphome://box?port_name=x", "esphome://box/%2", "esphome://box/%zz",
    "esphome://box/%00",
    "esphome://box/%FF",
  ])
  func whatIsNoAddressIsRefused(text: String) {
    #expect(DeviceAddress(text) == nil)
  }

  /// A socket's path may be relative where somebody types it.
  @Test func aSocketsPathMayBeRelativeToAFolder() {
    #expect(DeviceAddress("unix:lamp.sock", in: "/home/me") == .unix("/home/me/lamp.sock"))
    #expect(DeviceAddress("unix:./lamp.sock", in: "/home/me") == .unix("/home/me/lamp.sock"))
    #expect(DeviceAddress("unix:../lamp.sock", in: "/home/me") == .unix("/home/me/../lamp.sock"))
    for text in ["", "unix:", "unix:a\0b", "lamp.sock", "./acc", "tcp:host"] {
      #expect(DeviceAddress(text, in: "/home/me") == nil, "\(text)")
    }
  }

  /// As people type it, and as other programs write it.
  @Test func theOtherFormsOfANodesAddressAreAccepted() {
    for text in ["esphome:box", "esphome://box/", "esphome://box:6053", "esphome:box:6053/"] {
      #expect(DeviceAddress(text)?.description == "esphome://box", "\(text)")
    }
    #expect(DeviceAddress("esphome://box/P1 meter")?.description == "esphome://box/P1%20meter")
    #expect(DeviceAddress("esphome://box/" + String(repeating: "x", count: 121)) == nil)
  }

  @Test func theOtherFormsOfABluetoothAddressAreAccepted() {
    #expect(DeviceAddress("ble:AABBCCDDEE0F")?.description == "ble:AA:BB:CC:DD:EE:0F")
    #expect(DeviceAddress("ble:aa:bb:cc:dd:ee:0f")?.description == "ble:AA:BB:CC:DD:EE:0F")
    #expect(BluetoothAddress("01:02:03:04:05:06")?.bytes == [1, 2, 3, 4, 5, 6])
  }

  /// One device has the address, whichever adapter connects it.
  @Test func theAdapterIsNoPartOfTheIdentity() throws {
    let place = try #require(DeviceAddress("rfcomm:hci1/00:16:53:4A:FF:09/3"))
    #expect(place.ofAnyAdapter.description == "rfcomm:00:16:53:4A:FF:09/3")
    let (one, other) = (Device(place, source: .named), Device(place.ofAnyAdapter, source: .named))
    #expect(one.id == other.id && one.isSame(as: other) && one.places == other.places && one.place != other.place)
    #expect(other.by(place.adapter) == one && one.by(BluetoothAdapterName("hci2")) == one)
    #expect(Device(.node("/dev/ttyS0"), source: .udev).by(place.adapter).address == .terminal("/dev/ttyS0"))
  }

  @Test func everyAddressHasItsTransport() throws {
    let place = NetworkAddress(host: "box", port: 1)
    let radio = try #require(BluetoothAddress("01:02:03:04:05:06"))
    let addresses: [DeviceAddress] = [
      .terminal("/dev/ttyS0"), .usb("/dev/bus/usb/001/002"), .hidraw("/dev/hidraw0"), .hidText("/dev/hidraw0"),
      .powerSupply("BAT0"), .tcp(place), .rfc2217(place), .esphome(ESPHomeAddress(node: place)), .unix("/x"),
      .ble(radio), .rfcomm(radio, channel: nil),
    ]
    #expect(addresses.map(\.transport) == TransportKind.allCases)
    #expect(
      addresses.map(\.transport.rawValue) == [
        "tty", "usb", "hidraw", "hid-text", "power_supply", "tcp", "rfc2217", "esphome", "unix", "ble", "rfcomm",
      ])
    #expect(TransportKind.allCases.filter(\.isNetwork) == [.tcp, .rfc2217, .esphome])
    #expect(TransportKind.allCases.filter(\.isConnection) == [.tcp, .unix, .ble, .rfcomm])
    #expect(DeviceAddress("/dev/hidraw3") == .hidraw("/dev/hidraw3"))
  }

  /// A node of hidraw has two: its reports, and the text in them, which somebody must ask for.
  @Test func textInHIDReportsIsNamedByItsScheme() {
    let text = DeviceAddress.hidText("/dev/hidraw3")
    #expect(DeviceAddress("hid-text:/dev/hidraw3") == text)
    #expect(text.description == "hid-text:/dev/hidraw3" && text.node == "/dev/hidraw3" && text.file == text.node)
    #expect(!text.transport.mustBeNamed && !text.transport.isConnection)
    for wrong in ["hid-text:", "hid-text:hidraw3", "hid-text:/dev/\0"] { #expect(DeviceAddress(wrong) == nil) }
    #expect(DeviceAddress("hid-text:hidraw3", in: "/dev") == nil)
  }

  /// A device of which only its reports are known to have the form is opened by USB, if it can be, and is no accessory for that.
  @Test func aDeviceThatMayCarryTextIsOpenedSoOnlyIfAsked() {
    var device = Device(
      .usb("/dev/bus/usb/001/002"), source: .udev,
      usb: USBIdentity(
        vendorID: 0x0665, productID: 0x5161, bus: 1, address: 2, node: "/dev/bus/usb/001/002", port: "1-1"))
    #expect(device.choosing(.hidText) == nil)
    device.hid = HIDIdentity(node: "/dev/hidraw3", applications: [0xFF00_0001], mayCarryText: true)
    #expect(device.transports == [.hidText])
    #expect(!device.mayBeAccessory)
    #expect(device.choosing(.hidText)?.address == .hidText("/dev/hidraw3"))
    device.hid = HIDIdentity(node: "/dev/hidraw3", applications: [0x0084_0004])
    #expect(device.transports == [.hidraw])
  }

  @Test func aPowerSupplyIsNamedByItsFolderOrItsName() {
    let battery = DeviceAddress.powerSupply("BAT0")
    #expect(DeviceAddress("power_supply:BAT0") == battery)
    #expect(DeviceAddress("/sys/class/power_supply/BAT0") == battery)
    #expect(DeviceAddress(battery.description) == battery)
    #expect(battery.node == nil && battery.file == nil)
    #expect(!battery.transport.mustBeNamed && !battery.transport.isConnection)
    #expect(Device(battery, source: .udev).id == "BAT0")
    // The name becomes a part of a path.
    for wrong in ["", ".", "..", "../../etc/passwd", "a/b", "a\0b", String(repeating: "x", count: 256)] {
      #expect(DeviceAddress("power_supply:" + wrong) == nil)
      if !wrong.isEmpty, case .powerSupply = DeviceAddress.node("/sys/class/power_supply/" + wrong) {
        Issue.record("a power supply: \(wrong)")
      }
    }
  }

  @Test func addressesAreSortedByTheirText() {
    let addresses: [DeviceAddress] = [.usb("/dev/bus/usb/001/002"), .terminal("/dev/ttyS0"), .terminal("/dev/ttyACM1")]
    #expect(addresses.sorted() == [addresses[0], addresses[2], addresses[1]])
  }
}
