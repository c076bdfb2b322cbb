// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

/// What a service remembers of accessories that are gone, and of names, without a service.
@Suite struct AbsentAccessoriesTests {
  private static func record(_ id: String, port: String = "1-1", from: Double = 0, to: Double) -> Bridge.Accessory {
    let usb = USBIdentity(vendorID: 0x1209, productID: 1, bus: 1, address: 2, node: "/dev/bus/usb/001/002", port: port)
    let device = Device(.terminal("/dev/ttyACM0"), source: .udev, serialNumber: id, usb: usb)
    var record = Bridge.Accessory(device: device, state: .waiting, tries: 3, driver: "framed")
    (record.connected_since, record.last_seen) = (from, to)
    record.last = Bridge.LastReadings(battery: BatteryReading(percent: 57))
    return record
  }

  /// Ten thousand devices that come and go drive out neither what has a name nor what was there for long.
  @Test func theirNumberIsBounded() {
    var absent = AbsentAccessories()
    _ = absent.keep(Self.record("HOUSE", from: 0, to: 1), isNamed: true)
    _ = absent.keep(Self.record("SHED", from: 0, to: 86_400), isNamed: false)
    var left = 0
    for number in 1...10_000 {
      let time = 100_000 + Double(number)
      left += absent.keep(Self.record("H\(number)", from: time, to: time + 1), isNamed: false).count
    }
    #expect(absent.all.count == AbsentAccessories.countLimit && left == 10_002 - AbsentAccessories.countLimit)
    #expect(Set(absent.all.map(\.device.id)).isSuperset(of: ["HOUSE", "SHED", "H10000"]))
  }

  @Test func theirSizeIsBounded() {
    var absent = AbsentAccessories()
    for number in 1...100 {
      var record = Self.record("H\(number)", from: 0, to: Double(number))
      record.last?.values = (0..<255).map { index in
        Read(AccessoryValue("value\(index)", content: .text(String(repeating: "x", count: 256))))
      }
      _ = absent.keep(record, isNamed: false)
    }
    let bytes = absent.lines.reduce(0) { $0 + $1.utf8.count }
    #expect(bytes <= AbsentAccessories.byteLimit && absent.all.count > 10 && absent.all.count < 100)
  }

  /// It is the same one at another port, unless its serial number is one that many have.
  @Test(arguments: [("A1B2C3", "2-2", true), ("A1B2C3", "1-1", true), ("A9", "1-1", false)])
  func whatComesBackIsTheSame(id: String, port: String, isSame: Bool) {
    var absent = AbsentAccessories()
    _ = absent.keep(Self.record("A1B2C3", to: 5), isNamed: false)
    let taken = absent.take(Self.record(id, port: port, to: 0).device)
    #expect(taken.count == (isSame ? 1 : 0))
    #expect(absent.isEmpty == isSame)
  }

  /// One of twins that is gone is neither the other one, nor taken away by it.
  @Test func twinsAreTheSameAtTheirPort() {
    var (first, second) = (Self.record("0001", port: "1-1", to: 5), Self.record("0001", port: "1-2", to: 6))
    (first.device.hasTwin, second.device.hasTwin) = (true, true)
    var absent = AbsentAccessories()
    _ = absent.keep(first, isNamed: false)
    let none = absent.take(second.device)
    #expect(none.isEmpty)
    _ = absent.keep(second, isNamed: false)
    #expect(absent.all.map(\.device.id) == ["0001@1-1", "0001@1-2"])
    let one = absent.take(first.device)
    #expect(one.map(\.device.id) == ["0001@1-1"])
    // It went before it was known that there are two.
    _ = absent.keep(Self.record("0001", port: "1-1", to: 5), isNamed: false)
    let former = absent.take(first.device)
    #expect(former.map(\.device.id) == ["0001"] && absent.all.count == 1)
  }

  @Test func whatWasGoneForLongIsTaken() {
    var absent = AbsentAccessories()
    for time in [10.0, 20, 30] { _ = absent.keep(Self.record("A\(Int(time))", to: time), isNamed: false) }
    #expect(absent.earliest == 10)
    let taken = absent.take(before: 20)
    #expect(taken.map(\.device.id) == ["A10"] && absent.earliest == 20)
  }

  // MARK: - Names

  @Test(
    arguments: [
      ("House battery", nil), ("Größe ½ 🔋", nil), ("a/b@c", nil), (String(repeating: "x", count: 128), nil),
      (String(repeating: "x", count: 129), "has more than 128 bytes"), ("a\u{1B}[31mb", "has control characters"),
      ("a\nb", "has control characters"), ("a\u{202E}b", "has control characters"),
      (" a", "begins or ends with a space"), ("/dev/ttyUSB0", "would be taken for an address"),
      ("key:A", "would be taken for an address"),
    ] as [(String, String?)])
  func namesAreChecked(text: String, problem: String?) { #expect(GivenName.problem(of: text) == problem) }

  @Test func namesAreBounded() {
    var names = GivenNames()
    func give(_ name: GivenName, _ key: String) -> Bool { names.give(name, to: key) }
    let all = (0..<GivenNames.limit).map { give(GivenName(name: "x"), "A\($0)") }
    #expect(all.allSatisfy { $0 })
    let (tooMany, other, none, again) = (
      give(GivenName(name: "x"), "B"), give(GivenName(name: "y"), "A1"), give(GivenName(), "A1"),
      give(GivenName(area: "x"), "B")
    )
    #expect(!tooMany && other && none && again && names["A1"] == nil && names["B"]?.area == "x")
  }

  /// A command without a service changes the names in the file of its user's service, and leaves what else is there.
  @Test func theFileOfAServiceIsChangedWithoutIt() throws {
    let directory = try TemporaryDirectory()
    let file = { StateFile(GivenNames.fileName, in: directory.path + "/state") }
    try GivenNames.change(in: file()) { $0.give(GivenName(name: "House battery"), to: "A1") }
    #expect(try GivenNames.read(file())["A1"]?.name == "House battery")
    var absent = AbsentAccessories()
    _ = absent.keep(Self.record("GONE1", to: 5), isNamed: false)
    let text = String(decoding: try file().read(limit: 1_000) ?? [], as: UTF8.self)
    try file().replace(Array((text + absent.lines[0] + "\n{}\nno JSON\n").utf8))
    try GivenNames.change(in: file()) { $0.give(GivenName(name: "Shed", area: "Garden"), to: "A2") }
    let names = try GivenNames.read(file())
    #expect(names["A1"]?.name == "House battery" && names["A2"] == GivenName(name: "Shed", area: "Garden"))
    let lines = String(decoding: try file().read(limit: 10_000) ?? [], as: UTF8.self).split(separator: "\n")
    #expect(lines.contains { $0 == absent.lines[0] } && lines.count == 4)
  }
}
