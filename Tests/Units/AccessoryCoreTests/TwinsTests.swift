// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryCore

/// Accessories with one serial number, and whether one that comes is the one that was there before.
struct TwinsTests {
  private static func adapter(
    _ serial: String? = "0001", port: String, node: String, unit: Int? = nil, source: Device.Source = .udev
  ) -> Device {
    var device = Device(
      .terminal(node), source: source, serialNumber: serial, terminal: node,
      usb: USBIdentity(
        vendorID: 0x10C4, productID: 0xEA60, bus: 1, address: 7, node: "/dev/bus/usb/001/00\(port.last ?? "0")",
        port: port))
    device.unit = unit
    return device
  }

  private static func simulator(_ serial: String, at path: String, link: String? = nil) -> Device {
    Device(.terminal(path), link: link, source: .simulator, serialNumber: serial)
  }

  private let first = adapter(port: "1-1.1", node: "/dev/ttyUSB0")
  private let second = adapter(port: "1-1.2", node: "/dev/ttyUSB1")

  // MARK: - Names

  @Test func theIdentityOfOneThatIsAloneHasNoPort() {
    var twins = Twins()
    #expect(twins.came(first).isEmpty && twins.marked(first).id == "0001")
    twins.went(first)
    let moved = Self.adapter(port: "1-1.4", node: "/dev/ttyUSB0")
    #expect(twins.came(moved).isEmpty && twins.marked(moved).id == "0001")
  }

  @Test(arguments: [false, true]) func eachOfTwoHasItsPortWhicheverCameFirst(isSwapped: Bool) {
    var twins = Twins()
    let (one, other) = isSwapped ? (second, first) : (first, second)
    #expect(twins.came(one).isEmpty)
    #expect(twins.came(other) == [one])
    #expect(twins.marked(first).id == "0001@1-1.1" && twins.marked(second).id == "0001@1-1.2")
    // Whoever leaves, and whatever the numbers of the nodes are then.
    twins.went(one)
    #expect(twins.marked(other).id == (isSwapped ? "0001@1-1.1" : "0001@1-1.2"))
    #expect(twins.came(one).isEmpty)
    #expect(twins.marked(Self.adapter(port: "1-1.1", node: "/dev/ttyUSB7")).id == "0001@1-1.1")
  }

  @Test func unitsOfTwinLinesHaveThePortOfTheLine() {
    let devices = Twins.marked([first.onLine(unit: 3), second.onLine(unit: 3), first.onLine(unit: 4)])
    #expect(devices.map(\.id) == ["0001@1-1.1@3", "0001@1-1.2@3", "0001@1-1.1@4"])
  }

  /// It doesn't depend on who else is there, and no text that names one accessory is the key of another.
  @Test func theKeyOfAnAccessoryIsItsIdentityAtItsPort() {
    let alone = Twins.marked([first, second])[0]
    #expect(first.key == "key:0001@1-1.1" && alone.key == first.key && second.key == "key:0001@1-1.2")
    #expect(first.onLine(unit: 3).key == "key:0001@1-1.1@3")
    #expect(Self.adapter(port: "1-1.1", node: "/dev/ttyUSB7").key == first.key)
    #expect(Self.adapter(nil, port: "1-1.1", node: "/dev/ttyUSB7").key == "key:10c4:ea60@1-1.1")
    #expect(Self.simulator("A", at: "/dev/pts/3").key == "key:A@/dev/pts/3")
    #expect(Self.simulator("A", at: "/dev/pts/3", link: "/tmp/a").key == "key:A@/tmp/a")
    #expect(Device(.terminal("/dev/ttyUSB0"), source: .named).key == nil)
    // Two that tell one serial number, and have no port.
    let supplies = ["BAT0", "BAT1"].map {
      Device(.powerSupply($0), source: .udev, serialNumber: "0001").key
    }
    #expect(supplies[0] != supplies[1])
  }

  @Test func oneDeviceThatIsSeenTwiceHasNoTwin() {
    // A terminal and the node of the same USB device; a simulator by its terminal and by udev.
    var node = first
    (node.address, node.terminal) = (.usb("/dev/bus/usb/001/001"), nil)
    #expect(Twins.marked([first, node]).map(\.id) == ["0001", "0001"])
    let announced = Self.simulator("0001", at: "/dev/ttyUSB0")
    #expect(Twins.marked([first, announced]).allSatisfy { !$0.hasTwin })
    // A path that nobody has told of, and devices without a serial number, whose identity has the place already.
    let plain = [Self.adapter(nil, port: "1-1.1", node: "/dev/a"), Self.adapter(nil, port: "1-1.2", node: "/dev/b")]
    #expect(Twins.marked(plain).map(\.id) == ["10c4:ea60@1-1.1", "10c4:ea60@1-1.2"])
  }

  @Test func twinsAreRememberedInAText() {
    var twins = Twins()
    _ = twins.came(first)
    _ = twins.came(second)
    #expect(twins.inherits(twins.marked(second)) && !twins.inherits(twins.marked(first)))
    var later = Twins()
    let isTaken = later.take(twins.text)
    #expect(isTaken)
    #expect(later.text == twins.text && later.text == "accessory-bridge twins 1\n0001\t1-1.2\n")
    #expect(later.marked(first).id == "0001@1-1.1")
    #expect(later.inherits(second) && !later.inherits(first))
    // Nothing else is taken for it.
    for text in ["", "x", "accessory-bridge twins 2\n0001\t\n", "accessory-bridge twins 1\n0001\n\t1-1\n"] {
      var other = Twins()
      let isTaken = other.take(text)
      #expect(isTaken == text.hasPrefix("accessory-bridge twins 1\n"))
      #expect(other == Twins(), "\(text)")
    }
  }

