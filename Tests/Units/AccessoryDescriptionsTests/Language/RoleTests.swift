// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Roles of values in descriptions.
@Suite struct RoleTests {
  /// What is said of fields with a wrong role, behind the place.
  @Test(
    arguments: [
      (
        "{name: a, type: u8, unit: V, role: input.voltag}",
        "\"input.voltag\" is not a role: did you mean input.voltage?"
      ),
      (
        "{name: a, type: u8, unit: A, role: input.voltage}",
        "what is input.voltage must be a number in V, not a number in A"
      ),
      ("{name: a, type: u8, role: ups.load}", "what is ups.load must be a number in %, not a number without a unit"),
      (
        "{name: a, type: u8, repeat: 2, unit: V, role: input.voltage}",
        "what is input.voltage must be a number in V, not a list"
      ),
      ("{name: a, type: u8, role: ups.on_battery}", "what is ups.on_battery must be true or false, not a number"),
      (
        "{name: battery.voltage, type: u8, unit: V, role: input.voltage}",
        "battery.voltage has no role: everybody knows it by its name"
      ),
      (
        "{name: a, type: u8, unit: V, role: input.voltage}, {name: b, type: u8, unit: V, role: input.voltage}",
        "a in line 4 is input.voltage already: only one value can be"
      ),
    ] as [(String, String)])
  func mistakesInRolesAreReported(fields: String, mistake: String) {
    let found = DescriptionSample.message("fields: [\(fields)]")
    #expect(found.map { $0.drop { $0 != " " }.dropFirst() } == [mistake[...]])
  }

  @Test func aValueHasOneRoleEverywhere() {
    let text =
      DescriptionSample.head + DescriptionSample.framings
        + """
        messages:
          m: {when: {n: 1}, fields: [{name: a, type: u8, unit: V, role: input.voltage}]}
          o: {when: {n: 2}, fields: [{name: a, type: u8, unit: V}]}

        """
    let found = DescriptionSample.mistakes(text)
    #expect(found.count == 1)
    #expect(
      found.first?.hasSuffix("a in line 5 has the role input.voltage: a value must be the same everywhere") == true)
  }

  /// The role goes with the value, also with one that is calculated, and one in a register.
  @Test func theRoleIsTheValues() throws {
    let described = try DescriptionReader.read(
      Array(
        """
        protocol: x
        version: 1
        modbus: {unit_number: 1}
        registers:
          g:
            function: 4
            fields:
              - {at: 0, name: ac_load, type: u16, unit: "%", role: ups.load}
              - {at: 1, name: ac_in, type: u16, unit: V}
        derived:
          - {name: ac, value: -ac_in, unit: V, role: input.voltage}
        """.utf8), file: "f")
    #expect(described.description.messages.flatMap(\.fields).map(\.role) == ["ups.load", nil])
    #expect(described.description.derived.map(\.role) == ["input.voltage"])
    let values = AccessoryValue.all(
      described: [DescribedValue("ac_load", .whole(7), unit: "%", role: "ups.load")],
      derived: [DescribedValue("ac", .whole(230), unit: "V", role: "input.voltage")])
    #expect(values.map(\.role) == ["ups.load", "input.voltage"])
  }

  /// Values of descriptions that come with the package are found by roles, and by no name. One value has a role.
  @Test func shippedDescriptionsSayRoles() throws {
    let older = Dictionary(
      uniqueKeysWithValues: Vocabulary.roles.flatMap { term in term.olderNames.map { ($0, term) } })
    for name in BuiltInDescriptions.names {
      let text = try #require(BuiltInDescriptions.text(name))
      let described = try DescriptionReader.read(text, file: name)
      let fields = described.description.messages.flatMap(\.fields)
      let taken = Set(fields.compactMap(\.role))
      for field in fields where !field.isHidden {
        guard let term = older[field.name], field.unit == term.unit?.rawValue, field.isBoolean == (term.unit == nil)
        else { continue }
        #expect(field.role == term.role.rawValue || taken.contains(term.role.rawValue), "\(name): \(field.name)")
      }
    }
  }
}
