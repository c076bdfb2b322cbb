// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers

/// What all drivers have in common, with the test as the accessory.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct DriverTests {
  @Test func driversAreFoundByTheirName() {
    for driver in DriverLibrary.builtIn.drivers {
      #expect(DriverLibrary.builtIn.driver(named: driver.name)?.name == driver.name)
    }
    #expect(Set(DriverLibrary.builtIn.drivers.map(\.name)).count == DriverLibrary.builtIn.drivers.count)
    #expect(DriverLibrary.builtIn.driver(named: "no such driver") == nil)
  }

  @Test func anAF1AccessoryIsReadAsAnyAccessory() async throws {
    let scripted = ScriptedAccessory { request in
      switch request.command {
      case .battery: .reply([2])
      case .status: .reply([1, 0, 0, 7])
      default: .silence  // HELLO is answered all the same
      }
    }
    let transport = scripted.inMemory(label: "gadget")
    let accessory = try await Driver.af1.open(AccessorySession(transport), profile: nil, clock: ManualClock())
    #expect(accessory.label == "gadget")
    #expect(try await accessory.battery() == BatteryReading(level: .normal))
    #expect(try await accessory.status() == AccessoryStatus(state: .busy, progress: 7, reportsFaults: true))
    let news = accessory.news()
    let gone = AccessoryError(.disconnected, "gone")
    transport.input.finish(gone)
    let error = await #expect(throws: AccessoryError.self) { for try await _ in news {} }
    #expect(error == gone)
  }
}
