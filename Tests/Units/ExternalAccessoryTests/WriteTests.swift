// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import ExternalAccessory
import TestSupport
import Testing

/// Sessions of accessories whose protocol has commands that change something in them: by an explicit word, and if the profile
/// allows it, or not at all.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct WriteTests {
  private static let drivers = DriverLibrary([
    Driver(name: "pack", commands: [CommandDescription("cut", "Cuts the current", isWrite: true)], rawBytes: .guarded) {
      _, _, _ throws(AccessoryError) in throw .closed("nobody makes contact here")
    }
  ])

  @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
  func aSessionForWritesNeedsBothPermissions(allowsWrites: Bool, writes: Bool) async throws {
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

  /// Each kind that ships: a session is raw bytes, so where these are guarded Apple's own way opens none.
  @Test(arguments: DriverLibrary.builtIn.all.map(\.name))
  func guardedKindsOpenNoSessionWithoutWrites(_ kind: String) async throws {
    let terminal = try await PseudoTerminal.open()
    let arrived = Watched<[UInt8]>([])
    terminal.transport.input.onReadable { [weak transport = terminal.transport] in
      var bytes: [UInt8] = []
      while let transport, case .bytes = transport.input.take(into: &bytes) {
        arrived.update { [bytes] in $0 += bytes }
      }
    }
    let device = Device(.terminal(terminal.path), source: .simulator, driver: kind, name: "One", serialNumber: "P1")
    var profile = try #require(ProfileStore.builtIn.profile(named: kind))
    (profile.protocolStrings, profile.settle) = (["com.example.one"], .zero)
    let manager = EAAccessoryManager(
      sources: [FakeSource([device])], profiles: ProfileStore([profile]), drivers: .builtIn, services: [])
    let accessory = try #require(manager.connectedAccessories.first)
    let session = EASession(accessory: accessory, forProtocol: "com.example.one")
    let isHarmless = DriverLibrary.builtIn.driver(named: kind)?.rawBytes == .harmless
    #expect((session != nil) == isHarmless)
    session?.closeStreams()
    if !isHarmless {
      let error = #expect(throws: AccessoryError.self) {
        try EASession.open(accessory, forProtocol: "com.example.one", writes: true)
      }
      #expect(error?.kind == .permissionDenied)
    }
    #expect(arrived.value.isEmpty)
    await terminal.transport.close()
  }
}
