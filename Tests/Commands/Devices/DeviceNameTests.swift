// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The ways to say which accessory is meant.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct DeviceNameTests {
  @Test func batteryFindsAnAccessoryByEachName() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate(
        "--serial", "X-100", "--name", "Red gadget", "--link", "red", "--percent", "11")
      _ = try await box.simulate("--serial", "X-200", "--name", "Blue gadget", "--percent", "22")
      let node = String(simulator.path.dropFirst("/dev/".count))
      let names = [
        "X-100", "X-1", "Red gadget", "Red", simulator.path, node, "red", "./red", box.directory.path + "/red",
        box.directory.path + "/./red",
      ]
      for name in names {
        let battery = try await box.run("battery", name, "--json")
        #expect(try battery.json()["battery"]?["percent"] == 11, "\(name)")
        // Found among the simulators, not merely opened by its path.
        #expect(try battery.json()["device"]?["serial"] == "X-100", "\(name)")
      }
    }
  }

  @Test func whatFitsSeveralIsAQuestion() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--serial", "X-100")
      _ = try await box.simulate("--serial", "X-200")
      let nothing = try await box.run("status")
      #expect(nothing.status == EX_USAGE)
      #expect(nothing.errorText.contains("X-100, X-200"))
      let prefix = try await box.run("battery", "X-", "--json")
      #expect(prefix.status == EX_USAGE)
      #expect(try prefix.json()["error"]?["kind"] == "usage")
      #expect(try prefix.json()["error"]?["message"]?.text?.contains("X-100, X-200") == true)
    }
  }

  /// Two that say they are the same one are told apart by their paths.
  @Test func accessoriesOfOneSerialAreToldApartByPath() async throws {
    try await Sandbox.with { box in
      let one = try await box.simulate("--serial", "TWIN")
      let two = try await box.simulate("--serial", "TWIN")
      let battery = try await box.run("battery", "TWIN")
      #expect(battery.status == EX_USAGE)
      #expect(battery.errorText.contains(one.path))
      #expect(battery.errorText.contains(two.path))
      #expect(try await box.run("battery", two.path).status == 0)
    }
  }

  /// A path that no simulator announced is opened all the same, and nothing is made up about it.
  @Test func anUnannouncedPathIsOpened() async throws {
    let accessory = ScriptedAccessory { $0.command == .battery ? .reply([2]) : .silence }
    let terminal = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      #expect(symlink(terminal.path, box.directory.path + "/port") == 0)
      let battery = try await box.run("battery", "./port", "--driver", "framed", "--json")
      #expect(
        try battery.json()["device"] == [
          "driver": nil, "id": .string(terminal.path), "link": "./port", "manufacturer": nil, "model": nil,
          "name": nil, "path": .string(terminal.path), "serial": nil, "source": "named",
          "terminal": .string(terminal.path), "links": [], "ways": ["tty"], "initialized": true, "usb": nil,
          "access": nil, "bluetooth": nil, "unit": nil, "service": nil, "area": nil, "given_name": nil,
        ])
      #expect(battery.status == 0)
    }
    await terminal.transport.close()
  }

  /// What the user typed stands in the error, with what it turned out to be.
  @Test func errorsCallItAsTheUserDid() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "acc")
      #expect(try await box.run("request", "./acc", "0x55").errorText.contains("./acc (\(simulator.path)) refuses"))
      #expect(try await box.run("request", "SIM", "0x55").errorText.contains("SIM (\(simulator.path)) refuses"))
    }
  }
}
