// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

extension ProcessWide {
  /// Nothing is left behind, however often.
  @Suite struct EnduranceTests {
    private func expectNothingGrows(_ cycles: Int, _ cycle: (Int) async throws -> Void) async throws {
      for number in 0..<20 { try await cycle(number) }  // threads of the dispatch pool come, and stay for a while
      await IOThread.shared.barrier()
      let threads = ThisProcess.threadCount
      let descriptors = ThisProcess.descriptors
      for number in 0..<cycles { try await cycle(number) }
      try await ThisProcess.waitForNoDescriptors(except: descriptors)
      try await eventually("threads to be as they were, but for the pool's") { ThisProcess.threadCount <= threads + 8 }
      try await eventually("one I/O thread") { ThisProcess.threadCount(named: "accessory-io") == 1 }
    }

    @Test func aThousandOpeningsLeaveNothingBehind() async throws {
      let terminal = try openPseudoTerminal()
      try await expectNothingGrows(1_000) { number in
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let reader = InputReader(transport.input)
        try await terminal.write([UInt8(truncatingIfNeeded: number)])
        #expect(try await reader.read(1) == [UInt8(truncatingIfNeeded: number)])
        _ = transport.output.offer([1])
        await transport.close()
      }
    }

    @Test func aThousandUnplugsLeaveNothingBehind() async throws {
      try await expectNothingGrows(1_000) { number in
        let terminal = try openPseudoTerminal()
        let transport = try await DescriptorTransport.open(.init(path: terminal.path))
        let reader = InputReader(transport.input)
        terminal.unplug()
        #expect(try await reader.readToEnd().error?.kind == .disconnected)
        // Nobody closes it: there is nothing left to close.
      }
    }

    @Test func aHundredPseudoTerminalsLeaveNothingOpen() async throws {
      try await expectNothingGrows(100) { _ in
        let pair = try await PseudoTerminal.open()
        let far = try await DescriptorTransport.open(.init(path: pair.path))
        await pair.transport.close()
        #expect(try await InputReader(far.input).readToEnd().error?.kind == .disconnected)
      }
    }

    @Test func failuresToOpenLeaveNothingBehind() async throws {
      let terminal = try openPseudoTerminal()
      let owner = try await DescriptorTransport.open(.init(path: terminal.path))
      try await expectNothingGrows(300) { _ in
        let kinds: [String: AccessoryError.Kind] = [
          terminal.path: .busy, "/dev/null": .unsupported, "/nowhere": .notFound,
        ]
        for (path, kind) in kinds {
          let error = await #expect(throws: AccessoryError.self) {
            try await DescriptorTransport.open(.init(path: path))
          }
          #expect(error?.kind == kind)
        }
      }
      await owner.close()
    }
  }
}
