// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CFakeUSB
import Glibc
import TestSupport
import Testing

extension USB {
  /// What goes wrong while the device stays.
  @Suite struct TroubleTests {
    @Test(arguments: [EPROTO, EILSEQ, EOVERFLOW, ETIME]) func aLoneErrorIsAGlitch(_ status: CInt) async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      try await eventually("four transfers") { fake.pendingInputs == 4 }
      #expect(fake_usb_finish(fake.device, Descriptors.bulkIn, -status, 0) == 1)
      try await eventually("the failure") { transport.counters.failures == 1 }
      try await OutputWriter(transport.output).write(pattern(2_000))
      #expect(try await reader.read(2_000) == pattern(2_000))
      try await eventually("four transfers again") { fake.pendingInputs == 4 }
      #expect(transport.counters.glitches == 1)
      await transport.close()
      #expect(try await reader.readToEnd() == .init(error: nil))
    }

    @Test func whatCameBeforeAnErrorCounts() async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      try await eventually("four transfers") { fake.pendingInputs == 4 }
      #expect(fake_usb_finish(fake.device, Descriptors.bulkIn, -EPROTO, 100) == 1)
      #expect(try await InputReader(transport.input).read(100) == [UInt8](repeating: 0, count: 100))
      await transport.close()
    }

    @Test(arguments: [EPROTO, EPIPE]) func whatTheDeviceDidNotTakeIsSentAgainInOrder(_ status: CInt) async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      fake_usb_fail(fake.device, Descriptors.bulkOut, -status, 1)
      // A halt keeps back what is behind it. After a mere error the controller goes on, so only one transfer is told.
      let count = status == EPIPE ? 60_000 : 10_000
      try await OutputWriter(transport.output).write(pattern(count), piece: count)
      #expect(try await reader.read(count) == pattern(count))
      if status == EPIPE {
        #expect(fake_usb_cleared_halts(fake.device) >= 1)
        #expect(transport.counters.stalls >= 1)
      } else {
        #expect(transport.counters.glitches == 1)
      }
      await transport.close()
    }

    /// The end of one endpoint's halt falls into the time in which the other's transfers are being cancelled.
    @Test func bothEndpointsHaltAgainAndAgainAndTheOrderIsKept() async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      let writer = OutputWriter(transport.output)
      let (rounds, count) = (25, 20_000)
      for round in 0..<rounds {
        // One transfer is halted, and the idle others must not carry what is written behind it.
        fake_usb_hold(fake.device, Descriptors.bulkOut, 1)
        try await writer.write(pattern(100, from: round))
        try await eventually("transfers") {
          fake_usb_pending(fake.device, Descriptors.bulkOut) == 1 && fake.pendingInputs == 4
        }
        // On the I/O thread, so that it finds both halts at once.
        await withCheckedContinuation { continuation in
          IOThread.shared.post {
            fake_usb_fail(fake.device, Descriptors.bulkOut, -EPIPE, 1)
            fake_usb_fail(fake.device, Descriptors.bulkIn, -EPIPE, 1)
            fake_usb_hold(fake.device, Descriptors.bulkOut, 0)
            continuation.resume()
          }
        }
        try await writer.write(pattern(count, from: round + 100), piece: 100)
        #expect(try await reader.read(100 + count) == pattern(100 + count, from: round), "round \(round)")
      }
      #expect(transport.counters.stalls == 2 * rounds)
      await transport.close()
      #expect(try await reader.readToEnd() == .init(error: nil))
    }

    @Test func aPartOfATransferIsNotSentTwice() async throws {
      let fake = FakeUSBDevice()
      fake_usb_hold(fake.device, Descriptors.bulkOut, 1)
      let transport = try await fake.open()
      #expect(transport.output.offer(pattern(1_000)) == .accepted)
      try await eventually("a transfer") { fake_usb_pending(fake.device, Descriptors.bulkOut) == 1 }
      #expect(fake_usb_finish(fake.device, Descriptors.bulkOut, -EPROTO, 300) == 1)
      fake_usb_hold(fake.device, Descriptors.bulkOut, 0)
      // The fake gives back only what it took itself: the rest.
      #expect(try await InputReader(transport.input).read(700) == pattern(700, from: 300))
      try await eventually("all to be sent") { transport.output.queuedCount == 0 }
      await transport.close()
    }

    @Test func aStalledInputIsClearedAndGoesOn() async throws {
      let fake = FakeUSBDevice()
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      try await eventually("four transfers") { fake.pendingInputs == 4 }
      fake_usb_fail(fake.device, Descriptors.bulkIn, -EPIPE, 1)
      try await eventually("the halt's end") { transport.counters.stalls == 1 && fake.pendingInputs == 4 }
      #expect(fake_usb_cleared_halts(fake.device) == 1)
      fake.feed(pattern(50))
      #expect(try await reader.read(50) == pattern(50))
      await transport.close()
    }

    @Test(arguments: [Descriptors.bulkIn, Descriptors.bulkOut])
    func aDeviceThatStallsEverythingIsGivenUp(_ endpoint: UInt8) async throws {
      let fake = FakeUSBDevice()
      fake_usb_fail(fake.device, endpoint, -EPIPE, 1 << 20)
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      _ = transport.output.offer([1])
      let ending = try await reader.readToEnd()
      #expect(ending.error?.kind == .refused)
      #expect(fake_usb_cleared_halts(fake.device) <= 5)
      await transport.close()
      #expect(!fake.isOpen)
    }

    @Test func aDeviceThatAlwaysFailsIsGivenUpWithoutASpin() async throws {
      let fake = FakeUSBDevice()
      fake_usb_fail(fake.device, Descriptors.bulkIn, -EPROTO, 1 << 20)
      let transport = try await fake.open()
      let ending = try await InputReader(transport.input).readToEnd()
      #expect(ending.error?.kind == .ioFailure)
      #expect(fake_usb_submitted(fake.device, Descriptors.bulkIn) < 200)
      await transport.close()
    }

    @Test func aLateDeviceIsWaitedFor() async throws {
      let fake = FakeUSBDevice()
      fake_usb_hold(fake.device, Descriptors.bulkIn, 1)
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      try await OutputWriter(transport.output).write(pattern(10))
      try await eventually("the write") { transport.counters.sent == 1 }
      #expect(transport.input.count == 0)
      fake_usb_hold(fake.device, Descriptors.bulkIn, 0)
      #expect(try await reader.read(10) == pattern(10))
      await transport.close()
    }
  }
}
