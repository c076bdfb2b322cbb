// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessorySimulator

/// What depends on a battery's charge agrees with the charge that a simulator was given.
@Suite struct ChargeAgreementTests {
  private static func device(_ kind: String) throws -> DescribedDevice {
    let description = try #require(DescriptionLibrary.builtIn.described(kind)).description
    return try DescribedDevice(description, serialNumber: "SIM0001")
  }

  /// The seconds that a reported time is.
  private static func seconds(_ name: String, _ device: DescribedDevice, _ values: [String: PlainValue]) -> Double? {
    let description = device.description
    let unit =
      description.messages.flatMap(\.fields).first { $0.name == name }?.unit
      ?? description.derived.first { $0.name == name }?.unit
    return values[name]?.asNumber.map { $0 * (unit == "h" ? 3_600 : unit == "min" ? 60 : 1) }
  }

  @Test(arguments: DescriptionLibrary.builtIn.names, [0, 12, 57, 100])
  func allFieldsAgreeWithThePercent(kind: String, percent: Int) throws {
    var device = try Self.device(kind)
    let before = device.reported()
    guard device.set(percent: percent) else { return }
    let values = device.reported()
    // The voltage of a UPS is read with the voltages that its owner knows.
    if kind != "megatec" { #expect(abs((values["battery.percent"]?.asNumber ?? -1) - Double(percent)) < 0.01) }
    guard let remaining = values["battery.remaining"]?.asNumber else { return }
    let earlier = try #require(before["battery.percent"]?.asNumber)
    let left = try #require(before["battery.remaining"]?.asNumber)
    let full = values["battery.full"]?.asNumber ?? left / earlier * 100
    #expect(abs(remaining - full * Double(percent) / 100) <= max(0.5, full / 200), "\(remaining) of \(full) Ah")
    guard let current = values["battery.current"]?.asNumber, current < 0 else { return }
    let expected = remaining / -current * 3_600
    guard expected < 36_000 * 60 else { return }
    for name in ["battery.time_to_empty", "hours_left"] {
      guard var time = Self.seconds(name, device, values) else { continue }
      if name == "hours_left" { time += Self.seconds("minutes_left", device, values) ?? 0 }
      #expect(abs(time - expected) <= 60 + expected / 20, "\(name): \(time) s, not \(expected) s")
    }
  }

  /// A shunt tells no capacity, but what was taken from the full battery: 131.099 Ah at 54.8 %.
  @Test func aShuntsConsumptionAndTimeFollow() throws {
    var shunt = try Self.device("vedirect")
    try shunt.set("battery.current", to: .number(-12.5))
    let isSet = shunt.set(percent: 25)
    let values = shunt.reported()
    let capacity = 131.099 / (100 - 54.8) * 100
    #expect(isSet && abs((values["consumed"]?.asNumber ?? 0) + capacity * 0.75) < 0.01)
    let minutes = try #require(values["battery.time_to_empty"]?.asNumber)
    #expect(minutes == (capacity * 0.25 / 12.5 * 60).rounded())
  }

  /// The board's clock counts in hours and minutes.
  @Test func aTimeInTwoFieldsFollows() throws {
    var pack = try Self.device("lipower")
    try pack.set("battery.current", to: .number(-7))
    let isSet = pack.set(percent: 50)
    let values = pack.reported()
    #expect(isSet && values["hours_left"]?.asNumber == 8 && values["minutes_left"]?.asNumber == 30)
  }

  /// A charge that is set as a field has the same effect, for one unit of several too; fields that are set afterwards stay.
  @Test func thePercentFieldIsFollowed() throws {
    var pack = try Self.device("jbd")
    try pack.set("battery.percent", to: .number(57))
    #expect(pack.reported()["battery.remaining"]?.asNumber == 5.7)
    try pack.set("battery.remaining", to: .number(7.2))
    #expect(pack.reported()["battery.remaining"]?.asNumber == 7.2)
    try pack.set("battery.percent", to: .number(250))
    #expect(pack.reported()["battery.remaining"]?.asNumber == 7.2)
  }

  @Test func theRemainingCapacityFallsWithADrain() throws {
    var pack = try Self.device("jbd")
    pack.set(percent: 57)
    _ = pack.perform(.drain)
    let values = pack.reported()
    #expect(values["battery.percent"]?.asNumber == 56 && values["battery.remaining"]?.asNumber == 5.6)
  }

  /// Only some models of the kind send a charge.
  @Test func aModelWithoutChargeRefuses() throws {
    var balancer = try Self.device("neey")
    let before = balancer.values
    let isSet = balancer.set(percent: 57)
    #expect(!isSet && balancer.values == before)
    // The family is the beginning of the model.
    try balancer.set("identity.model", to: .text("EK-B24S8E200A"))
    try balancer.set("family", to: .whole(0x454B_2D42))
    try balancer.set("battery.full", to: .number(320))
    let isSetNow = balancer.set(percent: 50)
    let values = balancer.reported()
    #expect(isSetNow && values["battery.percent"]?.asNumber == 50 && values["battery.remaining"]?.asNumber == 160)
  }
}
