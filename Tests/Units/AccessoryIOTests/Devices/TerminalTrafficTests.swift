// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import TestSupport
import Testing

extension ProcessWide {
  @Suite struct TerminalTrafficTests {
    @Test func allByteValuesPassBothWays() async throws {
      let terminal = try openPseudoTerminal()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      let reader = InputReader(transport.input)
      let writer = OutputWriter(transport.output)
      let all = (0...255).map { UInt8($0) }
      // Each value alone, too: line editing shows only then (0x04 ends input, 0x16 quotes the next byte).
      for bytes in [all, all.reversed(), all.flatMap { [$0, $0] }] + all.map({ [$0] }) {
        try await terminal.write(bytes)
        #expect(try await reader.read(bytes.count) == bytes)
        try await writer.write(bytes)
        #expect(try await terminal.read(bytes.count) == bytes)
      }
      await transport.close()
    }

    @Test func muchPassesBothWaysAtOnce() async throws {
      let terminal = try openPseudoTerminal()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      let reader = InputReader(transport.input)
      let writer = OutputWriter(transport.output)
      let bytes = pattern(400_000)
      async let sent: Void = terminal.write(bytes)
      async let sending: Void = writer.write(bytes, piece: 1_000)
      async let received = terminal.read(bytes.count)
      #expect(try await reader.read(bytes.count) == bytes)
      try await sent
      try await sending
      #expect(try await received == bytes)
      #expect(transport.output.queuedCount == 0)
      await transport.close()
    }

    @Test func aConsumerThatTakesNothingStopsTheProducer() async throws {
      let terminal = try openPseudoTerminal()
      try await CallLog.record { log in
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let descriptor = try await log.first(.ioctl).descriptor
        try await log.first(.epollControl, on: descriptor)  // watched
        let bytes = pattern(1_000_000)
        var sent = 0
        while log.count(.epollControl, on: descriptor) < 2 {  // until it is no longer watched for reading
          try Task.checkCancellation()
          try #require(sent < bytes.count, "the producer was never refused")
          if let count = try terminal.writeSome(Array(bytes[sent...].prefix(4_096))) {
            sent += count
          } else {
            await IOThread.shared.barrier()
          }
        }
        let reads = log.count(.read, on: descriptor)
        while let count = try terminal.writeSome(Array(bytes[sent...].prefix(4_096))) { sent += count }
        #expect(sent < 256 * 1_024, "the producer is refused, and memory is bounded")
        #expect(log.count(.read, on: descriptor) == reads, "a paused descriptor is not read")
        async let sending: Void = terminal.write(Array(bytes[sent...]))
        let reader = InputReader(transport.input)
        #expect(try await reader.read(bytes.count) == bytes)
        try await sending
        await transport.close()
      }
    }

    @Test func aDeviceThatTakesNothingStopsTheWriter() async throws {
      let terminal = try openPseudoTerminal()
      try await CallLog.record { log in
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let descriptor = try await log.first(.ioctl).descriptor
        let writer = OutputWriter(transport.output)
        #expect(transport.output.hasSpaceAvailable)
        // Until the kernel takes nothing any more, the transport may make space at any moment.
        async let first = Self.fillUntilTheKernelIsFull(writer, log, descriptor)
        var count = try await first
        count += try writer.fill { pattern(1_000, from: count + $0) }
        #expect(!transport.output.hasSpaceAvailable)
        #expect(transport.output.queuedCount >= 65_536)
        #expect(transport.output.queuedCount <= 65_536 + 1_000)
        let seen = writer.notifications.value
        let writes = log.count(.write, on: descriptor)
        await IOThread.shared.barrier()
        #expect(log.count(.write, on: descriptor) == writes, "no write while the device takes nothing")
        #expect(try await terminal.read(count) == pattern(count))
        try await writer.notifications.wait { $0 > seen }
        #expect(transport.output.hasSpaceAvailable)
        try await writer.write([1, 2, 3])
        #expect(try await terminal.read(3) == [1, 2, 3])
        await transport.close()
      }
    }

    private static func fillUntilTheKernelIsFull(
      _ writer: OutputWriter, _ log: CallLog, _ descriptor: CInt
    ) async throws -> Int {
      var count = 0
      while log.count(.epollControl, on: descriptor) < 2 {  // watched; watched for writing as well
        try Task.checkCancellation()
        count += try writer.fill { from in pattern(1_000, from: count + from) }
        await IOThread.shared.barrier()
      }
      return count
    }
  }
}
