// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import SystemPackage
import TestSupport
import Testing

@testable import AccessoryDrivers

/// The profile of what was found: it fits its adapter, and no other.
struct IdentifiedProfileTests {
  private func device(serial: String? = nil, links: [String] = [], vendor: UInt16 = 0x1A86) -> Device {
    var device = Device(.terminal("/dev/ttyUSB0"), source: .udev, serialNumber: serial, terminal: "/dev/ttyUSB0")
    device.links = links
    return device
  }

  private func profile(
    _ kind: String, at device: Device, rate: UInt32? = nil, others: [Device] = [], name: String? = nil
  ) throws -> (IdentifiedProfile, Profile) {
    var line = TerminalSettings()
    line.baudRate = rate ?? 9_600
    let find = IdentificationFind(kind: kind, step: 1, line: line, facts: [])
    let made = try #require(IdentifiedProfile(find, at: device, among: others, name: name, drivers: .builtIn))
    return (made, try ProfileReader.read(Array(made.text.utf8), file: "test"))
  }

  @Test func aProfileNamesTheSerialNumber() throws {
    let (made, profile) = try profile(
      "jbd", at: device(serial: "A50285BI", links: ["/dev/serial/by-id/usb-FTDI_x-if00"]))
    #expect(made.name == "my-jbd" && made.warning == nil && profile.driver == "jbd" && profile.baudRate == 9_600)
    #expect(profile.rules.map(\.serialNumber) == ["A50285BI"] && profile.rules[0].byID == nil)
    #expect(!made.text.contains("baud"), "the description says it: \(made.text)")
    let (other, faster) = try self.profile("jbd", at: device(serial: "A50285BI"), rate: 19_200, name: "cellar")
    #expect(other.name == "cellar" && faster.baudRate == 19_200)
  }

  @Test func aProfileNamesTheLinkOrPlaceOtherwise() throws {
    let twin = device(serial: "0001")
    var other = twin
    (other.address, other.terminal) = (.terminal("/dev/ttyUSB1"), "/dev/ttyUSB1")
    let byID = "/dev/serial/by-id/usb-1a86_USB_Serial_77-if00-port0"
    let byPath = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1.4:1.0-port0"
    var named = twin
    named.links = [byID, byPath]
    let (_, named1) = try profile("daly", at: named, others: [other])
    #expect(named1.rules[0].byID == "usb-1a86_USB_Serial_77-if00-port0")
    // The factory's name is every CH340's.
    let (placed, placed1) = try profile(
      "daly", at: device(links: ["/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0", byPath]))
    #expect(placed1.rules[0].path == byPath && placed.warning?.contains("daly") == true)
    let (bare, bare1) = try profile("daly", at: device())
    #expect(bare1.rules[0].path == "/dev/ttyUSB0" && bare.warning != nil)
    #expect(bare1.rules[0].fits(device()) && !bare1.rules[0].fits(other))
  }

  @Test func aProfileNamesADriverInSwift() throws {
    let (made, profile) = try profile("hm10", at: device(serial: "X1"))
    #expect(profile.driver == "hm10" && profile.baudRate == 9_600 && made.text.contains("driver: hm10"))
    let (_, robot) = try self.profile("bluno", at: device(serial: "X1"), rate: 115_200)
    #expect(robot.settle == .seconds(2))
  }

  /// What an adapter says of itself is only a text, and a connection has nothing to go by.
  @Test func aHostileSerialNumberMakesNoRule() throws {
    let serial = "a\"\n  - x: #\u{1B}[2J"
    let (_, profile) = try profile("jbd", at: device(serial: serial))
    #expect(
      profile.rules.count == 1 && profile.rules[0].fits(device(serial: serial)), "by its place: such a serial is none")
    let find = IdentificationFind(kind: "jbd", step: 1, facts: [])
    let address = try #require(DeviceAddress("tcp:box:4000"))
    #expect(IdentifiedProfile(find, at: Device(address, source: .named), drivers: .builtIn) == nil)
  }

  @Test func aProfileIsNeverWrittenOverAFile() throws {
    let folder = try TemporaryDirectory()
    let path = folder.path + "/a/b/my.yaml"
    try ConfigurationFolder.writeNew([1, 2], to: path)
    #expect(throws: Errno.fileExists) { try ConfigurationFolder.writeNew([3], to: path) }
    #expect(try SmallFile.read(path, limit: 10) == [1, 2])
    #expect(folder.names(in: "a/b") == ["my.yaml"], "nothing is left beside it")
  }
}
