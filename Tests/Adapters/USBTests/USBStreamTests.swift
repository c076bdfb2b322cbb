// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import CFakeUSB
import Glibc
import TestSupport
import Testing

extension USB {
  /// Devices that never let the host wait: what a benchmark measures arrives whole and in order.
  @Suite struct StreamTests {
    /// Transfers end in the call that submits them, or one each 125 µs.
    @Test(arguments: [0, 125_000]) func aSourceIsReadInOrder(interval: Int) async throws {
      let fake = FakeUSBDevice(echo: false)
      fake_usb_source(fake.device, Descriptors.bulkIn)
      if interval > 0 { #expect(fake_usb_tick(fake.device, interval) == 0) }
      let transport = try await fake.open()
      let reader = InputReader(transport.input)
      var (position, isInOrder) = (0, true)
      while position < 8_000_000 {
        let bytes = try await reader.read(1_000_000)
        isInOrder = isInOrder && bytes == pattern(bytes.count, from: position)
        position += bytes.count
      }
      #expect(isInOrder)
      await transport.close()
      #expect(!fake.isOpen)
    }

    @Test(arguments: [0, 125_000]) func aSinkAnswersWhenItHasAll(interval: Int) async throws {
      let fake = FakeUSBDevice(echo: false)
      fake_usb_sink(fake.device, Descriptors.bulkOut, 4_000_000, Descriptors.bulkIn)
      if interval > 0 { #expect(fake_usb_tick(fake.device, interval) == 0) }
      let transport = try await fake.open()
      let (reader, writer) = (InputReader(transport.input), OutputWriter(transport.output))
      for _ in 0..<2 {
        for start in stride(from: 0, to: 4_000_000, by: 16_000) {
          if start == 3_984_000 { #expect(transport.input.count == 0, "not before it has all") }
          try await writer.write(pattern(16_000, from: start))
        }
        #expect(try await reader.read(1) == Array("!".utf8))
      }
      await transport.close()
    }

    @Test func anEchoGoesByTicks() async throws {
      let fake = FakeUSBDevice()
      #expect(fake_usb_tick(fake.device, 125_000) == 0)
      let transport = try await fake.open()
      let (reader, writer) = (InputReader(transport.input), OutputWriter(transport.output))
      for round in 0..<50 {
        try await writer.write(pattern(1_000, from: round))
        #expect(try await reader.read(1_000) == pattern(1_000, from: round))
      }
      fake.unplug()
      #expect(try await reader.readToEnd().error?.kind == .disconnected)
      await transport.close()
    }
  }
}
