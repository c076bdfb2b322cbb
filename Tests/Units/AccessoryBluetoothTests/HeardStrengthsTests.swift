// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryBluetooth

/// The strength of a signal is told while it is new. An old number would say that a device is near that has gone away.
@Suite struct HeardStrengthsTests {
  private static let near = RadioPeer(name: "near")
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

  @Test func aStrengthIsToldForFiveSeconds() {
    var heard = HeardStrengths()
    #expect(heard.strength(of: Self.near, at: Self.start) == nil)
    heard.hear(-50, of: Self.near, at: Self.start)
    #expect(heard.strength(of: Self.near, at: Self.start + .seconds(4)) == -50)
    #expect(heard.strength(of: Self.near, at: Self.start + .seconds(5)) == nil)
    #expect(heard.strength(of: RadioPeer(name: "other"), at: Self.start) == nil)
  }

  /// bluetoothd's object keeps the number, and is looked at again when something else has changed, such as the connection.
  @Test func theSameNumberAgainIsNotNew() {
    var heard = HeardStrengths()
    heard.hear(-50, of: Self.near, at: Self.start)
    heard.hear(-50, of: Self.near, at: Self.start + .seconds(60))
    #expect(heard.strength(of: Self.near, at: Self.start + .seconds(60)) == nil)
    heard.hear(-58, of: Self.near, at: Self.start + .seconds(61))
    #expect(heard.strength(of: Self.near, at: Self.start + .seconds(62)) == -58)
    // The number went and came: it was heard.
    heard.hear(nil, of: Self.near, at: Self.start + .seconds(70))
    #expect(heard.strength(of: Self.near, at: Self.start + .seconds(70)) == nil)
    heard.hear(-58, of: Self.near, at: Self.start + .seconds(80))
    #expect(heard.strength(of: Self.near, at: Self.start + .seconds(81)) == -58)
  }
}
