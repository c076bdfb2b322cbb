// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// An accessory that was attached to a service and is gone, and names of accessories.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct AbsentAccessoryTests {
  private static let arguments = ["--reconnect-tries", "1", "--alarm", "battery < 20 %"]

  /// A service whose only accessory was there and is gone.
  private static func leave(_ box: Sandbox) async throws -> Program {
    let service = try box.start(["serve"] + arguments)
    try await service.errors(containing: "looking for accessories")
    let simulator = try await box.simulate("--percent", "15", "--voltage", "3435")
    try await service.errors(containing: "SIM0001: alarm: battery < 20 %")
    try await simulator.stop()
    try await service.errors(containing: "SIM0001 is no longer attached")
    return service
  }

  private static func end(_ service: Program) async throws {
    service.signal(SIGTERM)
    #expect(try await service.end().status == 0)
  }

  @Test func itStaysInLists() async throws {
    try await Sandbox.with { box in
      var service = try await Self.leave(box)
      for isRestarted in [false, true] {
        if isRestarted {
          try await Self.end(service)
          service = try box.start(["serve"] + Self.arguments)
          try await service.errors(containing: "looking for accessories")
        }
        let list = try await box.run("list")
        #expect(list.status == 0 && list.errorText == "No accessory is connected.\n")
        #expect(list.lines.count == 2 && list.lines[0].hasPrefix("GONE "), "\(list.outputText)")
        #expect(list.lines[1].contains(" ago ") && list.lines[1].contains("15 %, 3.435 V"))
        #expect(list.lines[1].contains("! battery < 20 %"))
        let document = try await box.run("list", "--json").json()
        #expect(document["devices"]?.elements.count == 0 && document["absent"]?.elements.count == 1)
        let gone = document["absent"]?.elements.first?["service"]
        #expect(gone?["absent"] == .bool(true) && gone?["last"]?["battery"]?["percent"] == 15)
        for words in [["battery"], ["battery", "SIM0001"]] {
          let battery = try await box.run(words)
          #expect(battery.status == 0 && battery.outputText.hasPrefix("15 %  low  3.435 V"), "\(battery.outputText)")
          #expect(battery.errorText.hasPrefix("SIM0001 is gone, last there ") && battery.errorText.contains("was read"))
        }
        let all = try await box.run("battery", "--all")
        #expect(all.status == 0 && all.outputText.contains("gone, last there "), "\(all.outputText)")
        #expect(try await box.run("status", "SIM0001", "--json").json()["stale"] == .bool(true))
      }
      try await Self.end(service)
    }
  }

  /// What needs the accessory itself ends with 69, and says when it was last there and what to do.
  @Test(arguments: [
    ["request", "SIM0001", "ping"], ["set", "SIM0001", "level=1"], ["console", "SIM0001", "--linger", "1ms"],
    ["battery", "SIM0001", "--fresh"],
  ]) func commandsForItSaySo(words: [String]) async throws {
    try await Sandbox.with { box in
      let service = try await Self.leave(box)
      let ended = try await box.run(words)
      #expect(ended.status == EX_UNAVAILABLE, "\(ended.errorText)")
      #expect(ended.errorText.contains("SIM0001 is not there: it was last there "), "\(ended.errorText)")
      #expect(ended.errorText.contains("bridge-cli forget SIM0001"), "\(ended.errorText)")
      try await Self.end(service)
    }
  }

  @Test func itIsForgotten() async throws {
    try await Sandbox.with { box in
      let service = try await Self.leave(box)
      let none = try await box.run("forget", "nobody")
      #expect(none.status == EX_NOINPUT && none.errorText.contains("bridge-cli list"))
      let ended = try await box.run("forget", "SIM0001", "--json")
      #expect(ended.status == 0, "\(ended.errorText)")
      #expect(try ended.json()["document"]?.text == "forgotten" && ended.json()["device"]?["id"]?.text == "SIM0001")
      try await service.errors(containing: "SIM0001: alarm cleared: battery < 20 %")
      #expect(try await box.run("list", "--json").json()["absent"]?.elements.count == 0)
      _ = try await box.simulate()
      try await service.errors(containing: "SIM0001 is attached at", times: 2)
      let here = try await box.run("forget", "SIM0001")
      #expect(here.status == EX_UNAVAILABLE && here.errorText.contains("SIM0001 is there"), "\(here.errorText)")
      try await Self.end(service)
    }
  }

  // MARK: - Names

  /// A name is kept with and without a service, and each finds what the other has kept.
  @Test func anAccessoryHasAName() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      #expect(try await box.run("name").outputText == "SIM0001 has no name and no place of its own.\n")
      let named = try await box.run("name", "SIM0001", "House battery", "--area", "Attic")
      #expect(named.outputText == "SIM0001 is called House battery, in Attic.\n", "\(named.errorText)")
      #expect(try await box.run("battery", "House battery").outputText.hasPrefix("57 %"))
      let service = try box.start(["serve"] + Self.arguments)
      try await service.errors(containing: "SIM0001 is attached at")
      let list = try await box.run("list")
      #expect(list.outputText.contains("House battery") && list.outputText.contains("Attic"), "\(list.outputText)")
      let device = try await box.run("battery", "House battery", "--json").json()["device"]
      #expect(device?["given_name"]?.text == "House battery" && device?["area"]?.text == "Attic")
      #expect(device?["id"]?.text == "SIM0001")
      #expect(try await box.run("name", "SIM0001", "Shed").outputText == "SIM0001 is called Shed, in Attic.\n")
      try await Self.end(service)
      #expect(try await box.run("name", "SIM0001").outputText == "SIM0001 is called Shed, in Attic.\n")
      let cleared = try await box.run("name", "Shed", "--clear")
      #expect(cleared.outputText == "SIM0001 has no name and no place of its own.\n", "\(cleared.errorText)")
      #expect(try await box.run("name", "SIM0001", "a\u{1B}b").status == EX_USAGE)
      #expect(try await box.run("name", "SIM0001", "a", "--clear").status == EX_USAGE)
      try await simulator.stop()
    }
  }
}
