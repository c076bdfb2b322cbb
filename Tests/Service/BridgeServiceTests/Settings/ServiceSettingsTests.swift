// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import Glibc
import TestSupport
import Testing

@testable import BridgeService

/// The service's configuration as users write it.
@Suite struct ServiceSettingsTests {
  private static let lamp = Driver(
    name: "lamp",
    commands: [
      CommandDescription("on", "Lights it"),
      CommandDescription(
        "set", "Sets it",
        [
          .init("level", .whole(-10...100)), .init("color", .choice(["red", "green"]), defaultValue: .text("red")),
          .init("note", .text(5), defaultValue: .text("")),
        ]),
      CommandDescription("burn", "Burns", isWrite: true),
    ], rawBytes: .guarded
  ) { _, _, _ throws(AccessoryError) in throw AccessoryError(.unsupported, "not opened here") }

  private func read(_ bytes: [UInt8]) throws(ProfileProblems) -> [CommandPermission] {
    let profiles = [Profile(name: "my-lamp", rules: [], driver: "lamp"), Profile(name: "bytes", rules: [])]
    return try ServiceSettings.read(
      .init(path: "f", bytes: bytes), drivers: DriverLibrary([Self.lamp, .af1]), profiles: profiles
    ).commands
  }

  private func read(_ text: String) throws(ProfileProblems) -> [CommandPermission] { try read(Array(text.utf8)) }

  /// The limit of attached accessories, which an old file doesn't have.
  @Test func theLimitOfAccessoriesIsReadOrRefused() throws {
    func limit(_ text: String) throws -> Int? {
      try ServiceSettings.read(.init(path: "f", bytes: Array(text.utf8)), drivers: DriverLibrary([]), profiles: [])
        .maximumAttached
    }
    #expect(try limit("max_accessories: 2000") == 2_000)
    #expect(try limit("commands: []") == nil)
    for wrong in ["0", "-1", "many", "[1]"] {
      #expect(throws: ProfileProblems.self) { try limit("max_accessories: \(wrong)") }
    }
  }

  @Test func theTimeOfForgettingIsReadOrRefused() throws {
    func seconds(_ text: String) throws -> Double? {
      try ServiceSettings.read(.init(path: "f", bytes: Array(text.utf8)), drivers: DriverLibrary([]), profiles: [])
        .forgetAfter
    }
    #expect(try seconds("commands: []") == 30 * 86_400 && seconds("forget_after: 90d") == 90 * 86_400)
    #expect(try seconds("forget_after: 12h") == 43_200 && seconds("forget_after: never") == nil)
    for wrong in ["0", "30", "1s", "3651d", "99999999999999999999d", "-1d", "soon", "[1d]"] {
      #expect(throws: ProfileProblems.self) { try seconds("forget_after: \(wrong)") }
    }
  }

