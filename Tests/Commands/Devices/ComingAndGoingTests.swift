// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// `list` and `watch` while simulators come and go.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ComingAndGoingTests {
  private static let free: JSON = ["permitted": true, "refusal": nil, "holder": nil]

  @Test func listSaysThatNothingIsThere() async throws {
    try await Sandbox.with { box in
      let list = try await box.run("list")
      #expect(list.status == 0)
      #expect(list.outputText == "")
      #expect(list.errorText.contains("No accessory found"))
      let document = try await box.run("list", "--json")
      #expect(
        try document.json() == ["schema": "accessory-bridge/2", "document": "device_list", "devices": [], "absent": []])
      #expect(document.errorText == "")
    }
  }

  @Test func listTellsWhatIsThere() async throws {
    try await Sandbox.with { box in
      let one = try await box.simulate()
      let two = try await box.simulate("--serial", "G-2", "--name", "Gadget")
      let devices = try await box.run("list", "--json").json()["devices"]
      var other = BatteryTests.device(at: two.path, serial: "G-2", access: Self.free)
      if case .object(var fields) = other {
        fields["name"] = "Gadget"
        other = .object(fields)
      }
      let expected = [one.path: BatteryTests.device(at: one.path, access: Self.free), two.path: other]
      #expect(devices == .array(expected.sorted { $0.key < $1.key }.map(\.value)))
      let table = try await box.run("list")
      #expect(table.lines.count == 3)
      #expect(
        table.lines[0].split(separator: "  ").map { $0.trimmed } == [
          "SERIAL", "NAME", "MODEL", "DRIVER", "USB", "WAYS", "ACCESS", "PATH", "SOURCE",
        ])
      #expect(table.lines.contains { $0.contains("G-2") && $0.contains("Gadget") && $0.contains(two.path) })
    }
  }

  /// Serial numbers are given out as they are free.
  @Test func theNextSimulatorGetsTheNextSerialNumber() async throws {
    try await Sandbox.with { box in
      let first = try await box.simulate()
      let second = try await box.simulate()
      #expect(second.program.transcript.value.lines.first?.hasPrefix("SIM0002 ") == true)
      try await first.stop()
      let third = try await box.simulate()
      #expect(third.program.transcript.value.lines.first?.hasPrefix("SIM0001 ") == true)
    }
  }

  /// A cleaner of temporary files, or a hand, takes the directory away: those that start later are seen all the same.
  @Test func watchOutlivesItsDirectory() async throws {
    try await Sandbox.with { box in
      let watch = try box.start("watch", "--json")
      let before = try await box.simulate("--serial", "BEFORE")
      #expect(try await watch.lines(1).map { try JSON($0)["device"]?["id"] } == ["BEFORE"])
      try await before.stop()
      _ = try await watch.lines(2)
      try #require(rmdir(box.runtime.path + "/accessory-bridge/simulated") == 0)
      _ = try await box.simulate("--serial", "AFTER")
      #expect(try await watch.lines(3).last.map { try JSON($0)["device"]?["id"] } == "AFTER")
    }
  }

  /// One that is killed with SIGKILL can't say goodbye; the kernel does it for it.
  @Test func watchTellsOfEachInOrder() async throws {
    try await Sandbox.with { box in
      let polite = try await box.simulate("--serial", "A")
      let watch = try box.start("watch", "--json")
      _ = try await watch.lines(1)
      let rude = try await box.simulate("--serial", "B")
      _ = try await watch.lines(2)
      try await polite.stop()
      _ = try await watch.lines(3)
      rude.program.signal(SIGKILL)
      let documents = try await watch.lines(4).map { try JSON($0) }
      let expected =
        [("connected", polite, "A"), ("connected", rude, "B")].flatMap { [$0] }
        + [("disconnected", polite, "A"), ("disconnected", rude, "B")]
      for (document, (event, simulator, serial)) in zip(documents, expected) {
        #expect(
          document.without("time") == [
            "schema": "accessory-bridge/2", "document": "device_event", "event": .string(event),
            "device": BatteryTests.device(
              at: simulator.path, serial: serial, access: event == "connected" ? Self.free : nil),
          ])
        guard case .number(let time)? = document["time"] else {
          Issue.record("the time is no number: \(document)")
          continue
        }
        #expect(time > 1_700_000_000)
      }
    }
  }

  @Test func watchTellsPeopleInLines() async throws {
    try await Sandbox.with { box in
      let watch = try box.start("watch")
      let simulator = try await box.simulate("--name", "Gadget")
      try await watch.line { $0.contains("  connected     SIM0001  Gadget  \(simulator.path)") }
      try await simulator.stop()
      try await watch.line { $0.contains("  disconnected  SIM0001  Gadget  \(simulator.path)") }
    }
  }

  /// The accessory comes back under the same identity, whatever its terminal is called then.
  @Test func anAccessoryComesBackUnderItsName() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "acc", "--unplug-after", "1", "--replug-after", "1ms")
      let watch = try box.start("watch", "--json")
      _ = try await watch.lines(1)
      #expect(try await box.run("battery").status == EX_UNAVAILABLE)
      let documents = try await watch.lines(3).map { try JSON($0) }
      #expect(documents.map { $0["event"] } == ["connected", "disconnected", "connected"])
      #expect(documents.allSatisfy { $0["device"]?["id"] == "SIM0001" })
      try await simulator.program.line(from: 1) { $0.contains("is plugged in at") }
      #expect(linkTarget(box.directory.path + "/acc") == documents[2]["device"]?["path"]?.text)
    }
  }

  @Test func whatAKilledSimulatorLeftIsIgnoredAndRemoved() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      #expect(box.announcements.count == 1)
      simulator.program.signal(SIGKILL)
      #expect(try await simulator.program.end().status == -SIGKILL)
      #expect(box.announcements.count == 1)
      #expect(try await box.run("list", "--json").json()["devices"] == [])
      #expect(box.announcements == [])
    }
  }
}

extension StringProtocol {
  /// Without spaces around it.
  var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
