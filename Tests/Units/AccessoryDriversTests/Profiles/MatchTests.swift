// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import FamilyHIDPower
import Testing

@testable import AccessoryDrivers

/// Which profile a device has.
@Suite struct MatchTests {
  private func device(
    _ vendor: UInt16 = 0x2341, _ product: UInt16 = 0x0043, name: String? = "Uno", serial: String? = "A1",
    class code: UInt8 = 0xFF, terminal: String? = "/dev/ttyACM0"
  ) -> Device {
    var usb = USBIdentity(
      vendorID: vendor, productID: product, bus: 1, address: 2, node: "/dev/bus/usb/001/002", port: "1-1",
      devpath: "/devices/usb1/1-1", function: USBClass(code: 0))
    let pair = [0x81, 0x02].map { address in
      USBEndpointDescription(
        address: address, transfer: .bulk, maxPacketSize: 64, packetsPerInterval: 1, interval: 0)
    }
    usb.interfaces = [
      USBInterface(
        description: USBInterfaceDescription(
          number: 0, alternateSetting: 0, function: USBClass(code: code), endpoints: pair))
    ]
    var device = Device(
      .node(terminal ?? usb.node), source: .udev, name: name, manufacturer: "Arduino", serialNumber: serial,
      terminal: terminal, usb: usb)
    device.links = ["/dev/serial/by-id/usb-Arduino_Uno_A1-if00", "/dev/serial/by-path/pci-0-usb-0:1:1.0"]
    return device
  }

  @Test(
    arguments: [
      ("", "", true), ("", "a", false), ("a", "a", true), ("a", "ab", false), ("a*", "ab", true), ("*b", "ab", true),
      ("*", "", true), ("a*c*e", "abcde", true), ("a*c*e", "abde", false), ("*ab*ab", "abab", true),
      ("*ab*ab", "abxb", false), ("**x", "yx", true), ("a?", "ab", false), ("[ab]", "a", false), ("ü*", "über", true),
    ] as [(String, String, Bool)])
  func onlyStarsInAPatternStandForOthers(pattern: String, text: String, fits: Bool) {
    #expect(TextPattern(pattern).fits(text) == fits)
  }

  /// Patterns made to take long do not.
  @Test func aPatternOfManyStarsIsMatchedQuickly() {
    let pattern = TextPattern(String(repeating: "a*", count: 128) + "b")
    #expect(!pattern.fits(String(repeating: "a", count: 4_096)))
  }

  /// A UPS and a serial port in one USB device: the port's profile isn't the UPS's, and the other way round.
  @Test func eachOfTheAccessoriesOfADeviceHasItsOwnProfile() throws {
    let port = device()
    var ups = device(terminal: nil)
    ups.usb?.terminalInterface = 2
    ups.hid = HIDIdentity(node: "/dev/hidraw0", applications: [0x0084_0004])
    ups.address = .hidraw("/dev/hidraw0")
    func profile(_ text: String) throws -> Profile {
      try ProfileReader.read(Array(text.utf8), file: "test", drivers: .builtIn)
    }
    let ids = "match: {usb: {vendor: 2341, product: 0043}}"
    let prefers = try profile("{name: a, \(ids), driver: hid-power, transport: {prefer: hidraw}}")
    let asks = try profile("{name: b, \(ids), driver: hid-power}")
    let bytes = try profile("{name: c, \(ids), driver: framed}")
    for own in [prefers, asks] {
      #expect(ProfileStore([own]).profile(for: ups)?.name == own.name)
      #expect(ProfileStore([own]).profile(for: port) == nil)
    }
    #expect(ProfileStore([bytes]).profile(for: port)?.name == "c")
    #expect(ProfileStore([bytes]).profile(for: ups) == nil)
    #expect(ProfileStore([bytes, .hidPower]).profile(for: ups)?.name == "hid-power")
    // A UPS that is alone in its device may have any profile.
    ups.usb?.terminalInterface = nil
    #expect(ProfileStore([bytes]).profile(for: ups)?.name == "c")
  }

