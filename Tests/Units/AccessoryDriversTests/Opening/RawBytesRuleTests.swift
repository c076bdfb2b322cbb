// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import Testing

/// Raw bytes to each kind that ships: the rules that every way to send some asks. `RawBytesTests` show that the commands and the service
/// ask them.
@Suite struct RawBytesRuleTests {
  /// All that ship, except those whose drivers say that raw bytes are harmless. A new driver belongs here by itself.
  static let guarded = DriverLibrary.builtIn.all.filter { $0.rawBytes != .harmless }.map(\.name)

  /// Why it fails; nil if it doesn't.
  private static func failure(
    _ open: () async throws(AccessoryError) -> Void
  ) async -> AccessoryError.Kind? {
    do {
      try await open()
      return nil
    } catch {
      return error.kind
    }
  }

  /// Whatever isn't named here is guarded. To a device that only advertises nothing can be sent.
  @Test func rawBytesAreHarmlessToFewKinds() {
    let harmless = DriverLibrary.builtIn.all.map(\.name).filter { !Self.guarded.contains($0) }
    #expect(harmless.sorted() == ["bluno", "ev3", "framed", "hm10", "hm1x", "victron-ble"])
    let framed = Self.guarded.filter { DriverLibrary.builtIn.driver(named: $0)?.frames != nil }
    let described = Set(DescriptionLibrary.builtIn.names).subtracting(["victron-ble"])
    #expect(described.isSubset(of: framed), "\(framed)")
  }

  /// The device says its kind, or the user does, or the user names another driver for it: its frames are raw bytes, too. Asking isn't
  /// enough without a profile that allows it, and the profiles that ship allow nothing.
  @Test(arguments: guarded) func nothingReachesTheAccessory(_ kind: String) async throws {
    let drivers = DriverLibrary.builtIn
    let silent = Device(.terminal("/nowhere/tty"), source: .simulator)
    var announced = silent
    announced.driver = kind
    let profile = try #require(drivers.driver(named: kind)).profiles.first
    for (device, name, profile) in [
      (announced, nil, nil), (announced, "framed", nil), (silent, kind, nil), (announced, nil, profile),
    ] {
      for isAsked in [false, true] {
        var opener = DeviceOpener(device, profile: profile, drivers: drivers)
        if let name { opener.driver = drivers.driver(named: name) }
        opener.asksToWrite = isAsked
        let refusal = try #require(opener.writeRules.refusalOfBytes(isAsked: isAsked))
        #expect(refusal.kind == .permissionDenied)
        let text = refusal.message
        #expect(text.contains("must say driver: \(kind) and writes: allowed"), "\(text)")
        #expect(text.contains("the command must have --write") == !isAsked, "\(text)")
        // It isn't even opened: there is nothing at this path.
        #expect(
          await Self.failure { () async throws(AccessoryError) in _ = try await opener.transport() }
            == .permissionDenied)
        #expect(
          await Self.failure { () async throws(AccessoryError) in _ = try await opener.greetedSession() }
            == .permissionDenied)
      }
    }
  }
}
