// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

/// `battery` and `status` against a simulator in another process.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct BatteryTests {
  static let issue = ["--percent", "57", "--level", "normal", "--voltage", "3712", "--charge", "discharging"]

  /// The document that describes a simulator with no names of its own.
  static func device(
    at path: String, link: JSON = nil, serial: String = "SIM0001", access: JSON = nil
  ) -> JSON {
    [
      "driver": "framed", "id": .string(serial), "link": link, "manufacturer": "Accessory Bridge", "model": "AF1-SIM",
      "name": "Simulated accessory", "path": .string(path), "serial": .string(serial), "source": "simulator",
      "terminal": .string(path), "links": [], "ways": ["tty"], "initialized": true, "usb": nil, "access": access,
      "bluetooth": nil, "unit": nil, "service": nil, "area": nil, "given_name": nil,
    ]
  }

  /// A battery's fields in a document: these, and all others unknown.
  static func battery(_ told: JSON) throws -> JSON { try JSON(BatteryReading.document()).merging(told) }

  @Test func theOnlyAccessoryNeedsNoName() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57", "--level", "normal", "--voltage", "3712")
      let battery = try await box.run("battery")
      #expect(battery.outputText == "57 %  normal  3.712 V  discharging\n")
      #expect(battery.errorText == "")
      #expect(battery.status == 0)
    }
  }

  @Test func theBatteryDocumentHasEveryField() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "./acc", "--percent", "57", "--voltage", "3712")
      let battery = try await box.run("battery", "./acc", "--json")
      #expect(
        try battery.json().without("time") == [
          "schema": "accessory-bridge/2", "document": "battery", "age_ms": 0, "stale": false, "alarms": nil,
          "missing": nil, "values": nil,
          "device": Self.device(at: simulator.path, link: .string(box.directory.path + "/acc")),
          "battery": Self.battery([
            "level": "normal", "percent": 57, "voltage_mv": 3712, "charge": "discharging",
          ]),
        ])
      #expect(battery.status == 0)
      #expect(battery.errorText == "")
    }
  }

  /// A percent is never made up from a level, and a level that nobody knows is unknown.
  @Test(
    arguments: [
      ("02", "normal", nil, "normal\n"), ("07", "unknown", nil, "charge not known\n"), ("01", "low", nil, "low\n"),
      ("ff", "unknown", nil, "charge not known\n"), ("0300", "high", 0, "0 %  high\n"),
      ("02ff", "normal", nil, "normal\n"), ("0265", "normal", nil, "normal\n"),
    ] as [(String, String, Int?, String)])
  func shortBatteryRepliesLeaveTheRestUnknown(
    payload: String, level: String, percent: Int?, text: String
  ) async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--battery-payload", payload)
      let battery = try await box.run("battery", "--json").json()["battery"]
      #expect(
        try battery
          == Self.battery(["level": .string(level), "percent": percent.map { .number(Double($0)) } ?? nil]))
      #expect(try await box.run("battery").outputText == text)
    }
  }

  /// The other way round, a level follows from the percent, and is said to.
  @Test func aLevelThatIsNotToldIsDerived() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "4", "--level", "unknown", "--charge", "charging")
      let battery = try await box.run("battery", "--json").json()["battery"]
      #expect(battery?["level"] == "critical")
      #expect(battery?["level_origin"] == "derived")
      #expect(battery?["percent"] == 4)
      #expect(battery?["charge"] == "charging")
    }
  }

  @Test func statusAndIdentityAreOneDocument() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let status = try await box.run("status", "--json")
      #expect(
        try status.json().without("time") == [
          "schema": "accessory-bridge/2", "document": "status", "age_ms": 0, "stale": false, "alarms": nil,
          "missing": nil,
          "unfit_alarms": [],
          "device": Self.device(at: simulator.path),
          "status": ["state": "idle", "fault_code": nil, "progress_percent": nil, "reports_faults": true],
          "identity": [
            "manufacturer": "Accessory Bridge", "name": "Simulated accessory", "model": "AF1-SIM",
            "serial": "SIM0001", "firmware": "1.0.0", "hardware": "A",
          ],
        ])
      #expect(status.status == 0)
    }
  }

  @Test func aStatusIsPrintedInLines() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate(
        "--state", "fault", "--fault-code", "513", "--progress", "40", "--serial", "G-1", "--name", "Gadget")
      let status = try await box.run("status")
      #expect(
        status.lines == [
          "State         fault", "Fault         513", "Progress      40 %", "Manufacturer  Accessory Bridge",
          "Name          Gadget", "Model         AF1-SIM", "Serial        G-1", "Firmware      1.0.0",
          "Hardware      A",
        ])
      let document = try await box.run("status", "--json").json()["status"]
      #expect(document == ["state": "fault", "fault_code": 513, "progress_percent": 40, "reports_faults": true])
    }
  }

  @Test func infoShowsAllThatIsKnown() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--seed", "3")
      let info = try await box.run("info", "--baud", "57600", "--json").json()
      #expect(info["device"] == Self.device(at: simulator.path))
      #expect(info["line"]?["baud"] == 57600)
      #expect(info["line"]?["data_bits"] == 8)
      #expect(info["line"]?["parity"] == "none")
      #expect(info["protocol"]?["name"] == "AF1")
      #expect(info["protocol"]?["largest_payload_bytes"] == 4096)
      #expect(info["protocol"]?["window"] == 1)
      #expect(info["protocol"]?["boot_id"]?.text?.count == 8)
      let text = try await box.run("info")
      #expect(text.status == 0)
      #expect(text.outputText.contains("Path          \(simulator.path)\n"))
    }
  }
}
