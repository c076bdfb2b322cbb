// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryLink
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// What is special about accessories on endpoints of their own: bulk, and reports whose driver has to let go.
  @Suite struct EndpointTests {
    /// The kernel's HID driver gives the interface up while it is open, and gets it back.
    @Test func theDriverComesBack() async throws {
      let plugged = try await PluggedIn(.reports)
      for _ in 0..<2 {
        #expect(Kernel.driver(plugged.path) == "usbhid")
        let accessory = try await plugged.accessory()
        #expect(Kernel.driver(plugged.path) == "usbfs")
        #expect(try await accessory.battery().percent == 100)
        await accessory.close()
        #expect(Kernel.driver(plugged.path) == "usbhid")
      }
      try await plugged.stop()
    }

    @Test func anOpenDeviceIsBusy() async throws {
      let plugged = try await PluggedIn(.bulk)
      let first = try await plugged.open()
      let error = await #expect(throws: AccessoryError.self) { _ = try await plugged.open() }
      #expect(error?.kind == .busy)
      await first.close()
      let again = try await plugged.accessory()
      #expect(try await again.battery().percent == 100)
      await again.close()
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
          let plugged = try await PluggedIn(kind) { $0.device.identity.serialNumber = serial }
          try await told.wait { $0.last == "+\(serial)" }
          let device = try await source.devices().first { $0.id == serial }
          #expect(device?.address.description == plugged.node)
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
