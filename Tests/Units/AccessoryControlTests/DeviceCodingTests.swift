// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

/// A device as a service tells of it.
@Suite struct DeviceCodingTests {
  private static func told(_ device: Device) throws -> Device { try JSON(encoding: device).decoded() }

  /// A device on USB, without a terminal.
  private static func onUSB() -> Device {
    let endpoints = [0x81, 0x02].map { address in
      USBEndpointDescription(
        address: address, transfer: .bulk, maxPacketSize: 512, packetsPerInterval: 1, interval: 0)
    }
    let usb = USBIdentity(
      vendorID: 0x1209, productID: 1, bus: 1, address: 2, node: "/dev/bus/usb/001/002", port: "1-1", speed: 480,
      interfaces: [
        USBInterface(
          description: USBInterfaceDescription(
            number: 0, alternateSetting: 0, function: USBClass(code: 0xFF), endpoints: endpoints), driver: "usbfs")
      ])
    var device = Device(
      .usb(usb.node), source: .udev, name: "Thing", manufacturer: "Maker", serialNumber: "A1", usb: usb)
    device.links = ["/dev/one"]
    return device
  }

  /// One without a terminal is an accessory by its endpoints, and must still be one at the other end.
  @Test func aDeviceOnUSBIsTheSameAfterwards() throws {
    let told = try Self.told(Self.onUSB())
    #expect(told == Self.onUSB())
    #expect(told.mayBeAccessory && told.transports == [.usb])
  }

  /// Only this machine's service knows that the accessory is several devices.
  @Test func theServicesIdentityIsKept() throws {
    var device = Self.onUSB()
    device.usb?.terminalInterface = 1
    #expect(device.id == "A1-if01")
    let told = try Self.told(device.onLine(unit: 2))
    #expect(told.id == "A1-if01@2" && told.place == device.place + "@2")
    #expect(told.line.id == "A1-if01" && told.onLine(unit: 3).id == "A1-if01@3")
    #expect(try Self.told(told).id == told.id)
  }

  /// A service of a later version may name what this one doesn't know.
  @Test func unknownWordsOfALaterService() throws {
    var fields = try #require(try JSON(encoding: Self.onUSB()).fields)
    fields["source"] = .string("cloud")
    fields["ways"] = .array([.string("light"), .string("usb")])
    fields["colour"] = .string("red")
    let told: Device = try JSON.object(fields).decoded()
    #expect(told.source == .named && told.transports == [.usb])
    #expect(try JSON(encoding: told).fields?["ways"] == fields["ways"])
  }

  /// With these numbers in place of a valid one, a reply is refused.
  @Test(arguments: [
    ("\"bus\":1", "\"bus\":-1"), ("\"address\":2,", "\"address\":9007199254740993,"),
    ("\"speed_mbps\":480", "\"speed_mbps\":-1e300"), ("\"max_packet_bytes\":512", "\"max_packet_bytes\":-512"),
    ("\"vendor_id\":4617", "\"vendor_id\":70000"),
  ])
  func numbersBeyondTheirLimits(valid: String, invalid: String) throws {
    let text = String(decoding: try JSON(encoding: Self.onUSB()).bytes, as: UTF8.self)
    #expect(text.contains(valid))
    #expect(throws: (any Error).self) {
      let _: Device = try JSON(Array(text.replacing(valid, with: invalid).utf8)).decoded()
    }
  }

  /// An old service may tell nothing but the path. The terminal is there all the same, and isn't published as told.
  @Test func nothingButAPath() throws {
    let text = #"{"id":"X1","path":"/dev/ttyUSB0","source":"udev","links":[],"ways":[],"initialized":true}"#
    let told: Device = try JSON(Array(text.utf8)).decoded()
    #expect(told.mayBeAccessory && told.transports == [.terminal] && told.terminal == nil)
    #expect(told.isSame(as: Device(.terminal("/dev/ttyUSB0"), source: .udev)))
    #expect(try JSON(encoding: told) == JSON(Array(text.utf8)))
  }

  /// The path leads to the same place again, whatever kind of address it is.
  @Test(arguments: ["/dev/ttyUSB0", "tcp:pack.local:4000", "rfc2217:[::1]:7000", "unix:/run/pack", "no/address"])
  func paths(path: String) throws {
    let device = Device(id: "A", path: path, source: .named)
    #expect(try JSON(encoding: device).fields?["path"] == .string(path))
    #expect(try Self.told(device) == device)
  }
}