  @Test func everyPartOfARuleMustFit() {
    let board = device()
    let fitting: [DeviceRule] = [
      DeviceRule(usbVendor: 0x2341), DeviceRule(usbVendor: 0x2341, usbProduct: 0x43),
      DeviceRule(interfaceClass: 0xFF), DeviceRule(name: "U*"), DeviceRule(manufacturer: "Arduino"),
      DeviceRule(serialNumber: "A1"), DeviceRule(byID: "usb-Arduino_*-if00"),
      DeviceRule(name: "Uno", serialNumber: "*1", usbVendor: 0x2341, interfaceClass: 0xFF),
    ]
    for rule in fitting { #expect(rule.fits(board), "\(rule)") }
    let others: [DeviceRule] = [
      DeviceRule(), DeviceRule(usbVendor: 0x2342), DeviceRule(usbVendor: 0x2341, usbProduct: 0x44),
      DeviceRule(interfaceClass: 2), DeviceRule(name: "u*"), DeviceRule(manufacturer: "ARDUINO"),
      DeviceRule(serialNumber: "A"), DeviceRule(driver: "framed"), DeviceRule(model: "*"),
      DeviceRule(byID: "usb-Other_*"), DeviceRule(byID: "pci-*"), DeviceRule(serialNumber: "A1", usbVendor: 1),
    ]
    for rule in others { #expect(!rule.fits(board), "\(rule)") }
    #expect(!DeviceRule(serialNumber: "*").fits(device(serial: nil)), "what isn't known fits nothing")
  }

  @Test func theMostSpecificWins() {
    let store = ProfileStore([
      Profile(name: "vendor", rules: [DeviceRule(usbVendor: 0x2341)]),
      Profile(name: "product", rules: [DeviceRule(usbVendor: 0x2341, usbProduct: 0x43)]),
      Profile(name: "named", rules: [DeviceRule(name: "Uno*", usbVendor: 0x2341)]),
      Profile(name: "pattern", rules: [DeviceRule(serialNumber: "B*")]),
      Profile(name: "one", rules: [DeviceRule(usbVendor: 9), DeviceRule(serialNumber: "B1")]),
      Profile(name: "late", rules: [DeviceRule(serialNumber: "B1")]),
    ])
    #expect(store.profile(for: device(name: "Due", serial: nil))?.name == "product")
    #expect(store.profile(for: device(0x2341, 1, name: "Due", serial: nil))?.name == "vendor")
    #expect(store.profile(for: device(name: "Uno R3"))?.name == "named")
    #expect(store.profile(for: device(serial: "B2"))?.name == "pattern")
    #expect(store.profile(for: device(serial: "B1"))?.name == "one", "of two that say as much the first")
    #expect(store.profile(for: device(1, 1, name: nil)) == nil)
  }

  @Test func aTieOfDifferentProtocolsIsAConflict() throws {
    func profile(_ name: String, _ driver: String?, name pattern: TextPattern? = nil) -> Profile {
      Profile(name: name, rules: [DeviceRule(name: pattern, serialNumber: "A1")], driver: driver)
    }
    var store = ProfileStore([profile("cellar", "jbd"), profile("roof", "daly"), profile("barn", "jbd")])
    #expect(store.profile(for: device()) == nil, "nobody knows what it speaks")
    let error = try #require(store.conflict(for: device(), label: "ttyACM0"))
    #expect(error.kind == .misconfigured)
    #expect(error.message.contains("match ttyACM0 equally well"))
    #expect(error.message.contains("cellar (jbd) and roof (daly)"))
    #expect(store.conflict(for: device(serial: "A2"), label: "x") == nil)
    // One that says more is right.
    store.register(profile("more", "pi30", name: "Uno"))
    #expect(store.profile(for: device())?.name == "more" && store.conflict(for: device(), label: "x") == nil)
    // Those of one protocol don't contradict each other; one that names no driver says something else.
    let same = ProfileStore([profile("cellar", "jbd"), profile("barn", "jbd")])
    #expect(same.profile(for: device())?.name == "cellar" && same.conflict(for: device(), label: "x") == nil)
    let bytes = ProfileStore([profile("cellar", "jbd"), profile("mine", nil)])
    #expect(bytes.profile(for: device()) == nil)
    #expect(bytes.conflict(for: device(), label: "x")?.message.contains("mine (no driver)") == true)
  }

  /// Who writes a profile for what a built-in one fits, too, means it.
  @Test func aBuiltInProfileGivesWay() {
    let device = Device(.node("/dev/pts/9"), source: .simulator, driver: "framed", serialNumber: "SIM0001")
    var store = ProfileStore.builtIn
    #expect(store.profile(for: device)?.name == "framed")
    store.register(Profile(name: "mine", rules: [DeviceRule(driver: "framed")], driver: "jbd"))
    #expect(store.profile(for: device)?.name == "mine" && store.conflict(for: device, label: "x") == nil)
    store.register(Profile(name: "other", rules: [DeviceRule(driver: "framed")], driver: "daly"))
    #expect(store.profile(for: device) == nil)
    #expect(
      store.conflict(for: device, label: "x")?.message.contains("other (daly) and mine (jbd)") == true)
  }

  /// A terminal and the USB device it is a part of are one device, and so one accessory; the profile says which way in.
  @Test func oneAccessoryHasOneProfileAndOneWay() throws {
    var profile = Profile(name: "x", rules: [DeviceRule(serialNumber: "A1"), DeviceRule(usbVendor: 0x2341)])
    let board = device()
    #expect(board.transports == [.terminal, .usb])
    #expect(profile.choosingTransport(board).address.node == "/dev/ttyACM0")
    profile.transport.preferredTransport = .usb
    #expect(profile.choosingTransport(board).address.node == "/dev/bus/usb/001/002")
    profile.transport.preferredTransport = .terminal
    let bare = device(terminal: nil)
    #expect(profile.choosingTransport(bare) == bare, "a wish, where there is a choice")
    // Known by either of its nodes, it is the same device.
    for way in board.transports {
      let chosen = try #require(board.choosing(way))
      #expect(chosen.id == board.id)
      #expect(ProfileStore([profile]).profile(for: chosen) == profile)
    }
  }

  // MARK: - Generic chips

  @Test(arguments: GenericChip.all)
  private func aChipsNumbersAloneMatchTooMuch(chip: GenericChip) {
    let vendor = chip.vendor
    let refused: [DeviceRule] = [
      DeviceRule(usbVendor: vendor), DeviceRule(usbVendor: vendor, usbProduct: chip.product),
      DeviceRule(usbVendor: vendor, usbProduct: chip.product, interfaceClass: 0xFF),
      DeviceRule(manufacturer: "Acme", usbVendor: vendor, usbProduct: chip.product),
      DeviceRule(serialNumber: "*", usbVendor: vendor, usbProduct: chip.product),
      DeviceRule(name: "**", usbVendor: vendor, byID: "*"),
    ]
    for rule in refused { #expect(rule.overreachProblem != nil, "\(rule)") }
    let taken: [DeviceRule] = [
      DeviceRule(serialNumber: "A9*", usbVendor: vendor, usbProduct: chip.product),
      DeviceRule(name: "Acme Gadget", usbVendor: vendor, usbProduct: chip.product),
      DeviceRule(usbVendor: vendor, usbProduct: chip.product, byID: "usb-Acme_Gadget_*"),
    ]
    for rule in taken { #expect(rule.overreachProblem == nil, "\(rule): \(rule.overreachProblem ?? "")") }
  }

  /// What the factory wrote into the chip says no more than its numbers.
  @Test func aChipsStockStringsMatchTooMuch() {
    let refused: [DeviceRule] = [
      DeviceRule(manufacturer: "FTDI"), DeviceRule(name: "FT232R USB UART", usbVendor: 0x0403, usbProduct: 0x6001),
      DeviceRule(name: "*USB*"), DeviceRule(serialNumber: "0001", usbVendor: 0x10C4, usbProduct: 0xEA60),
      DeviceRule(byID: "usb-FTDI_FT232R_USB_UART_*"), DeviceRule(byID: "usb-1a86_USB_Serial-if00-port0"),
      DeviceRule(byID: "usb-*-if00*"), DeviceRule(interfaceClass: 0xFF), DeviceRule(name: "*"),
      DeviceRule(manufacturer: "*", model: "*"),
    ]
    for rule in refused { #expect(rule.overreachProblem != nil, "\(rule)") }
    let taken: [DeviceRule] = [
      DeviceRule(byID: "usb-FTDI_FT232R_USB_UART_A9*"), DeviceRule(manufacturer: "Acme"), DeviceRule(driver: "framed"),
      DeviceRule(usbVendor: 0x2341), DeviceRule(serialNumber: "A1"),
    ]
    for rule in taken { #expect(rule.overreachProblem == nil, "\(rule): \(rule.overreachProblem ?? "")") }
  }

  /// A place fits whatever is there, by the node or a link to it, and says less than a serial number.
  @Test func aPathMatchesANodeAndItsLinks() throws {
    let byPath = "/dev/serial/by-path/pci-0000:00:14.0-usb-0:1.4:1.0-port0"
    var device = Device(.terminal("/dev/ttyUSB3"), source: .udev, serialNumber: "A1")
    device.links = [byPath]
    for path in ["/dev/ttyUSB3", byPath] { #expect(DeviceRule(path: path).fits(device), "\(path)") }
    #expect(!DeviceRule(path: "/dev/ttyUSB").fits(device) && !DeviceRule(serialNumber: "A2", path: byPath).fits(device))
    #expect(DeviceRule(path: "/dev/ttyUSB0").overreachProblem == nil)
    #expect(DeviceRule(path: byPath).specificity.lexicographicallyPrecedes(DeviceRule(serialNumber: "A1").specificity))
    let text = "name: x\nmatch: {path: \(byPath)}\ndriver: framed\n"
    let profile = try ProfileReader.read(Array(text.utf8), file: "f")
    #expect(profile.rules == [DeviceRule(path: byPath)])
    #expect(try ProfileReader.read(Array(ProfileText.text(profile).utf8), file: "f") == profile)
    for path in ["ttyUSB0", "/dev/ttyUSB*", "/sys/x"] {
      let wrong = "name: x\nmatch: {path: \"\(path)\"}\n"
      #expect(throws: ProfileProblems.self) { try ProfileReader.read(Array(wrong.utf8), file: "f") }
    }
  }

  @Test func aRuleThatMatchesTooMuchIsReported() throws {
    let text = "name: x\nmatch:\n  - serial: A\n  - usb: {vendor: 0403, product: 6001}\n"
    let error = #expect(throws: ProfileProblems.self) { try ProfileReader.read(Array(text.utf8), file: "f") }
    let problem = try #require(error?.problems.first)
    #expect(error?.problems.count == 1)
    #expect(problem.line == 4 && problem.column == 5)
    for word in ["FT232", "serial", "product string", "by_id"] { #expect(problem.message.contains(word)) }
  }
}
