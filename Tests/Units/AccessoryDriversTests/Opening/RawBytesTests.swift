// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryDrivers

/// Each kind that ships, as a program opens it: raw bytes need two permissions, unless its driver says that they are harmless.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct RawBytesTests {
  private static let all = DriverLibrary.builtIn.all

  @Test(arguments: all.map(\.name), [(false, false), (false, true), (true, false), (true, true)])
  func rawBytesNeedBothPermissions(_ kind: String, _ permission: (allowsWrites: Bool, isAsked: Bool)) async throws {
    let terminal = try openPseudoTerminal(raw: true)
    var profile = try #require(ProfileStore.builtIn.profile(named: kind))
    profile.allowsWrites = permission.allowsWrites
    profile.settle = .zero
    let device = Device(.terminal(terminal.path), source: .simulator, driver: kind, serialNumber: "P1")
    var opener = DeviceOpener(device, profile: profile)
    opener.asksToWrite = permission.isAsked
    let isHarmless = opener.driver?.rawBytes == .harmless
    if isHarmless || permission.allowsWrites && permission.isAsked {
      await (try await opener.session()).close()
    } else {
      for open in [
        { _ = try await opener.session() }, { _ = try await opener.transport() },
        { _ = try await opener.greetedSession() },
      ] as [() async throws -> Void] {
        let error = await #expect(throws: AccessoryError.self) { try await open() }
        #expect(
          error?.kind == .permissionDenied && error?.message.contains("writes: allowed") != permission.allowsWrites)
      }
    }
    #expect(terminal.received().isEmpty)
  }
}
