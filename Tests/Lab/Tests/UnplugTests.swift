// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import FamilyAF1Simulator
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// The cable is pulled at every moment of an open accessory's life: one `disconnected`, nothing left behind, and what
  /// is plugged in next has the same name.
  @Suite struct UnplugTests {
    /// Pulls the cable in the middle of `body`, which gets the way to do it, and plugs in again.
    private func unplug(
      _ kind: SimulatedUSBIdentity.Kind, _ what: String,
      _ change: (inout AF1Simulator.Configuration) -> Void = { _ in },
      _ body: (PluggedIn, @escaping @Sendable () async -> Void) async throws -> Void
    ) async throws {
      let plugged = try await PluggedIn(kind, change)
      let before = ThisProcess.openPaths(beginningWith: plugged.node).count
      let pulled = Watched<MonotonicTime?>(nil)
      try await body(plugged) {
        pulled.update { $0 = .now }
        await plugged.simulator.unplug()
      }
      if let pulled = pulled.value {
        print("lab: \(kind.rawValue), \(what): the end was known \(MonotonicTime.now - pulled) after the unplug")
      }
      try await Kernel.waitForNo(plugged.node)
      try await Kernel.waitForNo(plugged.path)
      #expect(ThisProcess.openPaths(beginningWith: plugged.node).count == before)
      let path = try await plugged.simulator.plugIn()
      let node = try await Kernel.node(path, kind)
      #expect(path == plugged.path, "the same port")
      // usbfs counts all that were ever plugged in.
      if node.hasPrefix("/dev/tty") { #expect(node == plugged.node, "the same name again") }
      let accessory = try await AF1Accessory.open(AccessorySession(try await PluggedIn.open(node, kind)))
      #expect(try await accessory.battery().percent == 100)
      await accessory.close()
      await plugged.simulator.stop()
      try await Kernel.waitForNo(node)
    }

    private func expectDisconnect(_ transport: any Transport, _ reader: InputReader) async throws -> [UInt8] {
      let ending = try await reader.readToEnd()
      #expect(ending.error?.kind == .disconnected)
      #expect(transport.output.offer([1]) == .closed(ending.error))
      #expect(try await reader.readToEnd() == .init(error: ending.error), "once")
      await transport.close()
      return ending.bytes
    }

    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func pullingAnIdleCableIsADisconnection(kind: SimulatedUSBIdentity.Kind) async throws {
      try await unplug(kind, "idle") { plugged, pull in
        let transport = try await plugged.open()
        let reader = InputReader(transport.input)
        await pull()
        #expect(try await expectDisconnect(transport, reader) == [])
      }
    }

    /// The accessory talks without end: all that was read is right, up to the end.
    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func pullingTheCableAmidAReadKeepsWhatCame(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      try await unplug(kind, "mid-read") { plugged, pull in
        let transport = try await plugged.open()
        let reader = InputReader(transport.input)
        let talking = Task {
          for state in 0... {
            try Task.checkCancellation()
            await plugged.simulator.setStatus(
              AF1StatusReply(state: .busy, faultCode: UInt16(truncatingIfNeeded: state)))
          }
        }
        let first = try await reader.read(200)
        await pull()
        talking.cancel()
        let bytes = try await first + expectDisconnect(transport, reader)
        var codec = AF1Codec(maximumPayload: 100)
        var batch = FrameBatch<AF1Header>()
        codec.decode(bytes.span.bytes, into: &batch)
        #expect(batch.count > 0)
        if kind != .reports { #expect(codec.counters.skippedBytes == 0) }
        #expect(codec.counters.headerErrors + codec.counters.payloadErrors == 0)
      }
    }

    /// The accessory takes nothing more, and whoever waits for room is told.
    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func pullingTheCableFailsAWaitingWrite(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      try #require(Kernel.isReady)
      let device = try await USBDeviceTransport.plugIn(
        SimulatedUSBIdentity(kind), into: KernelHost(), io: Kernel.devices)
      let node = try await Kernel.node(device.label, kind)
      let transport = try await PluggedIn.open(node, kind)
      let reader = InputReader(transport.input)
      let session = AccessorySession(transport)
      let writing = Task { () -> AccessoryError? in
        do throws(AccessoryError) {
          while true { try await session.write([UInt8](repeating: 7, count: 1_000)) }
        } catch {
          return error
        }
      }
      // Nobody takes what arrives in the device, so it stops taking.
      try await eventually("the way to be full") { device.input.count > 0 && transport.output.queuedCount > 4_000 }
      let start = MonotonicTime.now
      await device.close()
      #expect(await writing.value?.kind == .disconnected)
      #expect(try await expectDisconnect(transport, reader) == [])
      print("lab: \(kind.rawValue), mid-write: the end was known \(MonotonicTime.now - start) after the unplug")
      try await Kernel.waitForNo(node)
      let again = try await PluggedIn(kind)
      if node.hasPrefix("/dev/tty") { #expect(again.node == node) }
      try await again.stop()
    }

    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func pullingTheCableFailsTheRequest(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      try await unplug(kind, "mid-request", { $0.faults.delay = .milliseconds(50) }) { plugged, pull in
        let accessory = try await plugged.accessory()
        let asking = Task { () -> AccessoryError? in
          do throws(AccessoryError) {
            while true { _ = try await accessory.status() }
          } catch {
            return error
          }
        }
        _ = try await accessory.status()
        await pull()
        #expect(await asking.value?.kind == .disconnected)
        await accessory.close()
      }
    }

    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func pullingTheCableWhileOpeningIsReported(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      try await unplug(kind, "opening") { plugged, pull in
        let opening = Task { try await plugged.open() }
        await pull()
        do {
          let transport = try await opening.value
          _ = try await expectDisconnect(transport, InputReader(transport.input))
        } catch let error as AccessoryError {
          #expect([.disconnected, .notFound].contains(error.kind), "\(error)")
        }
      }
    }

    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func pullingTheCableWhileClosingIsHarmless(kind: SimulatedUSBIdentity.Kind)
      async throws
    {
      try await unplug(kind, "closing") { plugged, pull in
        let transport = try await plugged.open()
        let reader = InputReader(transport.input)
        async let closed: Void = transport.close()
        await pull()
        await closed
        // Whichever came first, it is one end.
        let ending = try await reader.readToEnd()
        #expect(ending.error == nil || ending.error?.kind == .disconnected)
        #expect(try await reader.readToEnd() == .init(error: ending.error))
      }
    }
  }
}
