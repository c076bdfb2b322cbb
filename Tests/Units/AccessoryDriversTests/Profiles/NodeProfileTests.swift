// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import Testing

@testable import AccessoryDrivers

/// Profiles for serial ports of ESPHome nodes, and for others on the network.
@Suite struct NodeProfileTests {
  private func read(_ text: String) throws(ProfileProblems) -> Profile {
    try ProfileReader.read(Array(text.utf8), file: "f.yaml", drivers: .builtIn)
  }

  private func problem(_ text: String) -> String? {
    do throws(ProfileProblems) {
      _ = try read(text)
      return nil
    } catch {
      return error.problems.map(\.message).joined()
    }
  }

  @Test func aProfileHasTheAddressAndTheKey() throws {
    let profile = try read(
      """
      name: garage
      driver: jbd
      match: {path: "esphome:garage.local:6053/0"}
      transport: {esphome: {key_file: /etc/keys/garage}}
      """)
    #expect(profile.transport.nodeKeyFile == "/etc/keys/garage")
    #expect(try read(ProfileText.text(profile)) == profile, "written and read again it is the same")
    func device(_ text: String) throws -> Device { Device(try #require(DeviceAddress(text)), source: .named) }
    let store = ProfileStore([profile])
    #expect(store.profile(for: try device("esphome://garage.local/0")) == profile)
    for other in ["esphome://garage.local/1", "esphome://garage.local", "tcp:garage.local:6053"] {
      #expect(store.profile(for: try device(other)) == nil, "\(other)")
    }
    let opener = DeviceOpener(try device("esphome://garage.local/0"), profile: profile, drivers: .builtIn)
    #expect(opener.settings.nodeKeyFile == "/etc/keys/garage" && opener.driver?.name == "jbd")
    #expect(try read("name: a\ndriver: jbd\nmatch: {path: \"tcp:box:7000\"}").rules.first?.path == "tcp:box:7000")
  }

  @Test(arguments: [
    ("match: {path: x}\ntransport: {esphome: {key_file: keys/a}}", "key_file must be a file's absolute path"),
    ("match: {path: /dev/ttyS0}\ntransport: {esphome: {key: AAAA}}", "key"),
    ("match: {path: \"esphome://\"}", "or an address"), ("match: {path: \"unix:/x\"}", "or an address"),
  ]) func mistakesAreTold(_ text: String, _ words: String) {
    let told = problem("name: a\ndriver: jbd\n" + text)
    #expect(told?.contains(words) == true, "\(told ?? "nothing")")
  }
}
