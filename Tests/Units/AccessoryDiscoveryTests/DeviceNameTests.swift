// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

@testable import AccessoryDiscovery

@Suite struct DeviceNameTests {
  static let red = Device(.node("/dev/pts/9991"), source: .simulator, name: "Red gadget", serialNumber: "X-1")
  static let blue = Device(.node("/dev/pts/9992"), source: .simulator, name: "Blue gadget", serialNumber: "X-10")
  static let plain = Device(.node("/dev/pts/9993"), source: .simulator)

  private func resolve(_ text: String?, _ devices: Device...) throws -> Device {
    try DeviceName(text).device(among: devices)
  }

  @Test func withoutANameTheOnlyDeviceIsMeant() throws {
    #expect(try resolve(nil, Self.red) == Self.red)
    #expect(throws: ResolutionError.noDevices) { try resolve(nil) }
    #expect(throws: ResolutionError.ambiguous(nil, [Self.red, Self.blue])) { try resolve(nil, Self.red, Self.blue) }
  }

  @Test func batteriesOfTheKernelAreMeantOnlyWhereNothingElseIs() throws {
    func supply(_ name: String, kind: String = "Battery", ofDevice: Bool = false) -> Device {
      var device = Device(.powerSupply(name), source: .udev)
      device.supply = PowerSupplyIdentity(kind: kind, isOfDevice: ofDevice)
      return device
    }
    let (own, mouse, charger) = (supply("BAT0"), supply("mouse", ofDevice: true), supply("AC", kind: "Mains"))
    #expect(try resolve(nil, own, charger) == own)
    #expect(try resolve(nil, mouse, charger) == mouse)
    #expect(try resolve(nil, own, mouse) == own)
    #expect(try resolve(nil, own, mouse, Self.plain) == Self.plain)
    #expect(throws: ResolutionError.noDevices) { try resolve(nil, charger) }
    let second = supply("BAT1")
    #expect(throws: ResolutionError.ambiguous(nil, [own, second])) { try resolve(nil, own, second) }
    // A mouse has a serial number, and its name in the folder, too.
    var numbered = mouse
    numbered.serialNumber = "9f-12"
    for text in ["9f-12", "mouse", "mou"] { #expect(try resolve(text, own, numbered) == numbered) }
    for text in ["BAT0", "BAT", "power_supply:BAT0"] { #expect(try resolve(text, own, mouse) == own) }
    #expect(try resolve("AC", own, charger) == charger)
  }

  @Test(arguments: ["X-1", "Red gadget", "Red", "R", "/dev/pts/9991x"])
  func aDeviceIsFoundByEachOfItsNames(text: String) throws {
    if text.hasPrefix("/") {
      #expect(throws: ResolutionError.noMatch(text, like: ["/dev/pts/9991"])) { try resolve(text, Self.red, Self.blue) }
    } else {
      #expect(try resolve(text, Self.red, Self.blue, Self.plain) == Self.red)
    }
  }

  /// "X-1" is a whole serial number and the beginning of another.
  @Test func aWholeNameGoesBeforeABeginning() throws {
    #expect(try resolve("X-1", Self.blue, Self.red) == Self.red)
    #expect(try resolve("X-10", Self.blue, Self.red) == Self.blue)
    #expect(throws: ResolutionError.ambiguous("X-", [Self.red, Self.blue])) { try resolve("X-", Self.red, Self.blue) }
  }

  @Test func twoWithTheSameName() {
    var other = Self.blue
    other.name = Self.red.name
    #expect(throws: ResolutionError.ambiguous("Red gadget", [Self.red, other])) {
      try resolve("Red gadget", Self.red, other)
    }
  }

  /// A device without a serial number goes by its path.
  @Test func withoutASerialNumberThePathIsTheName() {
    #expect(Self.plain.id == Self.plain.address.description)
    var empty = Self.plain
    empty.serialNumber = ""
    #expect(empty.id == Self.plain.address.description)
    #expect(Self.red.id == "X-1")
  }

  @Test func aNameThatNobodyHasIsAnError() {
    for text in ["Y", "x-1", "no such thing", "/no/such/path", ""] {
      #expect(throws: ResolutionError.self) { try resolve(text, Self.red, Self.blue) }
    }
  }

  // MARK: - Units

  @Test func unitsOfALineAreNamedByNumber() throws {
    let units = [1, 2, 5].map { Self.red.onLine(unit: $0) }
    #expect(units.map(\.id) == ["X-1@1", "X-1@2", "X-1@5"])
    #expect(units[1].place == "/dev/pts/9991@2")
    #expect(!units[0].isSame(as: units[1]) && units[0].isOnLine(of: units[1]))
    let all = units + [Self.blue]
    for text in ["X-1@2", "/dev/pts/9991@2", "pts/9991@2", "Red gadget@2", "Red@2"] {
      #expect(try DeviceName(text).device(among: all) == units[1], "\(text)")
      #expect(try DeviceName(text, lookingAtFiles: false).device(among: all) == units[1], "\(text)")
    }
    for text in ["X-1@7", "/dev/pts/9991@7"] {
      let error = #expect(throws: ResolutionError.self) { try DeviceName(text).device(among: all) }
      #expect(error?.description == "there is no unit 7 on X-1; its units are 1, 2, 5")
    }
    for text in ["X-1", "/dev/pts/9991"] {
      let error = #expect(throws: ResolutionError.self) {
        try DeviceName(text, lookingAtFiles: false).device(among: all)
      }
      #expect(
        error?.description == "there are several accessories on \(text), say which: X-1@1, X-1@2, X-1@5")
    }
    #expect(try DeviceName("X-1").device(among: [units[2], Self.blue]) == units[2])
  }

  /// A line of which nobody says which units there are may have any, and so may a path that nobody knows.
  @Test func anyUnitOfAnUnknownLineMayBeNamed() throws {
    #expect(try resolve("X-1@3", Self.red, Self.blue) == Self.red.onLine(unit: 3))
    #expect(
      try resolve("tcp:host:502@3") == Device(.tcp(.init(host: "host", port: 502)), source: .named).onLine(unit: 3))
    #expect(try resolve("/dev/null@3").place == "/dev/null@3")
    #expect(throws: ResolutionError.noMatch("nobody@3")) { try resolve("nobody@3", Self.red) }
    #expect(throws: ResolutionError.noMatch("X-1@", like: ["X-1"])) { try resolve("X-1@", Self.red) }
    #expect(throws: ResolutionError.noMatch("X-1@70000")) { try resolve("X-1@70000", Self.red) }
    #expect(throws: ResolutionError.noMatch("@3")) { try resolve("@3", Self.red) }
  }

  /// A name may end like a unit.
  @Test func aNameMayEndLikeAUnit() throws {
    let odd = Device(.node("/dev/pts/9994"), source: .simulator, serialNumber: "X-1@2")
    #expect(try resolve("X-1@2", Self.red, odd) == odd)
    let directory = try TemporaryDirectory()
    #expect(mkfifo(directory.path + "/node@2", 0o600) == 0)
    #expect(try resolve(directory.path + "/node@2").address == .node(directory.path + "/node@2"))
  }

  // MARK: - Paths

  @Test func aDeviceIsFoundByPathsAndLinks() throws {
    let directory = try TemporaryDirectory()
    let node = directory.path + "/node"
    #expect(mkfifo(node, 0o600) == 0 && symlink("node", directory.path + "/link") == 0)
    #expect(symlink("link", directory.path + "/second") == 0)
    let known = Device(.node(node), source: .simulator, serialNumber: "N")
    for name in ["node", "link", "second", "./link", "../" + directory.path.split(separator: "/").last! + "/link"] {
      #expect(try resolve(directory.path + "/" + name, Self.red, known) == known)
    }
    #expect(try resolve(node, Self.red) == Device(.node(node), source: .named))
    let link = directory.path + "/second"
    #expect(try resolve(link, Self.red) == Device(.node(node), link: link, source: .named))
  }

  /// What a path's beginning would fit is still another device.
  @Test func aPathIsNeverABeginning() {
    #expect(throws: ResolutionError.noDevice("/etc/passwd", kind: "file")) { try resolve("/etc/passwd", Self.red) }
    #expect(throws: ResolutionError.noMatch("/dev/pts/999", like: ["/dev/pts/9991"])) {
      try resolve("/dev/pts/999", Self.red)
    }
  }

  /// A node's path and its name below /dev say the same: open this node, whatever transport a profile prefers.
  @Test func aNodeChoosesTheTransport() throws {
    for text in ["/dev/ttyACM977", "ttyACM977", "/dev/serial/by-id/usb-Lamp_A1-if00"] {
      #expect(DeviceName(text).choosesTransport(of: Self.lamp), "\(text)")
    }
    #expect(DeviceName("ttyACM977@3").choosesTransport(of: Self.lamp.onLine(unit: 3)))
    for text in ["A1", "Lamp", "usb:0ab3:0043", nil] {
      #expect(!DeviceName(text).choosesTransport(of: Self.lamp), "\(text ?? "nothing")")
    }
  }

  @Test func aNodeIsFoundByItsNameBelowDev() throws {
    #expect(try resolve("null", Self.red) == Device(.node("/dev/null"), source: .named))
    #expect(try resolve("pts/ptmx", Self.red) == Device(.node("/dev/pts/ptmx"), source: .named))
  }

  /// An accessory's own name goes before a file's.
  @Test func anAccessoryGoesBeforeAFile() throws {
    var device = Self.red
    device.name = "null"
    #expect(try resolve("null", device, Self.blue) == device)
    #expect(try resolve("/dev/null", device, Self.blue) == Device(.node("/dev/null"), source: .named))
  }

  @Test func aBrokenLinkMatchesNothing() throws {
    let directory = try TemporaryDirectory()
    #expect(symlink("gone", directory.path + "/link") == 0)
    #expect(throws: ResolutionError.noMatch(directory.path + "/link")) { try resolve(directory.path + "/link") }
    // In a circle there is something, only it can't be opened: opening says so.
    #expect(symlink("circle", directory.path + "/circle") == 0)
    #expect(try resolve(directory.path + "/circle").address.node == directory.path + "/circle")
  }

  // MARK: - Sockets

  @Test func socketsAreFoundByTheirPaths() throws {
    let lamp = Device(.unix("/run/lamp.sock"), source: .simulator, serialNumber: "L1")
    for text in ["unix:/run/lamp.sock", "lamp.sock", "L1"] { #expect(try resolve(text, Self.red, lamp) == lamp) }
    let other = try resolve("unix:/run/other.sock", Self.red, lamp)
    #expect(other == Device(.unix("/run/other.sock"), source: .named))
    #expect(other.transports == [.unix] && other.terminal == nil && other.id == "unix:/run/other.sock")
    let folder = linkTarget("/proc/self/cwd") ?? ""
    #expect(try resolve("unix:./x.sock", lamp).address == .unix(folder + "/x.sock"))
    // The path alone is that of a terminal; and who must not look at files has no folder.
    #expect(throws: ResolutionError.noMatch("/run/no-such-lamp.sock")) { try resolve("/run/no-such-lamp.sock", lamp) }
    #expect(throws: ResolutionError.noMatch("unix:./x.sock")) {
      try DeviceName("unix:./x.sock", lookingAtFiles: false).device(among: [lamp])
    }
  }

  // MARK: - USB

  private static func usb(_ address: Int, terminal: String? = nil, serial: String?, links: [String] = []) -> Device {
    let node = "/dev/bus/usb/009/00\(address)"
    var identity = USBIdentity(
      vendorID: 0x0AB3, productID: 0x0043, bus: 9, address: address, node: node, port: "9-\(address)",
      devpath: "/devices/usb9/9-\(address)", function: USBClass(code: 0))
    var bytes: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9, 2, 32, 0, 1, 1, 0, 0, 0]
    bytes += [9, 4, 0, 0, 2, 0xFF, 0, 0, 0, 7, 5, 0x81, 2, 64, 0, 0, 7, 5, 0x01, 2, 64, 0, 0]
    identity.interfaces = USBDescriptorReader.read(bytes)!.configurations[0].interfaces.map {
      USBInterface(description: $0)
    }
    var device = Device(
      .node(terminal ?? node), source: .udev, name: "Lamp", serialNumber: serial, terminal: terminal, usb: identity)
    device.links = links
    return device
  }

  private static let lamp = usb(
    1, terminal: "/dev/ttyACM977", serial: "A1", links: ["/dev/serial/by-id/usb-Lamp_A1-if00", "/dev/lamp 1"])
  private static let bare = usb(2, serial: "B:2/x y\u{1B}ä")

  @Test(arguments: ["usb:0ab3:0043:A1", "USB:AB3:43:A1", "usb:0Ab3:0043:A1"])
  func usbNumbersAreReadInAnyCase(_ text: String) throws {
    #expect(try resolve(text, Self.bare, Self.lamp) == Self.lamp)
  }

  @Test func usbNumbersOfSeveralDevicesAreAmbiguous() throws {
    #expect(throws: ResolutionError.ambiguous("usb:0ab3:0043", [Self.bare, Self.lamp])) {
      try resolve("usb:0ab3:0043", Self.bare, Self.lamp, Self.red)
    }
    #expect(try resolve("usb:0ab3:0043", Self.lamp, Self.red) == Self.lamp)
    #expect(throws: ResolutionError.noMatch("usb:0ab3:0044")) { try resolve("usb:0ab3:0044", Self.lamp) }
    // The whole serial number, and the right capitals.
    for serial in ["A", "a1", "A1 ", ""] {
      #expect(throws: ResolutionError.self) { try resolve("usb:0ab3:0043:" + serial, Self.lamp, Self.bare) }
    }
  }

  @Test(arguments: ["usb:", "usb:1", "usb:1:", "usb::2", "usb:12345:1", "usb:+1:2", "usb:g:1", "usb:1:2x"])
  func invalidUSBNumbersAreMalformed(_ text: String) {
    #expect(throws: ResolutionError.malformed(text)) { try resolve(text, Self.lamp) }
  }

  @Test(arguments: [
    "A1", "ttyACM977", "usb-Lamp_A1-if00", "/dev/serial/by-id/usb-Lamp_A1-if00", "serial/by-id/usb-Lamp_A1-if00",
    "usb-Lam", "/dev/lamp 1", "lamp 1", "lamp",
  ])
  func aTerminalIsFoundByEachName(_ text: String) throws {
    let found = try resolve(text, Self.bare, Self.lamp)
    #expect(found == Self.lamp)
    #expect(found.address.transport == .terminal)
  }

  /// Twins claim the same link, and it leads to one of them.
  @Test func aLinkMeansTheDeviceItLeadsTo() throws {
    let directory = try TemporaryDirectory()
    try directory.write([], to: "node")
    let link = directory.path + "/by-id"
    #expect(symlink("node", link) == 0)
    let other = Self.usb(6, terminal: "/dev/ttyACM978", serial: "A1", links: [link])
    let owner = Self.usb(7, terminal: directory.path + "/node", serial: "A1", links: [link])
    #expect(try resolve(link, other, owner) == owner)
  }

  @Test func oddCharactersOfASerialNumberAreMatched() throws {
    #expect(try resolve("B:2/x y\u{1B}ä", Self.bare, Self.lamp) == Self.bare)
    #expect(try resolve("usb:ab3:43:B:2/x y\u{1B}ä", Self.bare, Self.lamp) == Self.bare)
    #expect(try resolve("B:2", Self.bare, Self.lamp) == Self.bare)
  }

  /// A device that calls itself like a path doesn't get what is meant for the path.
  @Test func aNameLikeAPath() throws {
    let impostor = Self.usb(3, serial: "/dev/null")
    #expect(try resolve("/dev/null", impostor) == Device(.node("/dev/null"), source: .named))
    let other = Self.usb(4, serial: "ttyACM977")
    #expect(throws: ResolutionError.ambiguous("ttyACM977", [other, Self.lamp])) {
      try resolve("ttyACM977", other, Self.lamp)
    }
  }

  /// The usbfs node means that way in.
  @Test func theNodeOfUsbfsChoosesUSB() throws {
    let directory = try TemporaryDirectory()
    try directory.write([], to: "node")
    var device = Self.lamp
    device.usb?.node = directory.path + "/node"
    let found = try resolve(directory.path + "/node", device, Self.bare)
    #expect(found.address.transport == .usb)
    #expect(found.address.node == directory.path + "/node")
    #expect(found.id == device.id)
    var twin = device
    twin.terminal = "/dev/ttyACM978"
    twin.address = .terminal("/dev/ttyACM978")
    #expect(throws: ResolutionError.self) { try resolve(directory.path + "/node", device, twin) }
  }

  @Test func aDevicesTransportsAreItsWaysIn() {
    #expect(Self.lamp.transports == [.terminal, .usb])
    #expect(Self.bare.transports == [.usb])
    #expect(Self.red.transports == [.terminal])
    #expect(Device(.node("/dev/bus/usb/001/002"), source: .named).transports == [.usb])
    #expect(Self.lamp.choosing(.usb)?.address.description == "/dev/bus/usb/009/001")
    #expect(Self.lamp.choosing(.usb)?.choosing(.terminal) == Self.lamp)
    #expect(Self.bare.choosing(.terminal) == nil)
  }

  /// What can be no accessory is found when it is named, and is in nobody's way.
  @Test func whatIsNoAccessoryMustBeNamedWhole() throws {
    var keyboard = Self.usb(5, serial: "A1-KEYS")
    keyboard.usb?.interfaces[0].description.function = USBClass(code: 3, subclass: 1, protocol: 1)
    #expect(try resolve(nil, keyboard, Self.lamp) == Self.lamp)
    #expect(try resolve("A1", keyboard, Self.lamp) == Self.lamp)
    #expect(try resolve("A", keyboard, Self.lamp) == Self.lamp)
    #expect(try resolve("A1-KEYS", keyboard, Self.lamp) == keyboard)
    #expect(throws: ResolutionError.noDevices) { try resolve(nil, keyboard) }
  }

  /// With nothing typed, one whose protocol is known goes before those that could be anything.
  @Test func theOnlyDeviceWithAKnownDriverIsChosen() throws {
    var known = Self.red
    known.driver = "framed"
    #expect(try resolve(nil, Self.bare, known, Self.lamp) == known)
    #expect(try resolve(nil, Self.lamp) == Self.lamp)
    var other = Self.blue
    other.driver = "framed"
    #expect(throws: ResolutionError.ambiguous(nil, [Self.bare, known, other])) {
      try resolve(nil, Self.bare, known, other)
    }
  }

  // MARK: - What is said

  @Test func errorsNameWhatThereIs() {
    let twin = Device(.node("/dev/pts/9994"), source: .simulator, serialNumber: "X-1")
    #expect(
      "\(ResolutionError.ambiguous("X", [Self.blue, Self.red]))"
        == "X matches 2 accessories, write more of the name: X-1, X-10")
    #expect(
      "\(ResolutionError.ambiguous(nil, [twin, Self.blue, Self.red]))"
        == "there are 3 accessories, say which: X-1 at /dev/pts/9991, X-1 at /dev/pts/9994, X-10")
    #expect("\(ResolutionError.noMatch("Y"))".contains("Y"))
    #expect("\(ResolutionError.noDevices)".contains("bridge-cli simulate framed"))
  }

  // MARK: - What is there and what is awaited

  @Test func whatIsThereComesFirst() throws {
    func device(_ serial: String, _ path: String) -> Device {
      Device(.node(path), source: .simulator, driver: "framed", name: "Thing", serialNumber: serial)
    }
    let (one, two, gone) = (device("A1", "/dev/a"), device("A2", "/dev/b"), device("A3", "/dev/zero"))
    func choose(_ text: String?, _ there: [Device], _ awaited: [Device]) throws -> String? {
      try DeviceName(text).device(there: there, awaited: awaited)?.serialNumber
    }
    // By nothing, by name, by a beginning: what is there.
    for text in [nil, "Thing", "A"] { #expect(try choose(text, [one], [gone]) == "A1") }
    for text in [nil, "Thing", "A"] { #expect(try choose(text, [], [gone]) == "A3") }
    // In full, wherever it is; but not when two have the name.
    #expect(try choose("A3", [one], [gone]) == "A3")
    #expect(try choose("A1", [one], [device("A1", "/dev/c")]) == "A1")
    #expect(throws: ResolutionError.self) { try choose("A1", [one, device("A1", "/dev/d")], []) }
    // A path is that of what is there now.
    #expect(try choose("/dev/zero", [device("A4", "/dev/zero")], [gone]) == "A4")
    #expect(try choose("/dev/zero", [one], [gone]) == "A3")
    // One that is unplugged has no node any more.
    #expect(try choose("/dev/no-such-node", [one], [device("A5", "/dev/no-such-node")]) == "A5")
    var linked = device("A6", "/dev/no-such-node")
    linked.link = (linkTarget("/proc/self/cwd") ?? "") + "/no-such-link"
    for text in ["./no-such-link", "no-such-link"] { #expect(try choose(text, [one], [linked]) == "A6", "\(text)") }
    #expect(try choose("nobody", [one], [gone]) == nil && choose(nil, [], []) == nil)
    #expect(try choose("/dev/null", [one], [gone]) == nil)
    #expect(throws: ResolutionError.self) { try choose("Thing", [one, two], [gone]) }
    #expect(throws: ResolutionError.self) { try choose("usb:x", [one], [gone]) }
    // Nobody gets what is meant for another by calling itself so.
    var other = two
    other.name = "A3"
    #expect(try choose("A3", [other], [gone]) == "A2")
  }

  @Test func aDeviceIsTheSameOverEachTransport() {
    let usb = USBIdentity(
      vendorID: 1, productID: 2, bus: 1, address: 2, node: "/dev/bus/usb/001/002", port: "1-1", devpath: "",
      speed: nil, function: USBClass(code: 0, subclass: 0, protocol: 0), damage: nil)
    let whole = Device(.node("/dev/ttyACM0"), source: .udev, terminal: "/dev/ttyACM0", usb: usb)
    let second = Device(.node("/dev/ttyACM1"), source: .udev, terminal: "/dev/ttyACM1", usb: usb)
    let node = Device(.node("/dev/bus/usb/001/002"), source: .named)
    let terminal = Device(.node("/dev/ttyACM0"), source: .named)
    for (a, b) in [(whole, node), (whole, terminal), (whole, whole)] { #expect(a.isSame(as: b) && b.isSame(as: a)) }
    for (a, b) in [(whole, second), (second, terminal), (node, terminal)] {
      #expect(!a.isSame(as: b) && !b.isSame(as: a))
    }
  }
}
