// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryDiscovery

extension UdevMock {
  /// What comes, goes and changes.
  @Suite struct HotplugTests {
    let bed: Testbed

    init() throws { bed = try Testbed() }

    @Test func whatIsThereIsToldFirst() async throws {
      try bed.plug(.board)
      try bed.plug(.gadget(1))
      let follower = try await Follower(UdevSource())
      let state = try await follower.wait { $0.present.count == 2 }
      #expect(state.ids == ["A1", "G1"])
      await follower.stop()
    }

    /// Gone and back: the same identity, at another address and under another name.
    @Test func aDeviceComesBackUnderItsIdentity() async throws {
      let follower = try await Follower(UdevSource())
      try bed.plug(.board)
      let first = try #require(try await follower.wait { $0.device("A1")?.terminal != nil }.device("A1"))
      #expect(first.address.description == "/dev/ttyACM0")
      bed.unplug(.board)
      let gone = try await follower.wait { $0.present.isEmpty }
      #expect(gone.log.last == .removed(first))
      var again = MockUSB.board
      again.address = 6
      again.terminals = [("ttyACM1", 0)]
      try bed.plug(again)
      let second = try #require(try await follower.wait { $0.device("A1")?.terminal != nil }.device("A1"))
      #expect((second.id, second.address.description, second.usb?.address) == ("A1", "/dev/ttyACM1", 6))
      await follower.stop()
    }

    /// The first message that something is gone is enough, also while its directory is still there.
    @Test func aDeviceIsRemovedByTheFirstMessage() async throws {
      try bed.plug(.board)
      let follower = try await Follower(UdevSource())
      let device = try await follower.wait { $0.present.count == 1 }.present
      bed.tell("remove", MockUSB.board.devpath)
      let state = try await follower.wait { $0.present.isEmpty }
      #expect(state.log.last == .removed(device.first!))
      // What still stands in /sys is not taken for a new one, however often somebody looks.
      try bed.plug(.gadget(1))
      try await follower.wait { $0.ids == ["G1"] }
      bed.unplug(.board)
      try bed.plug(.gadget(2))
      try await follower.wait { $0.ids == ["G1", "G2"] }
      try bed.plug(.board)
      try await follower.wait { $0.device("A1")?.terminal != nil }
      await follower.stop()
    }

    /// udev's message has often nothing but the devpath.
    @Test func aRemovalWithoutPropertiesIsUnderstood() async throws {
      try bed.plug(.gadget(1))
      let follower = try await Follower(UdevSource())
      try await follower.wait { $0.present.count == 1 }
      let gadget = MockUSB.gadget(1)
      try bed.write(gadget.devpath, file: "uevent", [])
      bed.unplug(gadget)
      try await follower.wait { $0.present.isEmpty }
      await follower.stop()
    }

    /// A message about one that was there before is late, and means nothing.
    @Test func aLateMessageAboutAnEarlierDeviceIsIgnored() async throws {
      var gadget = MockUSB.gadget(1)
      try bed.plug(gadget)
      let follower = try await Follower(UdevSource())
      try await follower.wait { $0.present.count == 1 }
      try bed.write(gadget.devpath, file: "uevent", Array("DEVTYPE=usb_device\nDEVNUM=003\n".utf8))
      bed.tell("remove", gadget.devpath)
      gadget = .gadget(2)
      try bed.plug(gadget)
      let state = try await follower.wait { $0.present.count == 2 }
      #expect(!state.log.contains { if case .removed = $0 { true } else { false } })
      await follower.stop()
    }

    @Test func aLateTerminalChangesTheDevice() async throws {
      var board = MockUSB.board
      board.terminals = []
      try bed.plug(board)
      let follower = try await Follower(UdevSource())
      let before = try #require(try await follower.wait { $0.present.count == 1 }.present.first)
      #expect(before.address.description == "/dev/bus/usb/001/005")
      try bed.add(MockUSB.board.text(("ttyACM0", 0)))
      let state = try await follower.wait { $0.device("A1")?.terminal != nil }
      #expect(state.log == [.added(before), .changed(state.device("A1")!, from: before)])
      // And goes again: gone at once, then there without it.
      bed.tell("remove", MockUSB.board.path(of: ("ttyACM0", 0)))
      bed.erase(MockUSB.board.path(of: ("ttyACM0", 0)))
      let after = try await follower.wait { $0.log.count == 4 }
      #expect(after.log.suffix(2) == [.removed(state.device("A1")!), .added(before)])
      await follower.stop()
    }

    @Test func aDriverIsBoundAndLetGo() async throws {
      let gadget = MockUSB.gadget(1)
      try bed.plug(gadget)
      let follower = try await Follower(UdevSource())
      try await follower.wait { $0.present.count == 1 }
      let interface = gadget.path(of: 0)
      bed.set(interface, link: "driver", "../../../../../../bus/usb/drivers/usbfs")
      bed.tell("bind", interface)
      try await follower.wait { $0.device("G1")?.usb?.interfaces[0].driver == "usbfs" }
      bed.set(interface, link: "driver", "../../../../../../bus/usb/drivers/other")
      bed.tell("unbind", interface)
      bed.tell("bind", interface)
      let state = try await follower.wait { $0.device("G1")?.usb?.interfaces[0].driver == "other" }
      #expect(!state.log.contains { if case .removed = $0 { true } else { false } })
      await follower.stop()
    }

