// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CFakeUSB
import FamilyAF1
import Glibc
import TestSupport
import Testing

/// Suites on fake devices run one after another: they count the process's descriptors and threads.
@Suite(.serialized, .timeLimit(.minutes(Patience.minutes(2)))) enum USB {}

extension USB {
  @Suite struct TrafficTests {
    @Test(arguments: [1, 2, 511, 512, 513, 1_024, 4_096, 16_384, 16_385, 100_000])
    func whatIsWrittenComesBack(_ count: Int) async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      try await OutputWriter(transport.output).write(pattern(count))
      #expect(try await reader.read(count) == pattern(count))
      await transport.close()
      #expect(try await reader.readToEnd() == .init(error: nil))
      #expect(!fake.isOpen && !fake.isClaimed)
    }

    @Test func severalTransfersAreAlwaysWithTheKernel() async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      try await eventually("four transfers") { fake.pendingInputs == 4 }
      let writer = OutputWriter(transport.output)
      for round in 0..<200 {
        try await writer.write(pattern(1_000, from: round))
        _ = try await reader.read(1_000)
      }
      #expect(transport.counters.starvations == 0)
      #expect(transport.counters.received >= 200)
      #expect(fake_usb_most_pending(fake.device, Descriptors.bulkIn) == 4)
      await transport.close()
    }

    /// Full transfers look like a stream, of which more may be there; when no more comes, they are told all the same.
    @Test(arguments: [1, 2, 3, 4, 5, 9])
    func fullTransfersAreToldWhenNothingFollows(_ transfers: Int) async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      for round in 0..<5 {
        fake.feed(pattern(16_384 * transfers, from: round))
        #expect(try await reader.read(16_384 * transfers) == pattern(16_384 * transfers, from: round))
      }
      #expect(transport.counters.starvations == 0)
      await transport.close()
    }

    /// A stream is fetched in large transfers, single messages in small ones, before it and behind it.
    @Test func transfersGrowWithAStream() async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      for round in 0..<10 {
        fake.feed(pattern(1_000, from: round))
        #expect(try await reader.read(1_000) == pattern(1_000, from: round))
      }
      #expect(fake_usb_longest(fake.device, Descriptors.bulkIn) == 16_384)
      fake.feed(pattern(3_000_000))
      #expect(try await reader.read(3_000_000) == pattern(3_000_000))
      #expect(fake_usb_longest(fake.device, Descriptors.bulkIn) == 65_536)
      fake.feed(pattern(1_000))
      #expect(try await reader.read(1_000) == pattern(1_000))
      try await eventually("a small transfer") { fake_usb_latest(fake.device, Descriptors.bulkIn) == 16_384 }
      #expect(transport.counters.starvations == 0)
      await transport.close()
    }

    @Test func aFullPacketAtTheEndIsFollowedByAnEmptyOne() async throws {
      let fake = FakeUSBDevice(echo: false)
      let transport = try await fake.open()
      for (count, isFull) in [(512, true), (511, false), (1_024, true), (1, false)] {
        #expect(transport.output.offer(pattern(count)) == .accepted)
        try await fake.outputs.wait { $0 > 0 }
        let output = try #require(fake.nextOutput())
        #expect(output.bytes == pattern(count))
        #expect(output.endsWithZeroPacket == isFull, "\(count) bytes")
        fake.outputs.update { $0 = 0 }
      }
      await transport.close()
    }

    @Test func aConsumerThatDoesNotReadStopsTheTransfersAndLosesNothing() async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let total = 2_000_000
      var fed = 0
      while fed < total {
        fake.feed(pattern(10_000, from: fed))
        fed += 10_000
      }
      try await eventually("a pause") { transport.counters.pauses > 0 && fake.pendingInputs == 0 }
      #expect(transport.input.count < 1_000_000)
      let reader = InputReader(transport.input)
      #expect(try await reader.read(total) == pattern(total))
      await transport.close()
    }

    /// What waits goes in large pieces; the order is that of the writes, and the last packet's end is seen.
    @Test func manyWritesGoInFewTransfers() async throws {
      let fake = FakeUSBDevice(echo: false)
      fake_usb_hold(fake.device, Descriptors.bulkOut, 1)
      let transport = try await fake.open()
      let count = try OutputWriter(transport.output).fill { pattern(4_096, from: $0) }
      try await eventually("transfers") { fake_usb_pending(fake.device, Descriptors.bulkOut) == 4 }
      fake_usb_hold(fake.device, Descriptors.bulkOut, 0)
      await transport.close()
      var outputs: [(bytes: [UInt8], endsWithZeroPacket: Bool)] = []
      while let output = fake.nextOutput() { outputs.append((output.bytes, output.endsWithZeroPacket)) }
      #expect(outputs.flatMap(\.bytes) == pattern(count))
      #expect(outputs.contains { $0.bytes.count > 16_384 })
      #expect(outputs.allSatisfy { $0.bytes.count <= 65_536 })
      #expect(outputs.last?.endsWithZeroPacket == true)
    }

    @Test func aDeviceThatTakesNothingFillsTheOutput() async throws {
      let fake = FakeUSBDevice()
      fake_usb_hold(fake.device, Descriptors.bulkOut, 1)
      let transport = try await fake.open()
      let writer = OutputWriter(transport.output)
      let count = try writer.fill { pattern(4_096, from: $0) }
      #expect(!transport.output.hasSpaceAvailable)
      let reader = InputReader(transport.input)
      fake_usb_hold(fake.device, Descriptors.bulkOut, 0)
      #expect(try await reader.read(count) == pattern(count))
      try await writer.notifications.wait { $0 > 0 }
      #expect(transport.output.hasSpaceAvailable)
      await transport.close()
    }

    @Test func aCloseLetsWhatWasWrittenGoOut() async throws {
      let fake = FakeUSBDevice(echo: false)
      fake_usb_hold(fake.device, Descriptors.bulkOut, 1)
      let transport = try await fake.open()
      #expect(transport.output.offer(pattern(80_000)) == .accepted)
      try await eventually("transfers") { fake_usb_pending(fake.device, Descriptors.bulkOut) == 2 }
      transport.beginClose()
      #expect(try await InputReader(transport.input).readToEnd() == .init(error: nil))
      #expect(transport.output.offer([1]) == .closed(nil))
      fake_usb_hold(fake.device, Descriptors.bulkOut, 0)
      await transport.close()
      #expect(!fake.isOpen)
      var bytes: [UInt8] = []
      while let output = fake.nextOutput() { bytes += output.bytes }
      #expect(bytes == pattern(80_000))
    }

    @Test func aDeviceThatTakesNothingDoesNotHoldUpAClose() async throws {
      let fake = FakeUSBDevice()
      fake_usb_hold(fake.device, Descriptors.bulkOut, 1)
      let transport = try await fake.open()
      #expect(transport.output.offer(pattern(20_000)) == .accepted)
      await transport.close()
      #expect(!fake.isOpen)
    }

    @Test func messagesKeepTheirBorders() async throws {
      let fake = FakeUSBDevice(Descriptors.reports, echo: false)
      let transport = try await fake.open { $0.interface = 0 }
      #expect(transport.shape == .paddedMessages, "reports of a HID interface have one size")
      #expect(transport.output.offer([1, 2, 3]) == .accepted)
      #expect(transport.output.offer(pattern(1_025)) == .accepted)
      try await fake.outputs.wait { $0 == 3 }
      #expect(fake.nextOutput()?.bytes == [1, 2, 3] + [UInt8](repeating: 0, count: 1_021))
      #expect(fake.nextOutput()?.bytes == pattern(1_024))
      #expect(fake.nextOutput()?.bytes == [pattern(1_025)[1_024]] + [UInt8](repeating: 0, count: 1_023))
      try await eventually("all to be sent") { transport.output.queuedCount == 0 }
      for count in [1_024, 0, 5] { fake.feed(pattern(count)) }
      try await eventually("three messages") { transport.counters.received == 3 }
      var (bytes, messages): ([UInt8], [Int]) = ([], [])
      #expect(transport.input.take(into: &bytes, messages: &messages) == .bytes)
      #expect(messages == [1_024, 0, 5])
      #expect(bytes == pattern(1_024) + pattern(5))
      await transport.close()
    }

    @Test func aSessionGivesMessagesOneByOne() async throws {
      let fake = FakeUSBDevice(Descriptors.reports, echo: false)
      let session = AccessorySession(try await fake.open { $0.interface = 0 })
      for count in [3, 0, 1_024, 7] { fake.feed(pattern(count)) }
      var messages = try #require(session.messages).makeAsyncIterator()
      for count in [3, 0, 1_024, 7] {
        let message = try await messages.next()
        #expect(message == pattern(count))
      }
      fake.unplug()
      do {
        let more = try await messages.next()
        Issue.record("\(more ?? [])")
      } catch {
        #expect(error.kind == .disconnected)
      }
      let end = try await messages.next()
      #expect(end == nil)
      let stream = AccessorySession(try await FakeUSBDevice().open())
      #expect(stream.messages == nil)
      await stream.close()
      await session.close()
    }

    @Test(arguments: [false, true]) func aAF1AccessoryAnswers(asReports: Bool) async throws {
      let fake = FakeAF1Accessory(asReports ? Descriptors.reports : Descriptors.bulk) {
        $0.battery.percent = 57
      }
      let transport = try await fake.usb.open { if asReports { $0.interface = 0 } }
      let link = try await AF1Accessory.open(AccessorySession(transport))
      let battery = try await link.battery()
      #expect(battery.percent == 57)
      let status = try await link.status()
      #expect(status.state == .idle)
      for count in [1, 2, 16, 500, 512, 1_000, 1_024, 2_048, 4_000, 4_096] {
        let reply = try await link.echo(pattern(count))
        #expect(reply == pattern(count), "\(count) bytes")
      }
      await link.close()
    }

    @Test func oneThreadServesManyDevices() async throws {
      let before = ThisProcess.threadCount(named: "accessory-io")
      var transports: [(USBTransport, FakeUSBDevice, InputReader)] = []
      for _ in 0..<8 {
        let fake = FakeUSBDevice()
        let transport = try await fake.open()
        transports.append((transport, fake, InputReader(transport.input)))
      }
      #expect(ThisProcess.threadCount(named: "accessory-io") == max(1, before))
      #expect(ThisProcess.threadCount(named: "libusb_event") == 0)
      // One goes; the rest are undisturbed.
      transports[3].1.unplug()
      #expect(try await transports[3].2.readToEnd().error?.kind == .disconnected)
      for (index, (transport, _, reader)) in transports.enumerated() where index != 3 {
        try await OutputWriter(transport.output).write(pattern(5_000, from: index))
        #expect(try await reader.read(5_000) == pattern(5_000, from: index))
      }
      for (transport, _, _) in transports { await transport.close() }
    }
  }
}
