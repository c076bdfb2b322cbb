// SPDX-License-Identifier: Apache-2.0

import AccessoryFamilies
import Testing

@testable import AccessoryDrivers

/// Keys by which a console drives an accessory.
struct DriveKeyTests {
  private static let keys: [DriveKey] =
    [.up, .down, .left, .right, .stop, .faster, .slower] + (0...13).map { .function($0) } + (0...9).map { .digit($0) }

  @Test func theDriversOfRobotsAndCarsHaveKeys() {
    #expect(DriverLibrary.builtIn.drivers.filter { $0.keys != nil }.map(\.name) == ["bluno", "hm1x"])
  }

  /// However often keys are pressed, what is sent stays what a car takes.
  @Test func aCarSteersAndAcceleratesInSteps() async throws {
    let maker = try #require(Driver.hm1x.keys)
    var keys = try await maker()
    #expect(keys.bytes(for: .up)?.what == "steering 0, acceleration 51")
    #expect(keys.bytes(for: .right)?.what == "steering 51, acceleration 51")
    #expect(keys.bytes(for: .function(1))?.what == "steering 51, acceleration 51, headlights")
    #expect(keys.bytes(for: .digit(9))?.what == "steering 51, acceleration 255, headlights")
    #expect(keys.bytes(for: .stop)?.what == "steering 0, acceleration 0, headlights")
    #expect(keys.bytes(for: .faster) == nil && keys.bytes(for: .function(3)) == nil)
    for key in Self.keys {
      for _ in 0..<20 { if let sent = keys.bytes(for: key) { #expect(sent.bytes.count == 4) } }
    }
  }

  @Test func theSpeedOfARobotStaysAByte() async throws {
    let maker = try #require(Driver.bluno.keys)
    var keys = try await maker()
    for _ in 0..<20 { _ = keys.bytes(for: .faster) }
    #expect(keys.bytes(for: .faster)?.what == "speed 255")
    for _ in 0..<20 { _ = keys.bytes(for: .slower) }
    #expect(keys.bytes(for: .slower)?.what == "speed 0")
    #expect(keys.bytes(for: .function(5)) == nil && keys.bytes(for: .function(4)) != nil)
  }
}
