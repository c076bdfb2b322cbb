// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryDiscovery

/// The order of looks and hints, at will.
@Suite struct UdevModelTests {
  private static let devpath = "/devices/usb1/1-2"
  private static let terminal = "/devices/usb1/1-2/1-2:1.0/ttyUSB0"

  /// A device with a vendor-specific pair of endpoints, and if wanted a terminal.
  private func records(
    _ devpath: String = devpath, instance: UInt64 = 1, address: Int = 5, terminal: Bool = true, ready: Bool = true
  ) -> [UdevRecord] {
    var device = UdevRecord(kind: .device, devpath: devpath, instance: instance)
    device.attributes = ["busnum": "1", "devnum": "\(address)", "serial": "S\(devpath.last!)"]
    device.isInitialized = ready
    device.descriptors =
      [18, 1, 0, 2, 0, 0, 0, 64, 0x34, 0x12, 0x78, 0x56, 0, 1, 0, 0, 0, 1, 9, 2, 32, 0, 1, 1, 0, 0x80, 50]
      + [9, 4, 0, 0, 2, 0xFF, 0, 0, 0, 7, 5, 0x81, 2, 0, 2, 0, 7, 5, 1, 2, 0, 2, 0]
    let port = devpath.split(separator: "/").last!
    var interface = UdevRecord(kind: .interface, devpath: "\(devpath)/\(port):1.0", instance: instance + 1)
    interface.attributes = ["bInterfaceNumber": "00", "bAlternateSetting": " 0"]
    guard terminal else { return [device, interface] }
    var tty = UdevRecord(kind: .terminal, devpath: "\(interface.devpath)/ttyUSB0", instance: instance + 2)
    tty.node = "/dev/ttyUSB0"
    tty.isInitialized = ready
    return [device, interface, tty]
  }

  private func hint(_ action: UdevHint.Action, _ devpath: String = devpath, address: Int? = nil) -> UdevHint {
    UdevHint(action: action, devpath: devpath, address: address)
  }

  private func look(_ model: inout UdevModel, _ records: [UdevRecord]) -> [DeviceEvent] {
    model.beginScan()
    return model.endScan(records)
  }

  @Test func looksTellWhatCameAndWent() throws {
    var model = UdevModel(onlyInitialized: false)
    let events = look(&model, records())
    let device = try #require(model.devices.first)
    #expect(events == [.added(device)])
    #expect(device.address.description == "/dev/ttyUSB0")
    #expect(look(&model, records().reversed()) == [])
    #expect(look(&model, []) == [.removed(device)])
    #expect(model.devices == [])
  }

  /// Another directory in the place of the first: gone and come between two looks.
  @Test func aReplacedDeviceIsRemovedAndAdded() {
    var model = UdevModel(onlyInitialized: false)
    _ = look(&model, records())
    let device = model.devices[0]
    #expect(look(&model, records(instance: 11)) == [.removed(device), .added(device)])
    let readdressed = look(&model, records(instance: 11, address: 6))
    #expect(readdressed == [.removed(device), .added(model.devices[0])])
    #expect(model.devices[0].usb?.address == 6)
  }

  /// Gone while a look is under way that still saw it, and then for looks that still see its directory.
  @Test func aDeviceGoneDuringALookStaysGone() {
    var model = UdevModel(onlyInitialized: false)
    _ = look(&model, records())
    let device = model.devices[0]
    model.beginScan()
    #expect(model.apply(hint(.removed)) == [.removed(device)])
    #expect(model.endScan(records()) == [])
    #expect(look(&model, records()) == [])
    #expect(look(&model, []) == [])
    #expect(look(&model, records()) == [.added(device)])  // the same number again, after it was away
  }

  /// Gone and come again while a look is under way that saw the old one.
  @Test func goneAndComeDuringALook() {
    var model = UdevModel(onlyInitialized: false)
    _ = look(&model, records())
    let device = model.devices[0]
    model.beginScan()
    #expect(model.apply(hint(.removed)) == [.removed(device)])
    #expect(model.apply(hint(.changed)) == [])
    #expect(model.endScan(records()) == [])
    let events = look(&model, records(instance: 21, address: 6))
    #expect(events == [.added(model.devices[0])])
    #expect(model.devices[0].usb?.address == 6)
  }

