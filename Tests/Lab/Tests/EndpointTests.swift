// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// Accessories on pairs of endpoints: bulk, and reports of 1024 bytes whose driver has to let go.
  @Suite struct EndpointTests {
    @Test(arguments: [SimulatedUSBIdentity.Kind.bulk, .reports])
    func whoAndHow(kind: SimulatedUSBIdentity.Kind) async throws {
      let plugged = try await EndpointPlug(kind) {
        $0.device.battery = AF1BatteryReply(level: .normal, percent: 57, millivolts: 3_712, charge: .discharging)
      }
      let before = plugged.driver
      #expect(before == (kind == .reports ? "usbhid" : nil))
      let transport = try await plugged.open()
      #expect(plugged.driver == "usbfs")
      let accessory = try await FramedAccessory.open(AccessorySession(transport))
      #expect(try await accessory.identify().serialNumber == "SIM0001")
      #expect(try await accessory.status() == AccessoryStatus(state: .idle))
      #expect(try await accessory.battery().percent == 57)
      // Around the sizes of packets and reports, headers counted.
      for count in [1, 16, 497, 498, 499, 512, 1_009, 1_010, 1_011, 1_024, 2_048, 4_095, 4_096] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(try await accessory.echo(bytes) == bytes)
      }
      #expect(transport.counters.starvations == 0 && transport.counters.failures == 0)
      await accessory.close()
      #expect(plugged.driver == before, "the kernel's driver has its interface back")
      try await plugged.stop()
    }

    /// 4 MiB there and back, every byte right; the device sends back what it gets.
    @Test func aStream() async throws {
      try #require(Kernel.isReady)
      let device = try await USBDeviceTransport.plugIn(SimulatedUSBIdentity(.bulk), into: KernelHost())
      let mirror = AccessorySession(device)
      let reflecting = Task { for try await piece in mirror.input { try await mirror.write(piece) } }
      let node = try await Kernel.endpointNode(device.label, isHID: false)
      let transport = try await USBTransport.open(USBConfiguration(path: node))
      let session = AccessorySession(transport)
      let total = 4 << 20
      let sent = (0..<total).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
      let start = MonotonicTime.now
      async let sending: Void = session.write(sent)
      var received: [UInt8] = []
      received.reserveCapacity(total)
      for try await piece in session.input {
        received += piece
        if received.count >= total { break }
      }
      try await sending
      #expect(received.count == total)
      #expect(memcmp(received, sent, min(received.count, total)) == 0)
      #expect(transport.counters.starvations == 0)
      print("lab: bulk: \(total >> 10) KiB there and back in \(MonotonicTime.now - start)")
      await session.close()
      await mirror.close()
      _ = try? await reflecting.value
      try await Kernel.waitForNo(node)
    }

    @Test func oneAtATime() async throws {
      let plugged = try await EndpointPlug(.bulk)
      let first = try await plugged.open()
      do {
        _ = try await plugged.open()
        Issue.record("the same interface twice")
      } catch let error as AccessoryError {
        #expect(error.kind == .busy)
      }
      await first.close()
      let again = try await plugged.accessory()
      #expect(try await again.battery().percent == 100)
      await again.close()
      try await plugged.stop()
    }

    /// A halted endpoint is cleared, a transfer that fails is repeated; the request too, and answered.
    @Test(arguments: [true, false]) func faultsOnTheBus(isStall: Bool) async throws {
      let plugged = try await EndpointPlug(.bulk) {
        if isStall { $0.faults.stall = 2 } else { $0.faults.protocolError = 2 }
      }
      let transport = try await plugged.open()
      let accessory = try await FramedAccessory.open(AccessorySession(transport))
      for number in 1...4 as ClosedRange<UInt8> { #expect(try await accessory.echo([number]) == [number]) }
      #expect(isStall ? transport.counters.stalls == 1 : transport.counters.failures >= 1)
      await accessory.close()
      try await plugged.stop()
    }

    /// What udev tells of devices as they come and go: each once, in order, the same identity both times.
    @Test func udevTellsOfEach() async throws {
      let source = UdevSource()
      let told = Watched<[String]>([])
      let watching = Task {
        for await event in try await source.events() {
          switch event {
          case .added(let device): told.update { $0.append("+\(device.id)") }
          case .removed(let device): told.update { $0.append("-\(device.id)") }
          case .changed: break
          }
        }
      }
      var expected: [String] = []
      for round in 0..<3 {
        for kind in [SimulatedUSBIdentity.Kind.bulk, .reports] {
          let serial = "R\(round)\(kind.rawValue)"
          let plugged = try await EndpointPlug(kind) { $0.device.identity.serialNumber = serial }
          try await told.wait { $0.last == "+\(serial)" }
          let device = try await source.devices().first { $0.id == serial }
          #expect(device?.path == plugged.node)
          #expect(device?.isInitialized == true)
          #expect(device?.usb?.interfaces.first?.driver == (kind == .reports ? "usbhid" : nil))
          try await plugged.stop()
          try await told.wait { $0.last == "-\(serial)" }
          expected += ["+\(serial)", "-\(serial)"]
        }
      }
      #expect(told.value == expected)
      watching.cancel()
    }
  }
}
