// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// Accessories of all kinds: behind the kernel's serial drivers, cdc_acm and ftdi_sio, and at a pair of bulk or
  /// interrupt endpoints.
  @Suite struct TrafficTests {
    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func identityStatusBatteryAndEchoAreAnswered(kind: SimulatedUSBIdentity.Kind) async throws {
      let plugged = try await PluggedIn(kind) {
        $0.device.battery = AF1BatteryReply(level: .normal, percent: 57, millivolts: 3_712, charge: .discharging)
      }
      if kind == .modem { #expect(plugged.node == "/dev/ttyACM0") }
      if kind == .ftdi { #expect(plugged.node == "/dev/ttyUSB0") }
      let accessory = try await plugged.accessory()
      #expect(try await accessory.identify().serialNumber == "SIM0001")
      #expect(try await accessory.status() == AccessoryStatus(state: .idle, reportsFaults: true))
      #expect(try await accessory.battery().percent == 57)
      // Around the sizes of packets and of the kernel's buffers.
      for count in [1, 47, 48, 49, 50, 62, 63, 64, 497, 498, 499, 512, 1_009, 1_010, 1_011, 1_024, 4_095, 4_096] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(try await accessory.echo(bytes) == bytes)
      }
      // Reports are filled up with zeros, which no frame is made of.
      if kind != .reports { #expect(accessory.link.statistics.frames.skippedBytes == 0) }
      #expect(accessory.link.statistics.link.retries == 0)
      await accessory.close()
      try await plugged.stop()
    }

    /// 4 MiB there and back, every byte right; the device sends back what it gets.
    @Test(arguments: SimulatedUSBIdentity.Kind.allCases)
    func aStreamThereAndBackIsUnchanged(kind: SimulatedUSBIdentity.Kind) async throws {
      try #require(Kernel.isReady)
      let device = try await USBDeviceTransport.plugIn(
        SimulatedUSBIdentity(kind), into: KernelHost(), io: Kernel.devices)
      let mirror = AccessorySession(device)
      let reflecting = Task { for try await piece in mirror.input { try await mirror.write(piece) } }
      let node = try await Kernel.node(device.label, kind)
      let transport = try await PluggedIn.open(node, kind)
      let session = AccessorySession(transport)
      let total = 4 << 20
      // 1021 is prime: no packet is like the one before it.
      var sent: [UInt8] = []
      sent.reserveCapacity(total + 1_021)
      let block = (0..<1_021).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
      while sent.count < total { sent += block }
      sent.removeLast(sent.count - total)
      let start = MonotonicTime.now
      let sending = Task { [sent] in
        for at in stride(from: 0, to: total, by: 16_384) { try await session.write(sent[at..<(at + 16_384)]) }
      }
      var received: [UInt8] = []
      received.reserveCapacity(total)
      for try await piece in session.input {
        received += piece
        if received.count >= total { break }
      }
      try await sending.value
      let time = MonotonicTime.now - start
      #expect(received.count == total)
      #expect(memcmp(received, sent, min(received.count, total)) == 0)
      if let counters = (transport as? USBTransport)?.counters {
        #expect(counters.starvations == 0)
        #expect(counters.failures == 0)
        print("lab: \(counters)")
      }
      print("lab: \(kind.rawValue): \(total >> 10) KiB there and back in \(time)")
      await session.close()
      await mirror.close()
      _ = try? await reflecting.value
      try await Kernel.waitForNo(node)
    }

    // MARK: - Faults

    /// A halted endpoint is cleared, by the driver or by us; a transfer that fails is no unplug. The request is repeated
    /// and answered.
    @Test(
      arguments: [SimulatedUSBIdentity.Kind.modem, .bulk, .reports], [true, false])
    func aFaultOnTheBusCostsOneRepetition(kind: SimulatedUSBIdentity.Kind, isStall: Bool) async throws {
      let plugged = try await PluggedIn(kind) {
        if isStall { $0.faults.stall = 2 } else { $0.faults.protocolError = 2 }
      }
      let transport = try await plugged.open()
      let accessory = try await AF1Accessory.open(AccessorySession(transport))
      for number in 1...4 as ClosedRange<UInt8> { #expect(try await accessory.echo([number]) == [number]) }
      #expect(accessory.link.statistics.link.retries == 1)
      if let counters = (transport as? USBTransport)?.counters {
        if isStall { #expect(counters.stalls == 1) } else { #expect(counters.glitches == 1) }
      }
      await accessory.close()
      try await plugged.stop()
    }
  }
}