  /// What a look finds of other devices isn't held up by hints about one.
  @Test func othersAreToldMeanwhile() {
    var model = UdevModel(onlyInitialized: false)
    model.beginScan()
    _ = model.apply(hint(.changed, "/devices/usb1/1-3"))
    let events = model.endScan(records() + records("/devices/usb1/1-3", instance: 31, address: 7))
    #expect(events == [.added(model.devices[0])])
    #expect(look(&model, records() + records("/devices/usb1/1-3", instance: 31, address: 7)).count == 1)
  }

  @Test func aLateMessageAboutAnEarlierDeviceDoesNothing() {
    var model = UdevModel(onlyInitialized: false)
    _ = look(&model, records(address: 6))
    #expect(model.apply(hint(.removed, address: 5)) == [])
    #expect(look(&model, records(address: 6)) == [])
    #expect(model.apply(hint(.removed, address: 6)).count == 1)
  }

  /// After lost messages only the file system counts.
  @Test func afterAnOverflowOnlyTheFileSystemCounts() {
    var model = UdevModel(onlyInitialized: false)
    _ = look(&model, records())
    let device = model.devices[0]
    #expect(model.apply(hint(.removed)) == [.removed(device)])
    model.overflow()
    #expect(look(&model, records()) == [.added(device)])
  }

  /// Where udev runs, what its rules haven't been applied to is not told yet.
  @Test func aDeviceIsToldOnlyWhenReady() {
    var model = UdevModel(onlyInitialized: true)
    #expect(look(&model, records(ready: false)) == [])
    var half = records()
    half[2].isInitialized = false
    #expect(look(&model, half) == [])
    #expect(look(&model, records()).count == 1)
    #expect(model.devices[0].isInitialized)
  }

  /// A terminal goes; the rest goes soon after, or is told in the end.
  @Test func theRestOfAnUnpluggedAccessoryIsTold() {
    var model = UdevModel(onlyInitialized: false)
    _ = look(&model, records())
    #expect(model.takeNewlyUnreported() == [])
    #expect(model.apply(hint(.removed, Self.terminal)).count == 1)
    #expect(model.takeNewlyUnreported() == [Self.devpath])
    #expect(model.takeNewlyUnreported() == [])
    #expect(look(&model, records(terminal: false)) == [])
    model.release(Self.devpath)
    #expect(look(&model, records(terminal: false)).count == 1)
    #expect(model.devices[0].terminal == nil)
    // A terminal that comes back is told at once.
    let before = model.devices[0]
    #expect(look(&model, records()) == [.changed(model.devices[0], from: before)])
  }

  @Test func aMovedDeviceIsChangedAndNotAdded() {
    var model = UdevModel(onlyInitialized: false)
    _ = look(&model, records())
    let before = model.devices[0]
    #expect(model.apply(hint(.moved(from: Self.devpath), "/devices/usb1/1-9")) == [])
    let moved = records().map { record in
      var record = record
      record.devpath = "/devices/usb1/1-9" + record.devpath.dropFirst(Self.devpath.count)
      return record
    }
    let events = look(&model, moved)
    #expect(events == [.changed(model.devices[0], from: before)])
    #expect(model.devices.count == 1)
  }

  // MARK: - Texts

  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("a\\x20b", "a b"), ("\\x", "\\x"), ("\\x2", "\\x2"), ("\\xzz", "\\xzz"),
    ("\\xC3\\xA4", "ä"), ("\\xff", "\u{FFFD}"), ("\\\\x20", "\\ "), ("\\x5cx20", "\\x20"), ("\\x+1", "\\x+1"),
  ])
  func escapesOfUdevAreDecoded(_ text: String, _ decoded: String) { #expect(UdevText.decode(text) == decoded) }

  @Test func textsOfUdevAreCleanedAndBounded() {
    #expect(UdevText.clean(nil) == nil)
    #expect(UdevText.clean(" \n \0") == nil)
    #expect(UdevText.clean("  a b \0") == "a b")
    #expect(UdevText.clean(String(repeating: "e\u{301}", count: 100))?.unicodeScalars.count == 126)
    var properties = UdevProperties()
    properties["DEVLINKS"] = (0..<100).map { "/dev/\($0)" }.joined(separator: " ") + " /etc/x ../y"
    #expect(properties.links.count == 32)
    #expect(properties.links.allSatisfy { $0.hasPrefix("/dev/") })
  }
}
