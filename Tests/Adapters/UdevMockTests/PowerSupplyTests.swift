// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import FamilyPowerSupply
import Glibc
import TestSupport
import Testing

extension UdevMock {
  /// Batteries and chargers in a faked /sys.
  @Suite struct PowerSupplyTests {
    let bed: Testbed

    init() throws { bed = try Testbed() }

    private static let battery = "/devices/LNXSYSTM:00/LNXSYBUS:00/PNP0C0A:00/power_supply/BAT0"
    private static let mouse =
      "/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.2/0003:046D:C52B.0003/power_supply/hidpp_battery_0"

    private func plug(_ devpath: String, _ attributes: [String]) throws {
      let lines = ["P: \(devpath)", "E: SUBSYSTEM=power_supply"] + attributes.map { "A: \($0)\\n" }
      try bed.add(lines.joined(separator: "\n") + "\n")
    }

    private func plugBattery() throws {
      try plug(
        Self.battery,
        [
          "type=Battery", "status=Discharging", "capacity=63", "voltage_now=11400000", "current_now=500000",
          "manufacturer=SMP", "model_name=DELL 1234", "serial_number= 77",
        ])
    }

    private func plugMouse() throws {
      try plug(
        Self.mouse,
        [
          "type=Battery", "scope=Device", "capacity_level=Low", "model_name=Wireless Mouse",
          "serial_number=9f-12-ab-cd",
        ])
    }

    private func plugCharger() throws {
      try plug("/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI0003:00/power_supply/AC", ["type=Mains", "online=1"])
    }

    @Test func batteriesAreAccessoriesAndChargersAreNone() async throws {
      #expect(try await PowerSupplySource().devices() == [])
      try plugBattery()
      try plugMouse()
      try plugCharger()
      let devices = try await PowerSupplySource().devices()
      #expect(devices.map(\.id) == ["AC", "BAT0", "9f-12-ab-cd"])
      #expect(devices.map(\.mayBeAccessory) == [false, true, true])
      #expect(
        devices.map(\.address.description) == ["power_supply:AC", "power_supply:BAT0", "power_supply:hidpp_battery_0"])
      #expect(devices.map(\.name) == [nil, "DELL 1234", "Wireless Mouse"])
      #expect(devices.allSatisfy { $0.driver == "power-supply" })
      // The machine's own is meant where nobody says which.
      #expect(try DeviceName(nil).device(among: devices).id == "BAT0")
      #expect(try DeviceName("hidpp").device(among: devices).id == "9f-12-ab-cd")
      // They are no terminals, and not on USB.
      #expect(try await UdevSource().devices() == [])
    }

    @Test func batteriesComeAndGo() async throws {
      try plugBattery()
      let follower = try await Follower(PowerSupplySource())
      try await follower.wait { $0.ids == ["BAT0"] }
      try plugMouse()
      try await follower.wait { $0.ids == ["9f-12-ab-cd", "BAT0"] }
      // What it measures is no news of the device.
      try bed.write(Self.battery, file: "capacity", Array("62\n".utf8))
      bed.tell("change", Self.battery)
      // The message is enough, also while the folder is still there.
      bed.tell("remove", Self.mouse)
      let state = try await follower.wait { $0.ids == ["BAT0"] }
      bed.erase(Self.mouse)
      #expect(state.log.count == 3)
      try plugMouse()
      try await follower.wait { $0.ids == ["9f-12-ab-cd", "BAT0"] }
      await follower.stop()
    }

    @Test func aBatteryIsReadAndItsChangesAreNews() async throws {
      try plugBattery()
      let supply = PowerSupply.open(try await PowerSupplyTransport.open("BAT0"))
      let first = try await supply.battery()
      #expect(first.percent == 63)
      #expect(first.milliamperes == -500)
      let identity = try await supply.identify()
      #expect((identity.manufacturer, identity.model, identity.serialNumber) == ("SMP", "DELL 1234", "77"))
      var news = supply.news().makeAsyncIterator()
      try bed.write(Self.battery, file: "status", Array("Charging\n".utf8))
      // Repeated messages, and those of others, are no news.
      for _ in 0..<3 { bed.tell("change", Self.battery) }
      try plugCharger()
      guard case .battery(let second)? = try await news.next() else { throw Hang("the battery") }
      #expect(second.charge == .charging)
      #expect(second.milliamperes == 500)
      bed.tell("remove", Self.battery)
      bed.erase(Self.battery)
      var end: AccessoryError?
      do throws(AccessoryError) {
        while let more = try await news.next() { Issue.record("no news: \(more)") }
      } catch {
        end = error
      }
      #expect(end?.kind == .disconnected)
      let error = await #expect(throws: AccessoryError.self) { _ = try await supply.battery() }
      #expect(error?.kind == .disconnected)
      await supply.close()
    }

    /// Without a message, as when the kernel's messages were lost.
    @Test func aBatteryThatIsGoneIsNoticedWhenItIsAsked() async throws {
      try plugBattery()
      let supply = PowerSupply.open(try await PowerSupplyTransport.open("BAT0"))
      bed.erase(Self.battery)
      let error = await #expect(throws: AccessoryError.self) { _ = try await supply.battery() }
      #expect(error?.kind == .disconnected)
      await supply.close()
      let missing = await #expect(throws: AccessoryError.self) { _ = try await PowerSupplyTransport.open("BAT0") }
      #expect(missing?.kind == .notFound)
    }
  }
}