  @Test func namesAreReadOrRefused() throws {
    func names(_ text: String) throws -> [String: GivenName] {
      try ServiceSettings.read(.init(path: "f", bytes: Array(text.utf8)), drivers: DriverLibrary([]), profiles: [])
        .names
    }
    #expect(try names("commands: []").isEmpty && names("names: []").isEmpty)
    let both = try names("names:\n- {accessory: A1, name: House battery, area: Attic}\n- {accessory: A2, area: Shed}\n")
    #expect(both == ["A1": GivenName(name: "House battery", area: "Attic"), "A2": GivenName(area: "Shed")])
    for wrong in [
      "names: x", "names: [x]", "names: [{name: x}]", "names: [{accessory: A, nmae: x}]",
      "names: [{accessory: A, name: /x}]",
      "names: [{accessory: A, name: x}, {accessory: A, name: y}]", "names: [{accessory: A, name: [x]}]",
    ] { #expect(throws: ProfileProblems.self) { try names(wrong) } }
  }

  @Test func theConnectionsOfAdaptersAreReadOrRefused() throws {
    func connections(_ text: String) throws -> BluetoothConnections? {
      try ServiceSettings.read(.init(path: "f", bytes: Array(text.utf8)), drivers: DriverLibrary([]), profiles: [])
        .bluetoothConnections
    }
    #expect(try connections("commands: []") == nil && BluetoothConnections().limit(of: "hci0") == 7)
    #expect(try connections("bluetooth_connections: 4")?.limit(of: "hci0") == 4)
    let each = try connections("bluetooth_connections: {hci0: 5, hci1: 20}")
    #expect(["hci0", "hci1", "hci2"].map { each?.limit(of: $0) } == [5, 20, 7])
    for wrong in ["0", "65", "many", "[1]", "{hci0: 0}", "{usb0: 3}"] {
      #expect(throws: ProfileProblems.self) { try connections("bluetooth_connections: \(wrong)") }
    }
  }

  @Test func batteriesOfTheKernelAreHeldOnlyWhereTheFileSaysSo() throws {
    func isOn(_ text: String) throws -> Bool {
      try ServiceSettings.read(.init(path: "f", bytes: Array(text.utf8)), drivers: DriverLibrary([]), profiles: [])
        .attachesPowerSupplies
    }
    #expect(try isOn("power_supply: true"))
    #expect(try !isOn("power_supply: false"))
    #expect(try !isOn("commands: []"))
    #expect(throws: ProfileProblems.self) { try isOn("power_supply: BAT0") }
  }

  @Test func everyKeyOfThePermissionsIsRead() throws {
    #expect(try read("commands: []") == [])
    #expect(try read("{}") == [])
    let text = """
      # Who may switch the lamp.
      commands:
      - {accessory: S1, command: on}
      - profile: my-lamp
        command: set
        arguments:
          level: {min: -5, max: 50}
          color: {allowed: [green]}
          note: any
        at_most: 2 every 1.5s
      - {driver: lamp, command: burn, write: true}
      - {accessory: S1@3, command: whatever it has, arguments: {x: {min: 3}, y: {max: 0}, z: {allowed: ["1", a b]}}}
      - {profile: bytes, command: later}
      """
    #expect(
      try read(text) == [
        .init(.accessory("S1"), "on"),
        .init(
          .profile("my-lamp"), "set", arguments: ["level": .range(-5...50), "color": .words(["green"]), "note": .any],
          rate: .init(2, every: .milliseconds(1_500))),
        .init(.driver("lamp"), "burn", mayWrite: true),
        .init(
          .accessory("S1@3"), "whatever it has",
          arguments: ["x": .range(3 ... .max), "y": .range(.min...0), "z": .words(["1", "a b"])]),
        .init(.profile("bytes"), "later"),
      ])
    #expect(CommandPermission.Rate.standard.text == "5 every 10s")
  }

