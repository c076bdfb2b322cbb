// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryFamilies
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Descriptions from folders, and profiles that name them.
@Suite struct DescriptionLibraryTests {
  let system: TemporaryDirectory
  let user: TemporaryDirectory

  init() throws {
    system = try TemporaryDirectory()
    user = try TemporaryDirectory()
  }

  private static func text(_ name: String, _ rest: String = "") -> String {
    "protocol: \(name)\nversion: 1\n\(rest)framings: {f: {layout: [data, end: 0A]}}\n"
  }

  private func load(isStrict: Bool = true) -> DescriptionLibrary {
    DescriptionLibrary.load(
      [system.path, user.path, "/nowhere/at/all"], takenNames: DriverLibrary.builtIn.names, isStrict: isStrict)
  }

  @Test func laterDescriptionsReplaceEarlierOnes() throws {
    try system.write(Array(Self.text("a").utf8), to: "a.yaml")
    try system.write(Array(Self.text("jbd", "description: mine\n").utf8), to: "b.yaml")
    try user.write(Array(Self.text("a", "description: the user's\n").utf8), to: "x.yaml")
    try user.write(Array("protocol: [".utf8), to: "broken.yaml")
    try user.write(Array(Self.text("c").utf8), to: "c.yml")
    let library = load()
    #expect(library.names == Set(BuiltInDescriptions.names).union(["a"]).sorted())
    #expect(library.described("a")?.description.summary == "the user's")
    #expect(library.described("jbd")?.description.summary == "mine")
    #expect(library.described("nothing") == nil)
    #expect(library.origins["a"] == .file(user.path + "/x.yaml"))
    #expect(library.origins["vedirect"] == .builtIn)
    let problems = library.problems.map(\.description)
    #expect(problems.count == 2, "\(problems)")
    #expect(problems.contains { $0.hasPrefix(user.path + "/broken.yaml:2:1: this is not valid YAML") })
    #expect(problems.contains(user.path + "/c.yml: it is not read: the name of a protocol's file ends in .yaml"))
  }

