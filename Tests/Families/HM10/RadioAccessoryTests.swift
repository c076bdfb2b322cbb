// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import FamilyHM10
import TestSupport
import Testing

@testable import AccessoryDrivers

/// An accessory with a radio, whose other bytes may change it.
private struct Beacon: RadioAccessory {
  let label = "beacon"
  var radio: (any HM10Radio)? { nil }

  static let driver = Driver(name: "beacon", accessoryType: Self.self, rawBytes: .guarded, lacks: [.requests]) {
    session, _, _ throws(AccessoryError) in
    await session.close()
    return Beacon()
  }

  func news() -> EventStream<AccessoryNews> { EventStream(AsyncThrowingStream { nil }) }
  func close() async {}
}

/// What only accessories with a radio can do is in a protocol of theirs.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct RadioAccessoryTests {
  @Test func theDriverTellsBeforeOneIsOpened() {
    let radios = DriverLibrary.builtIn.all.filter { $0.accessoryType is any RadioAccessory.Type }.map(\.name)
    #expect(radios == ["hm10"])
    #expect(Beacon.driver.accessoryType is any RadioAccessory.Type)
  }

  @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
  func aGuardedOneNeedsBothPermissions(allowsWrites: Bool, isAsked: Bool) {
    var profile = Profile(name: "beacon", rules: [])
    profile.allowsWrites = allowsWrites
    var rules = WriteRules("beacon")
    rules.add(Beacon.driver, profile)
    let guarded: any Accessory = GuardedAccessory(base: Beacon(), rules: rules, isAsked: isAsked)
    #expect((guarded.narrowed(to: (any RadioAccessory).self) != nil) == (allowsWrites && isAsked))
    #expect(Beacon().narrowed(to: (any RadioAccessory).self) != nil)
  }

  /// The sentence of all kinds names the driver that has no requests by number, and no kind that has them.
  @Test func whoTakesNoRequestsByNumberNamesItsDriver() {
    for driver in DriverLibrary.builtIn.all where driver.lacks.contains(.requests) {
      let error = #expect(throws: AccessoryError.self) { try driver.check(.requests, label: "X1") }
      #expect(
        error == AccessoryError(.unsupported, "X1 takes no requests by number"))
    }
  }
}
