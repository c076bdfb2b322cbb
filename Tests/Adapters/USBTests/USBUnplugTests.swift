// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CFakeUSB
import FamilyAF1
import Glibc
import TestSupport
import Testing

extension USB {
  /// Whatever was going on and however the device goes: one end, once, and nothing is left.
  @Suite struct UnplugTests {
    /// The ways a device goes, as seen on real controllers and on USB/IP.
    enum Way: CaseIterable, CustomTestStringConvertible {
      case atOnce, failingFirst, silently, hungUp, onlyUdev

      var testDescription: String { "\(self)" }

      func go(_ fake: FakeUSBDevice, _ transport: USBTransport) async throws {
        switch self {
        case .atOnce: fake.unplug(FAKE_USB_GONE_AT_ONCE)
        case .failingFirst:
          fake.unplug(FAKE_USB_GONE_FAILING)
          try await eventually("failures that are no end yet") { transport.counters.failures > 0 }
          fake.unplug(FAKE_USB_GONE_SILENTLY)
        case .silently: fake.unplug(FAKE_USB_GONE_SILENTLY)
        case .hungUp: fake.unplug(FAKE_USB_GONE_HUNG_UP)
        case .onlyUdev: transport.deviceWasRemoved()
        }
      }
    }

    private func expectEnd(_ transport: USBTransport, _ reader: InputReader, bytes: [UInt8]? = nil) async throws {
      let ending = try await reader.readToEnd()
      #expect(ending.error?.kind == .disconnected)
      #expect(ending.error?.message == "the fake was disconnected")
      if let bytes { #expect(ending.bytes == bytes) }
      #expect(transport.output.offer([1]) == .closed(ending.error), "one outcome for both directions")
      await transport.close()
      #expect(try await reader.readToEnd() == .init(error: ending.error), "a later close changes nothing")
    }

    @Test(arguments: Way.allCases) func unpluggingAnIdleUSBTransportEndsIt(_ way: Way) async throws {
      let before = try await descriptorsAtRest()
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      try await eventually("four transfers") { fake.pendingInputs == 4 }
      try await way.go(fake, transport)
      try await expectEnd(transport, reader)
      try await waitForClose(of: fake, atRest: before)
    }

    @Test(arguments: Way.allCases) func unpluggingKeepsTheBytesThatHadArrived(_ way: Way) async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      try await eventually("four transfers") { fake.pendingInputs == 4 }
      fake.feed(pattern(3_000))
      try await eventually("its arrival") { transport.input.count == 3_000 }
      try await way.go(fake, transport)
      try await expectEnd(transport, InputReader(transport.input), bytes: pattern(3_000))
    }

    @Test(arguments: Way.allCases) func unpluggingAmidAWriteEndsAUSBTransport(_ way: Way) async throws {
      let fake = FakeUSBDevice()
      fake_usb_hold(fake.device, Descriptors.bulkOut, 1)
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      _ = try OutputWriter(transport.output).fill { pattern(4_096, from: $0) }
      try await eventually("transfers") { fake_usb_pending(fake.device, Descriptors.bulkOut) == 4 }
      try await way.go(fake, transport)
      try await expectEnd(transport, reader, bytes: [])
    }

    @Test(arguments: Way.allCases) func unpluggingFailsTheRequestsUnderWay(_ way: Way) async throws {
      let fake = FakeAF1Accessory()
      let transport = try await fake.usb.open()
      let accessory = try await AF1Accessory.open(AccessorySession(transport))
      fake_usb_hold(fake.usb.device, Descriptors.bulkIn, 1)
      async let first = failure { try await accessory.battery() }
      async let second = failure { try await accessory.status() }
      let sent = fake.usb.outputs.value
      try await fake.usb.outputs.wait { $0 > sent - 1 }
      try await way.go(fake.usb, transport)
      let errors = await [first, second]
      #expect(errors.map { $0?.kind } == [.disconnected, .disconnected])
      await accessory.close()
    }

    @Test(arguments: [FAKE_USB_GONE_AT_ONCE, FAKE_USB_GONE_SILENTLY, FAKE_USB_GONE_HUNG_UP], [0, 1])
    func unpluggingWhileOpeningAUSBDeviceIsReported(_ how: fake_usb_gone, _ step: Int) async throws {
      let before = try await descriptorsAtRest()
      let fake = FakeUSBDevice()
      if step == 0 { fake.unplug(how) }
      let opener = fake.opener
      let error = await failure {
        try await USBTransport.open(fake.configuration) { configuration throws(AccessoryError) in
          let node = try opener(configuration)
          if step == 1 { fake.unplug(how) }
          return node
        }
      }
      #expect(error?.kind == (step == 0 ? .notFound : .disconnected))
      try await waitForClose(of: fake, atRest: before)
    }

    @Test(arguments: Way.allCases) func unpluggingWhileClosingAUSBDeviceIsHarmless(_ way: Way) async throws {
      let before = try await descriptorsAtRest()
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      async let closed: Void = transport.close()
      if way != .failingFirst { try await way.go(fake, transport) } else { fake.unplug(FAKE_USB_GONE_FAILING) }
      await closed
      let ending = try await reader.readToEnd()
      #expect(ending.error == nil || ending.error?.kind == .disconnected)
      try await waitForClose(of: fake, atRest: before)
    }

    @Test func whatHadArrivedIsNotLostToTheUnplug() async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      try await eventually("four transfers") { fake.pendingInputs == 4 }
      for round in 0..<4 { fake.feed(pattern(100, from: round * 100)) }
      fake.unplug()
      try await expectEnd(transport, InputReader(transport.input), bytes: pattern(400))
    }

    @Test func aDescriptorThatOnlyHungUpDoesNotKeepTheThreadBusy() async throws {
      let io = IOThread(queue: try EpollQueue())
      let fake = FakeUSBDevice()
      let transport = try await USBTransport.open(fake.configuration, io: io, node: fake.opener)
      try await eventually("four transfers") { fake.pendingInputs == 4 }
      let before = io.wakeUps
      fake.unplug(FAKE_USB_GONE_HUNG_UP)
      _ = try await InputReader(transport.input).readToEnd()
      await transport.close()
      // A look each 2 ms for a second at most, and what belongs to the end; a spin would be tens of thousands.
      #expect(io.wakeUps - before < 1_000)
      io.stop()
    }

    @Test func fiveHundredUSBUnplugsLeaveNothingBehind() async throws {
      _ = isRedirected
      // What is made once is made by the first.
      for _ in 0..<50 { try await once(0) }
      let (descriptors, threads) = (ThisProcess.descriptors, ThisProcess.threadCount)
      let memory = ThisProcess.ownMemory
      for round in 0..<500 { try await once(round) }
      try await ThisProcess.waitForNoDescriptors(except: descriptors)
      // The dispatch pool may have grown by what other things of the process wanted; not with each round.
      #expect(ThisProcess.threadCount < threads + 16)
      // A device's transfers alone are 128 KiB: 64 MiB, were they kept.
      #expect(!ThisProcess.ownMemoryIsTelling || ThisProcess.ownMemory < memory + 24 << 20)
    }

    private func once(_ round: Int) async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      try await OutputWriter(transport.output).write(pattern(600, from: round))
      let bytes = try await reader.read(600)
      #expect(bytes == pattern(600, from: round))
      fake.unplug(round % 2 == 0 ? FAKE_USB_GONE_AT_ONCE : FAKE_USB_GONE_SILENTLY)
      let ending = try await reader.readToEnd()
      #expect(ending.error?.kind == .disconnected)
      await transport.close()
    }
  }
}