  /// One mistake each, with its place.
  @Test(arguments: [
    ("commands: on", 1, 11, "commands must be a list"), ("command: []", 1, 1, "did you mean commands?"),
    ("[]", 1, 1, "a service's configuration must be keys with values"), ("commands: [on]", 1, 12, "not \"on\""),
    ("commands:\n- {command: on}", 2, 3, "by one of accessory, profile, driver"),
    ("commands:\n- {accessory: a, driver: lamp, command: on}", 2, 3, "by one of accessory, profile, driver"),
    ("commands:\n- {accessory: a}", 2, 3, "command is missing"),
    ("commands:\n- {accessory: '', command: on}", 2, 15, "an accessory's id or serial number was expected"),
    ("commands:\n- {accessory: a, command: [on]}", 2, 27, "a command's name was expected, not a list"),
    ("commands:\n- {accessory: a, command: on, arg: 1}", 2, 31, "unknown key \"arg\""),
    ("commands:\n- {accessory: a, command: on, min: 1}", 2, 31, "it belongs in an argument"),
    ("commands:\n- {profile: my-lmp, command: on}", 2, 13, "there is no profile \"my-lmp\": did you mean my-lamp?"),
    ("commands:\n- {driver: lamb, command: on}", 2, 12, "there is no driver \"lamb\": did you mean lamp?"),
    ("commands:\n- {driver: lamp, command: off}", 2, 27, "has no command \"off\": the nearest is on"),
    ("commands:\n- {profile: my-lamp, command: burn}", 2, 31, "needs write: true"),
    ("commands:\n- {driver: lamp, command: on, write: yes}", 2, 38, "write must be true or false"),
    ("commands:\n- {driver: lamp, command: set}", 2, 27, "needs the argument level"),
    ("commands:\n- {driver: lamp, command: on, arguments: {x: any}}", 2, 46, "on has no argument \"x\""),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: 5}}", 2, 51, "{min: 0, max: 50}, {allowed"),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: {}}}", 2, 51, "min, max or allowed is missing"),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: {mix: 1}}}", 2, 52, "unknown key \"mix\""),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: {min: 1.5}}}", 2, 57, "must be a whole number"),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: {min: +5}}}", 2, 57, "must be a whole number"),
    (
      "commands:\n- {driver: lamp, command: set, arguments: {level: {max: 99999999999999999999}}}", 2, 57,
      "whole number"
    ),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: {min: 5, max: 4}}}", 2, 51, "min is greater"),
    (
      "commands:\n- {driver: lamp, command: set, arguments: {level: {min: 200}}}", 2, 51,
      "nothing of that is at least 200"
    ),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: {allowed: [1, x]}}}", 2, 51, "not \"x\""),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: {min: 1, allowed: [1]}}}", 2, 51, "either allowed"),
    (
      "commands:\n- {driver: lamp, command: set, arguments: {level: any, color: {allowed: [blue]}}}", 2, 63,
      "one of red, green, not \"blue\""
    ),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: any, color: {allowed: []}}}", 2, 73, "1 to 64"),
    (
      "commands:\n- {driver: lamp, command: set, arguments: {level: any, color: {min: 1}}}", 2, 63,
      "{allowed: [red|green]}"
    ),
    ("commands:\n- {driver: lamp, command: set, arguments: {level: any, note: {allowed: [abcdef]}}}", 2, 62, "5 bytes"),
    ("commands:\n- {driver: lamp, command: on, arguments: {}}", 2, 42, "arguments must be names with limits"),
    ("commands:\n- {driver: lamp, command: on, at_most: 5s}", 2, 40, "like 1 every 5s"),
    ("commands:\n- {driver: lamp, command: on, at_most: 0 every 5s}", 2, 40, "like 1 every 5s"),
    ("commands:\n- {driver: lamp, command: on, at_most: 1 every 5}", 2, 40, "like 1 every 5s"),
    ("commands:\n- {driver: lamp, command: on, at_most: 1 every 1ms}", 2, 40, "from 100ms to 24h"),
    ("commands:\n- {driver: lamp, command: on, at_most: -1 every 5s}", 2, 40, "like 1 every 5s"),
    (
      "commands:\n- {driver: lamp, command: on}\n- {driver: lamp, command: on, write: true}", 3, 3,
      "line 2 has an entry"
    ),
  ])
  func mistakesInTheSettingsAreReported(_ text: String, _ line: Int, _ column: Int, _ message: String) throws {
    let error = #expect(throws: ProfileProblems.self) { try read(text) }
    let problem = try #require(error?.problems.first)
    #expect(error?.problems.count == 1, "\(error?.problems.map(\.description) ?? [])")
    #expect(problem.message.contains(message), "\(problem)")
    #expect(problem.line == line && problem.column == column && problem.file == "f", "\(problem)")
  }

  /// All mistakes at a time, up to a limit.
  @Test func twentyMistakesOfTheSettingsAreReported() {
    let entries = (0..<100).map { "- {driver: lamp, command: c\($0)}\n" }.joined()
    let error = #expect(throws: ProfileProblems.self) { try read("commands:\n" + entries) }
    #expect(error?.problems.count == 20)
    #expect(error?.problems.map(\.line) == (2...21).map { $0 })
  }

  /// Files that are made to break the reader.
  @Test(
    arguments: [
      [], [0], [0xFF, 0xFE, 0x00], Array("commands: \u{0}".utf8), Array("commands: &a [*a]".utf8),
      Array("commands: !!map {}".utf8), Array("commands: []\ncommands: []".utf8), Array("---\n{}\n---\n{}\n".utf8),
      Array(("commands:" + String(repeating: " [", count: 2_000)).utf8),
      Array(repeating: UInt8(ascii: "#"), count: 70_000),
      Array(("commands:\n" + String(repeating: "- {accessory: a, command: b}\n", count: 257)).utf8),
      Array(("commands:\n" + String(repeating: "- a\n", count: 5_000)).utf8),
      Array("commands:\n- {accessory: \"a\\u001b[31m\", command: b}".utf8),
      Array("commands:\n- {accessory: a, command: \(String(repeating: "b", count: 65))}".utf8),
      Array("commands:\n- {accessory: \(String(repeating: "a", count: 256)), command: b}".utf8),
      Array(
        "commands:\n- {accessory: a, command: b, arguments: {\((0..<65).map { "a\($0): any" }.joined(separator: ", "))}}"
          .utf8),
      Array(
        "commands:\n- {accessory: a, command: b, arguments: {c: {allowed: [\((0..<65).map(String.init).joined(separator: ", "))]}}}"
          .utf8),
    ] as [[UInt8]])
  func hostileSettingsAreRefusedInPlainText(_ bytes: [UInt8]) {
    let error = #expect(throws: ProfileProblems.self) { try read(bytes) }
    for problem in error?.problems ?? [] {
      #expect(problem.message.utf8.count < 2_000 && !problem.message.utf8.contains { $0 < 0x20 }, "\(problem)")
    }
  }

  /// Bytes of a valid file are changed at random: the reader reports or reads, and never traps.
  @Test func changedSettingsAreReadOrRefused() {
    let text =
      "commands:\n- {driver: lamp, command: set, arguments: {level: {min: -5, max: 50}}, at_most: 2 every 5s}\n"
    var generator = SeededGenerator(seed: 22)
    for _ in 0..<3_000 {
      var bytes = Array(text.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: place)
        default: bytes.insert(bytes[Int.random(in: 0..<bytes.count, using: &generator)], at: place)
        }
      }
      do throws(ProfileProblems) { _ = try read(bytes) } catch { #expect(!error.problems.isEmpty) }
    }
  }

  // MARK: - The file's place

  @Test func theUsersOwnFileGoesFirst() throws {
    let directory = try TemporaryDirectory()
    let folders = ["own", "system"].map { directory.path + "/" + $0 }
    for folder in folders { #expect(mkdir(folder, 0o700) == 0) }
    #expect(try ServiceSettings.find(in: folders, isStrict: false) == nil)
    try directory.write(Array("{}".utf8), to: "system/service.yaml")
    #expect(try ServiceSettings.find(in: folders, isStrict: false)?.path == folders[1] + "/service.yaml")
    try directory.write(Array("commands: []".utf8), to: "own/service.yaml")
    let found = try ServiceSettings.find(in: folders, isStrict: false)
    #expect(found?.path == folders[0] + "/service.yaml" && found?.bytes == Array("commands: []".utf8))
    #expect(try ServiceSettings.find(in: [directory.path + "/none"], isStrict: false) == nil)
  }

  /// What anybody could have written permits nothing, and isn't passed over in favour of another file, either.
  @Test func aFileThatOthersMayWriteIsNotRead() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/service.yaml"
    try directory.write(Array("{}".utf8), to: "service.yaml")
    #expect(chmod(path, 0o666) == 0)
    let error = #expect(throws: ProfileProblems.self) {
      try ServiceSettings.find(in: [directory.path], isStrict: false)
    }
    #expect(error?.problems.first?.file == path)
    #expect(error?.problems.first?.message.contains("everybody may write to it") == true)
    #expect(chmod(path, 0o600) == 0 && unlink(path) == 0 && mkdir(path, 0o700) == 0)
    #expect(throws: ProfileProblems.self) { try ServiceSettings.find(in: [directory.path], isStrict: false) }
    #expect(throws: ProfileProblems.self) { try ServiceSettings.file(at: path) }
    #expect(throws: ProfileProblems.self) { try ServiceSettings.file(at: directory.path + "/missing.yaml") }
  }
}
