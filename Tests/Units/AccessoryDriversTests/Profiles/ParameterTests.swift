// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryFamilies
import AccessoryProtocols
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Numbers that the accessory doesn't tell and its user knows.
@Suite struct ParameterTests {
  private func read(_ rest: String) throws(ProfileProblems) -> Profile {
    try ProfileReader.read(Array("name: cellar\nmatch: {serial: A}\n\(rest)\n".utf8), file: "f.yaml")
  }

  private func mistakes(_ rest: String) -> [String] {
    do throws(ProfileProblems) {
      _ = try read(rest)
      return []
    } catch {
      return error.problems.map(\.description)
    }
  }

  @Test func parametersOfAProfileAreReadAndWritten() throws {
    let profile = try read("protocol: megatec\nparameters: {battery_empty: 21.0 V, battery_full: 27}")
    #expect(profile.parameters == ["battery_empty": 21, "battery_full": 27])
    let text = ProfileText.text(profile)
    #expect(try ProfileReader.read(Array(text.utf8), file: "f.yaml").parameters == profile.parameters, "\(text)")
  }

  @Test(
    arguments: [
      (
        "protocol: megatec\nparameters: {battery_emty: 21}",
        "f.yaml:4:14: \"battery_emty\" is not a parameter of megatec: did you mean battery_empty?"
      ),
      (
        "protocol: megatec\nparameters: {battery_empty: 21 A}",
        "f.yaml:4:29: battery_empty must be a number from 1 to 1000 V, not \"21 A\""
      ),
      (
        "protocol: megatec\nparameters: {battery_empty: 0}",
        "f.yaml:4:29: battery_empty must be a number from 1 to 1000 V, not \"0\""
      ),
      (
        "protocol: megatec\nparameters: {battery_empty: 27, battery_full: 21}",
        "f.yaml:4:13: battery_empty is not less than battery_full"
      ),
      ("protocol: jk\nparameters: {battery_empty: 21}", "f.yaml:4:13: jk has no parameters"),
      (
        "parameters: {battery_empty: 21}",
        "f.yaml:3:13: parameters need a described protocol, and protocol is missing"
      ),
    ] as [(String, String)])
  func mistakesInParametersOfAProfileAreReported(text: String, mistake: String) {
    #expect(mistakes(text) == [mistake])
  }

  /// A driver goes by its profile's numbers, whether the protocol has a name or stands in the profile.
  @Test func theDriverUsesTheProfilesParameters() throws {
    let text = try #require(BuiltInDescriptions.text("megatec"))
    let description = try DescriptionReader.read(text, file: "megatec").description
    #expect(description.parameters.allSatisfy { $0.number == nil })
    let known = description.setting(["battery_empty": 20, "battery_full": 5_000, "other": 1])
    #expect(known.parameter("battery_empty")?.number == 20)
    #expect(known.parameter("battery_full")?.number == nil, "it is beyond what it may be")
    let read = ["reported_voltage": PlainValue.whole(23), "standby_type": .flag(true)]
    func percent(_ description: ProtocolDescription) -> PlainValue? {
      description.derivedValues { read[$0] }.first { $0.name == "battery.percent" }?.value
    }
    #expect(percent(description) == .nothing, "unknown, and never a guess")
    #expect(percent(known) == .nothing)
    #expect(percent(description.setting(["battery_empty": 20, "battery_full": 26]))?.asNumber == 50)
    #expect(percent(description.setting(["battery_empty": 26, "battery_full": 20])) == .nothing)
    #expect(description.derivedValues { _ in nil }.isEmpty, "from parameters alone nothing follows")
  }
}
