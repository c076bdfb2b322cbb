// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import TestSupport
import Testing

@testable import BridgeService

/// The service lends nobody the raw bytes of a kind that guards them, unless its profile and the client allow it.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct RawBytesTests {
  static let guarded = DriverLibrary.builtIn.all.filter { $0.rawBytes != .harmless }.map(\.name)

  /// One permission, or none: no call opens a way for raw bytes, and none of them arrives.
  @Test(arguments: guarded, [(false, false), (false, true), (true, false)])
  func rawBytesWithoutPermissionNeverReachTheAccessory(
    _ kind: String, _ permission: (allowsWrites: Bool, isAsked: Bool)
  ) async throws {
    let end = try await PackEnd()
    var profile = try #require(ProfileStore.builtIn.profile(named: kind))
    profile.allowsWrites = permission.allowsWrites
    try await ServiceHarness.with(profiles: [profile]) { harness in
      let file = try harness.announce(end.terminal.path, serial: "P1", driver: kind)
      try await harness.said("P1")
      let isAsked = permission.isAsked
      let sharing = try await harness.client()
      let share = await errorName { () throws(ControlError) in
        _ = try await sharing.upgrade(Bridge.Share(device: "P1", access: .write, write: isAsked))
      }
      #expect(share == "PermissionDenied")
      let client = try await harness.client()
      let open = await errorName { () throws(ControlError) in
        _ = try await client.upgrade(Bridge.Open(device: "P1", write: isAsked))
      }
      #expect(open == "PermissionDenied")
      let request = await errorName { () throws(ControlError) in
        _ = try await client.call(
          Bridge.Request(device: "P1", command: "0x04", payload: Array("~~".utf8), write: isAsked))
      }
      #expect(request == "PermissionDenied")
      #expect(!end.text.contains("~~"))
      file.remove()
    }
    await end.terminal.transport.close()
  }
}