  @Test func oneNameTwiceInAFolder() throws {
    try system.write(Array(Self.text("a").utf8), to: "1.yaml")
    try system.write(Array(Self.text("a").utf8), to: "2.yaml")
    #expect(
      load().problems.map(\.description) == [
        "\(system.path)/2.yaml: \(system.path)/1.yaml also has a protocol with the name a, so this one is ignored"
      ])
  }

  @Test func writableOrLargeDescriptionsAreRefused() throws {
    try system.write(Array(Self.text("a").utf8), to: "a.yaml")
    #expect(chmod(system.path + "/a.yaml", 0o602) == 0)
    try user.write([UInt8](repeating: 35, count: 70_000), to: "large.yaml")
    let library = load()
    #expect(library.described("a") == nil)
    #expect(library.problems.count == 2)
    #expect(library.problems.first?.message.contains("everybody may write") == true)
    #expect(library.problems.last?.message == "it is larger than 64 KiB")
  }

  /// No described protocol has the name of a driver in Swift, of those that the program knows.
  @Test func namesOfDriversAreTaken() throws {
    for driver in DriverLibrary.builtIn.drivers {
      let text = Array(Self.text(driver.name).utf8)
      #expect(throws: ProfileProblems.self) { try DescriptionReader.read(text, file: "f", drivers: .builtIn) }
      #expect(throws: ProfileProblems.self) { try DescriptionReader.read(text, file: "f") }
      let others = DriverLibrary(DriverLibrary.builtIn.drivers.filter { $0.name != driver.name })
      #expect(try DescriptionReader.read(text, file: "f", drivers: others).name == driver.name)
    }
    try user.write(Array(Self.text("bluno").utf8), to: "bluno.yaml")
    let library = load()
    #expect(library.described("bluno") == nil && library.problems.count == 1)
  }

  @Test func descriptionsAreInTheUsualFolders() {
    let folders = { (variables: [String: String]) in DescriptionLibrary.usualFolders { variables[$0] } }
    let etc = "/etc/accessory-bridge/protocols"
    #expect(folders(["HOME": "/h"]) == [etc, "/h/.config/accessory-bridge/protocols"])
    #expect(folders(["HOME": "/h", "XDG_CONFIG_HOME": "/x"]) == [etc, "/x/accessory-bridge/protocols"])
    #expect(folders(["HOME": "/h", "ACCESSORY_BRIDGE_PROTOCOLS": "/a:b"]) == ["/a", "b"])
    #expect(folders(["HOME": "/h", "ACCESSORY_BRIDGE_PROFILES": "/p"]) == [])
  }

  // MARK: - Profiles

  private func profile(_ rest: String) throws -> Profile {
    try ProfileReader.read(Array("name: mine\nmatch: {serial: A}\n\(rest)\n".utf8), file: "f", protocols: load())
  }

  /// `driver` and `protocol` name the same; the line is the description's, but for what the profile says.
  @Test(arguments: ["driver: jbd", "protocol: jbd"]) func aProfileNamesIt(key: String) throws {
    let plain = try profile(key)
    #expect(plain.driver == "jbd" && plain.described == nil)
    #expect(plain.baudRate == 9_600)
    let own = try profile(key + "\ntransport: {tty: {parity: even}}")
    #expect(own.baudRate == 9_600 && own.transport.terminal.parity == .even)
    #expect(try profile(key + "\ntransport: {tty: {baud: 115200}}").baudRate == 115_200)
    #expect(try profile("driver: framed").baudRate == 115_200)
    #expect(try profile("protocol: vedirect").transport.terminal.dtr == .on)
  }

  @Test func aProfileMayHoldItsDescription() throws {
    let description = """
      protocol:
        version: 1
        line: {baud: 2400}
        framings:
          line: {layout: [start: "(", data, end: "\\r"]}
        messages:
          m:
            pattern: "{battery.voltage}V"
            types: {battery.voltage: {type: number, unit: V, unknown: ['---', -1]}}
        examples: []
      """.replacing("\n  examples: []", with: "")
    let profile = try profile(description)
    #expect(profile.driver == "mine" && profile.described?.name == "mine")
    #expect(profile.baudRate == 2_400)
    #expect(profile.described?.description.messages.map(\.name) == ["m"])
    // As a file could have it.
    let written = ProfileText.text(profile)
    let again = try ProfileReader.read(Array(written.utf8), file: "f", protocols: load())
    #expect(again.described?.description == profile.described?.description)
    #expect(ProfileText.text(again) == written, "\(written)")
  }

  @Test(
    arguments: [
      ("protocol: jdb", "f:3:11: a described protocol (or its description) must be "),
      ("protocol: jbd\ndriver: jbd", "f:3:11: protocol already names the driver: leave out driver"),
      (
        "protocol: {version: 1, framings: {f: {layout: [dat]}}}",
        "f:3:48: an element must be data, or a name and its form"
      ),
      ("protocol: {protocol: x, version: 1}", "f:3:12: unknown key \"protocol\""),
    ] as [(String, String)])
  func mistakesOfAProfilesProtocolAreReported(text: String, mistake: String) throws {
    let error = #expect(throws: ProfileProblems.self) { try profile(text) }
    #expect(error?.problems.contains { $0.description.hasPrefix(mistake) } == true, "\(error?.problems ?? [])")
  }

  /// A device that a simulator announces, or whose user says --driver jbd.
  @Test func aDescriptionMakesAProfile() throws {
    let profile = try #require(load().profile("jbd"))
    #expect(profile.driver == "jbd" && profile.rules == [DeviceRule(driver: "jbd")] && profile.baudRate == 9_600)
    #expect(profile.description == "JBD, Xiaoxiang, Overkill Solar and LLT smart BMS")
    #expect(load().profile("nothing") == nil)
  }

  // MARK: - Examples

  /// A check runs each example, and tells its line.
  @Test func aCheckTellsLines() throws {
    let text =
      Self.text("a")
      + "messages: {m: {pattern: \"B\"}}\nexamples:\n  - {received: 41 0A}\n  - {received: 42 0A, refused: true}\n"
    let described = try DescriptionReader.read(Array(text.utf8), file: "f")
    let problems = DescriptionCheck.problems(in: described, file: "f.yaml").map(\.description)
    #expect(problems == ["f.yaml:7: it was read as m, but should have been refused"])
  }
}
