// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// The cable is pulled at every moment of a pair of endpoints' life: one `disconnected`, nothing left behind, and the
  /// next one works.
  @Suite struct EndpointUnplugTests {
    private func unplug(
      _ kind: SimulatedUSBIdentity.Kind, _ what: String,
      _ change: (inout FramedSimulator.Configuration) -> Void = { _ in },
      _ body: (EndpointPlug, @escaping @Sendable () async -> Void) async throws -> Void
    ) async throws {
      let plugged = try await EndpointPlug(kind, change)
      let pulled = Watched<MonotonicTime?>(nil)
      try await body(plugged) {
        pulled.update { $0 = .now }
        await plugged.simulator.unplug()
      }
      if let pulled = pulled.value {
        print("lab: \(kind.rawValue), \(what): the end was known \(MonotonicTime.now - pulled) after the unplug")
      }
      try await Kernel.waitForNo(plugged.node)
      #expect(ThisProcess.openPaths(beginningWith: "/dev/bus/usb").isEmpty)
      await plugged.simulator.stop()
      let again = try await EndpointPlug(kind)
      let accessory = try await again.accessory()
      #expect(try await accessory.battery().percent == 100)
      await accessory.close()
      try await again.stop()
    }

    private func expectDisconnect(_ transport: USBTransport, _ reader: InputReader) async throws -> [UInt8] {
      let ending = try await reader.readToEnd()
      #expect(ending.error?.kind == .disconnected)
      #expect(transport.output.offer([1]) == .closed(ending.error))
      #expect(try await reader.readToEnd() == .init(error: ending.error), "once")
      await transport.close()
      return ending.bytes
    }

    @Test(arguments: [SimulatedUSBIdentity.Kind.bulk, .reports]) func idle(kind: SimulatedUSBIdentity.Kind) async throws
    {
      try await unplug(kind, "idle") { plugged, pull in
        let transport = try await plugged.open()
        let reader = InputReader(transport.input)
        await pull()
        #expect(try await expectDisconnect(transport, reader) == [])
      }
    }

    @Test(arguments: [SimulatedUSBIdentity.Kind.bulk, .reports])
    func midRead(kind: SimulatedUSBIdentity.Kind) async throws {
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
        #expect(batch.count >= 1)
        #expect(codec.counters.headerErrors + codec.counters.payloadErrors == 0)
      }
    }

    /// The accessory takes nothing more, and whoever waits for room is told.
    @Test(arguments: [SimulatedUSBIdentity.Kind.bulk, .reports])
    func midWrite(kind: SimulatedUSBIdentity.Kind) async throws {
      try #require(Kernel.isReady)
      let device = try await USBDeviceTransport.plugIn(SimulatedUSBIdentity(kind), into: KernelHost())
      let node = try await Kernel.endpointNode(device.label, isHID: kind == .reports)
      var configuration = USBConfiguration(path: node)
      configuration.interface = 0
      let transport = try await USBTransport.open(configuration)
      let reader = InputReader(transport.input)
      let session = AccessorySession(transport)
      let writing = Task { () -> AccessoryError? in
        do throws(AccessoryError) {
          while true { try await session.write([UInt8](repeating: 7, count: 10_000)) }
        } catch {
          return error
        }
      }
      try await eventually("the way to be full", within: .seconds(60)) {
        device.input.count >= 65_536 && !transport.output.hasSpaceAvailable
      }
      let start = MonotonicTime.now
      await device.close()
      #expect(await writing.value?.kind == .disconnected)
      #expect(try await expectDisconnect(transport, reader) == [])
      print("lab: \(kind.rawValue), mid-write: the end was known \(MonotonicTime.now - start) after the unplug")
      try await Kernel.waitForNo(node)
    }

    @Test(arguments: [SimulatedUSBIdentity.Kind.bulk, .reports])
    func midRequest(kind: SimulatedUSBIdentity.Kind) async throws {
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

    @Test(arguments: [SimulatedUSBIdentity.Kind.bulk, .reports])
    func opening(kind: SimulatedUSBIdentity.Kind) async throws {
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

    @Test(arguments: [SimulatedUSBIdentity.Kind.bulk, .reports])
    func closing(kind: SimulatedUSBIdentity.Kind) async throws {
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