    @Test func linksGivenLaterAreFollowed() async throws {
      try bed.plug(.board)
      let follower = try await Follower(UdevSource())
      try await follower.wait { $0.present.count == 1 }
      let terminal = MockUSB.board.path(of: MockUSB.board.terminals[0])
      bed.set(terminal, property: "DEVLINKS", "/dev/serial/by-id/new /dev/lamp")
      bed.tell("change", terminal)
      try await follower.wait { $0.device("A1")?.links == ["/dev/lamp", "/dev/serial/by-id/new"] }
      await follower.stop()
    }

    /// The same device under another devpath is not there twice.
    @Test func aMovedUSBDeviceIsNotThereTwice() async throws {
      let old = MockUSB.gadget(1)
      try bed.plug(old)
      let follower = try await Follower(UdevSource())
      try await follower.wait { $0.present.count == 1 }
      for path in old.devpaths.reversed() { bed.erase(path) }
      var new = old
      new.port = "1-1.7"
      new.properties["DEVPATH_OLD"] = old.devpath
      try bed.add(new.text)
      bed.tell("move", new.devpath)
      let state = try await follower.wait { $0.device("G1")?.usb?.port == "1-1.7" && $0.present.count == 1 }
      #expect(state.ids == ["G1"])
      await follower.stop()
    }

    /// Two hundred changes faster than anybody looks: the list is right in the end.
    @Test func aBurstOfPlugsEndsInTheRightList() async throws {
      let follower = try await Follower(UdevSource())
      for number in 0..<100 { try bed.plug(.gadget(number)) }
      for number in 0..<100 where number % 3 != 0 { bed.unplug(.gadget(number)) }
      try bed.plug(.gadget(300))
      let expected = ((0..<100).filter { $0 % 3 == 0 } + [300]).map { "G\($0)" }.sorted()
      let state = try await follower.wait { $0.ids == expected }
      #expect(state.ids == expected)
      #expect(Set(try await UdevSource().devices()) == state.present)
      await follower.stop()
    }

    /// Messages are lost: what the file system says then is what counts.
    @Test func lostMessagesAreMadeUpByALook() async throws {
      try bed.plug(.board)
      for number in 1...3 { try bed.plug(.gadget(number)) }
      let source = UdevSource()
      let follower = try await Follower(source)
      try await follower.wait { $0.present.count == 4 }
      for path in MockUSB.gadget(2).devpaths.reversed() { bed.erase(path) }
      await source.take([.overflow], 1)
      let state = try await follower.wait { $0.ids == ["A1", "G1", "G3"] }
      #expect(state.log.count == 5)
      await follower.stop()
    }

    @Test func everySubscriberOfUdevIsTold() async throws {
      let source = UdevSource()
      let one = try await Follower(source)
      try bed.plug(.gadget(1))
      try await one.wait { $0.present.count == 1 }
      let two = try await Follower(source)
      try await two.wait { $0.ids == ["G1"] }
      await one.stop()
      bed.unplug(.gadget(1))
      try await two.wait { $0.present.isEmpty }
      await two.stop()
      // Nobody listens any more; who comes then is told what is there now.
      try bed.plug(.gadget(2))
      let three = try await Follower(source)
      try await three.wait { $0.ids == ["G2"] }
      await three.stop()
    }

    @Test func aStreamKeepsItsUdevSource() async throws {
      weak var leak: UdevSource?
      var follower: Follower?
      do {
        let source = UdevSource()
        leak = source
        follower = try await Follower(source)
      }
      try bed.plug(.gadget(1))
      try await follower?.wait { $0.present.count == 1 }
      #expect(leak != nil)
      await follower?.stop()
      follower = nil
      try await eventually("the source's end") { leak == nil }
    }

    @Test func fiveHundredHotplugsLeaveNothingBehind() async throws {
      let follower = try await Follower(UdevSource())
      func cycle(_ number: Int) async throws {
        var board = MockUSB.board
        board.address = number % 100 + 2
        try bed.plug(board)
        try await follower.wait { $0.device("A1")?.terminal != nil }
        bed.unplug(board)
        try await follower.wait { $0.present.isEmpty }
      }
      for number in 0..<20 { try await cycle(number) }
      let descriptors = ThisProcess.descriptors
      let threads = ThisProcess.threadCount
      for number in 0..<500 { try await cycle(number) }
      try await ThisProcess.waitForNoDescriptors(except: descriptors)
      try await eventually("threads to be as they were, but for the pool's") { ThisProcess.threadCount <= threads + 8 }
      #expect(ThisProcess.threadCount(named: "accessory-io") == 1)
      await follower.stop()
      // And the monitor's own descriptor is closed with its last reader.
      try await eventually("the monitor to be closed") { ThisProcess.descriptorCount < descriptors.count }
    }

    @Test func aHundredMonitorsLeaveNothingOpen() async throws {
      try bed.plug(.board)
      func cycle() async throws {
        let follower = try await Follower(UdevSource())
        try await follower.wait { $0.present.count == 1 }
        await follower.stop()
      }
      for _ in 0..<10 { try await cycle() }
      let before = ThisProcess.descriptorCount
      for _ in 0..<100 { try await cycle() }
      try await eventually("the monitors to be closed") { ThisProcess.descriptorCount <= before }
    }
  }
}
