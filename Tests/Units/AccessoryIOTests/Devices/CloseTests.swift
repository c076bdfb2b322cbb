// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage
import TestSupport
import Testing

extension ProcessWide {
  @Suite struct CloseTests {
    @Test func aCloseByTheOwnerIsANormalEnd() async throws {
      let terminal = try openPseudoTerminal()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      let reader = InputReader(transport.input)
      await transport.close()
      #expect(try await reader.readToEnd() == .init(error: nil))
      #expect(reader.notifications.value == 1)
      #expect(transport.output.offer([1]) == .closed(nil))
    }

    @Test func whatHadArrivedIsStillThereAfterAClose() async throws {
      let terminal = try openPseudoTerminal()
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      try await terminal.write(pattern(1_000))
      try await eventually("all to arrive") { transport.input.count == 1_000 }
      await transport.close()
      #expect(try await InputReader(transport.input).readToEnd() == .init(bytes: pattern(1_000), error: nil))
    }

    @Test func whenCloseReturnsTheDeviceIsFree() async throws {
      let terminal = try openPseudoTerminal()
      for _ in 0..<20 {
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        await transport.close()
      }
      // A close without waiting ends it, too.
      let transport = try await DescriptorTransport.open(.init(path: terminal.path))
      transport.beginClose()
      #expect(try await InputReader(transport.input).readToEnd().error == nil)
      await transport.close()
      await (try await DescriptorTransport.open(.init(path: terminal.path))).close()
    }

    @Test func closingTwiceClosesOnce() async throws {
      let terminal = try openPseudoTerminal()
      let before = ThisProcess.openPaths(beginningWith: terminal.path).count
      try await CallLog.record { log in
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let descriptor = try await log.first(.ioctl).descriptor
        let reader = InputReader(transport.input)
        await withTaskGroup(of: Int.self) { group in
          for _ in 0..<20 {
            group.addTask {
              transport.beginClose()
              await transport.close()
              return ThisProcess.openPaths(beginningWith: terminal.path).count
            }
          }
          for await count in group { #expect(count == before, "closed for everybody who waited") }
        }
        await transport.close()
        #expect(log.closeCount(of: descriptor) == 1)
        #expect(try await reader.readToEnd() == .init(error: nil))
        #expect(reader.notifications.value == 1)
      }
    }

    @Test func closingAndUnpluggingAtOnceIsOneEnd() async throws {
      for _ in 0..<50 {
        let terminal = try openPseudoTerminal()
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let reader = InputReader(transport.input)
        async let unplugging: Void = blocking { terminal.unplug() }
        async let closing: Void = transport.close()
        try await unplugging
        await closing
        let ending = try await reader.readToEnd()
        #expect(ending.error == nil || ending.error?.kind == .disconnected)
        #expect(transport.output.offer([1]) == .closed(ending.error))
        #expect(reader.notifications.value == 1)
      }
    }

    @Test func aTransportThatIsClosedIsFreed() async throws {
      let terminal = try openPseudoTerminal()
      weak var freed: DescriptorTransport?
      do {
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        freed = transport
        // As a consumer does that owns its transport.
        transport.input.onReadable { withExtendedLifetime(transport) {} }
        transport.output.onSpace { withExtendedLifetime(transport) {} }
        await transport.close()
      }
      await IOThread.shared.barrier()
      try await eventually("the transport to be freed") { freed == nil }
    }
  }
}
