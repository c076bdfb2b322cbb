// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ExternalAccessory
import TestSupport
import Testing

/// Sessions of accessories whose protocol has commands that change something in them: by an explicit word, and if the profile
/// allows it, or not at all.
@Suite(.timeLimit(.minutes(2))) struct WriteTests {
  private static let drivers = DriverLibrary([
    Driver(name: "pack", commands: [CommandDescription("cut", "Cuts the current", isWrite: true)]) {
      _, _, _ throws(AccessoryError) in throw .closed("nobody makes contact here")
    }
  ])

  @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
  func needTwoPermissions(allowsWrites: Bool, writes: Bool) async throws {
    let terminal = try await PseudoTerminal.open()
    let device = Device(.terminal(terminal.path), source: .simulator, driver: "pack", name: "Pack", serialNumber: "P1")
    var profile = Profile(
      name: "pack", rules: [DeviceRule(driver: "pack")], driver: "pack", protocolStrings: ["com.example.pack"])
    profile.allowsWrites = allowsWrites
    let manager = EAAccessoryManager(
      sources: [FakeSource([device])], profiles: ProfileStore([profile]), drivers: Self.drivers, services: [])
    let accessory = try #require(manager.connectedAccessories.first)
    // Apple's own way has no word for it.
    #expect(EASession(accessory: accessory, forProtocol: "com.example.pack") == nil)
    if allowsWrites && writes {
      let session = try EASession.open(accessory, forProtocol: "com.example.pack", writes: true)
      session.closeStreams()
    } else {
      let error = #expect(throws: AccessoryError.self) {
        try EASession.open(accessory, forProtocol: "com.example.pack", writes: writes)
      }
      #expect(error?.kind == .permissionDenied)
    }
    await terminal.transport.close()
  }
}