  @Test func hostileIdentitiesAreBounded() {
    var twins = Twins()
    for number in 0..<Twins.limit + 10 {
      _ = twins.came(Self.simulator("X\n\(number)", at: "/dev/pts/\(2 * number)"))
      _ = twins.came(Self.simulator("X\n\(number)", at: "/dev/pts/\(2 * number + 1)"))
    }
    #expect(!twins.marked(Self.simulator("X\n\(Twins.limit)", at: "/dev/pts/1")).hasTwin)
    #expect(twins.text == "accessory-bridge twins 1\n")
  }

  @Test func theIdentityThatAServiceTellsSaysThatThereAreTwins() {
    let told = Device(
      id: "0001@1-1.2", path: "/dev/ttyUSB1", source: .udev, serialNumber: "0001", terminal: "/dev/ttyUSB1",
      usb: second.usb)
    #expect(told.hasTwin && told.lineIdentity == "0001" && told.id == "0001@1-1.2")
    let alone = Device(id: "0001", path: "/dev/ttyUSB1", source: .udev, serialNumber: "0001", usb: second.usb)
    #expect(!alone.hasTwin && alone.id == "0001")
  }

  // MARK: - The same again

  @Test func anAccessoryOfItsOwnSerialNumberIsTheSameAtAnyPort() {
    let again = SameAgain(Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB0"))
    #expect(!again.isBound && again.name == "FT4X1ABC" && again.boundPort == nil)
    #expect(again.fits(Self.adapter("FT4X1ABC", port: "1-1.4", node: "/dev/ttyUSB3")))
    #expect(!again.fits(Self.adapter("FT4X2ABC", port: "1-1.1", node: "/dev/ttyUSB0")))
    #expect(again.names("/dev/ttyUSB0") == ["/dev/ttyUSB0", "FT4X1ABC"])
  }

  @Test func ofTwinsTheOneAtTheSamePortIsTheSame() {
    let again = SameAgain(
      Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB0"),
      beside: [
        Self.adapter("FT4X1ABC", port: "1-1.2", node: "/dev/ttyUSB1")
      ])
    #expect(again.isBound && again.name == "FT4X1ABC@1-1.1")
    // Its node may have another number, and the other one its node.
    #expect(again.fits(Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB5")))
    let other = Self.adapter("FT4X1ABC", port: "1-1.2", node: "/dev/ttyUSB0")
    #expect(!again.fits(other) && again.isTwin(other))
    #expect(again.names("/dev/ttyUSB0") == ["FT4X1ABC@1-1.1"])
  }

  @Test func oneWithATwinThatComesIsNotOneThatWasAlone() {
    var twin = Self.adapter("FT4X1ABC", port: "1-1.2", node: "/dev/ttyUSB1")
    twin.hasTwin = true
    let again = SameAgain(Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB0"))
    #expect(!again.fits(twin))
    var back = Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB1")
    back.hasTwin = true
    #expect(again.fits(back))
  }

  @Test func aSerialNumberThatManyHaveBindsToThePort() {
    let again = SameAgain(first)
    #expect(again.isBound && again.boundPort == "1-1.1" && again.name == "0001@1-1.1")
    #expect(!again.fits(second) && again.fits(Self.adapter(port: "1-1.1", node: "/dev/ttyUSB9")))
    // The number of a pseudo-terminal isn't a place.
    #expect(!SameAgain(Self.simulator("0001", at: "/dev/pts/3")).isBound)
    let linked = SameAgain(Self.simulator("0001", at: "/dev/pts/3", link: "/tmp/a"))
    #expect(linked.fits(Self.simulator("0001", at: "/dev/pts/9", link: "/tmp/a")))
    #expect(!linked.fits(Self.simulator("0001", at: "/dev/pts/3", link: "/tmp/b")))
  }

  @Test func aPathIsNotTheAccessoryUntilASourceTellsWhatIsThere() {
    let again = SameAgain(Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB0"))
    #expect(!again.fits(Device(.terminal("/dev/ttyUSB0"), source: .named)))
    // What was known by its path alone is what is there.
    let named = SameAgain(Device(.terminal("/dev/ttyUSB0"), source: .named))
    #expect(named.fits(Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB0")))
    #expect(!named.fits(Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB1")))
    let linked = SameAgain(Device(.node("/dev/pts/3"), link: "./acc", source: .named))
    #expect(linked.fits(Device(.node("/dev/pts/8"), link: "./acc", source: .named)))
  }

  @Test func aUnitIsTheSameUnitAndALineIsAnyUnitOfIt() {
    let unit = Self.adapter("FT4X1ABC", port: "1-1.1", node: "/dev/ttyUSB0", unit: 2)
    #expect(SameAgain(unit).fits(unit) && !SameAgain(unit).fits(unit.onLine(unit: 3)))
    #expect(
      SameAgain(unit, isLine: true).fits(unit.onLine(unit: 3)) && SameAgain(unit, isLine: true).name == "FT4X1ABC")
  }

  @Test(arguments: [
    "", "0", "0000", "000000000000", "0001", "0002", "1", "1.00", "FFFFFFFF", "11111111", "12345", "123456789",
    "0123456789ABCDEF", "0123456789abcdef", "00-00-00", "ABCDEF", "301",
  ]) func aSerialNumberOfManyIsRecognized(text: String) {
    #expect(!SerialNumber.isDistinctive(text))
  }

  @Test(arguments: ["SIM0001", "FT4X1ABC", "A50285BI", "001653000001", "95530343834351A0B091", "0001A2B3", "1235"])
  func aSerialNumberOfOneIsRecognized(text: String) {
    #expect(SerialNumber.isDistinctive(text))
  }
}
