// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import Glibc
import TestSupport
import Testing

/// Accessories that speak Modbus, on a serial line and through a network.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ModbusTests {
  /// Listens at a port of this machine, and answers as an accessory of this kind does; each connection is to another one.
  private func listen(_ kind: String, wire: ModbusWire) async throws -> NetworkListener {
    let description = try #require(DescriptionLibrary.builtIn.described(kind)).description
    let device = try DescribedDevice(description, serialNumber: "SIM0001", wire: wire)
    return try await NetworkListener.listen(at: "127.0.0.1", port: 0) { client in
      let device = Locked(device)
      client.input.onReadable {
        var bytes: [UInt8] = []
        while case .bytes = client.input.take(into: &bytes) {
          let arrived = bytes
          let effects = device.withLock { $0.take(arrived) }
          for case .send(let answer) in effects { _ = client.output.offer(answer) }
        }
      }
    }
  }

  @Test func chargersAreReadOverANetwork() async throws {
    try await Sandbox.with { box in
      let charger = try await listen("epever", wire: .network)
      let meter = try await listen("sdm120", wire: .network)
      let place = "tcp:\(charger.address)"
      for _ in 0..<2 {
        let battery = try await box.run("battery", place, "--driver", "epever", "--json")
        #expect(battery.status == 0, "\(battery.errorText)")
        #expect(try battery.json()["battery"]?["voltage_mv"] == 12_760)
        #expect(try battery.json()["battery"]?["percent"] == 87 && battery.json()["device"]?["ways"] == ["tcp"])
      }
      let values = try await box.run("values", "tcp:\(meter.address)", "--driver", "sdm120")
      #expect(values.lines.contains { $0.split(separator: " ").prefix(2) == ["voltage", "230.20001"] })
      #expect(values.lines.contains { $0.split(separator: " ").prefix(2) == ["energy", "1242.06"] })
      charger.close()
      meter.close()
    }
  }

  /// A gateway that only passes on what is on its line, though the description takes it for Modbus TCP: nobody understands the
  /// other, and that is told.
  @Test func aGatewayOfAnotherKindDoesNotAnswer() async throws {
    try await Sandbox.with { box in
      let charger = try await listen("epever", wire: .serial)
      let battery = try await box.run("battery", "tcp:\(charger.address)", "--driver", "epever")
      #expect(battery.status == EX_TEMPFAIL && battery.outputText == "", "\(battery.errorText)")
      #expect(battery.errorText.contains("does not answer battery"))
      charger.close()
    }
  }

  /// An adapter that gives back what it sends, answers later than they are waited for, and registers that aren't there.
  @Test(arguments: [["--echo"], ["--delay", "700ms"], ["--pieces", "3"], ["--refuse", "load"]])
  func readingsAreRightOverADifficultModbusLine(options: [String]) async throws {
    try await Sandbox.with { box in
      let program = try box.start(["simulate", "--profile", "epever", "--serial", "TRACER1"] + options)
      _ = try await program.line(containing: " is plugged in at ")
      let battery = try await box.run("battery", "TRACER1", "--json")
      #expect(try battery.json()["battery"]?["voltage_mv"] == 12_760, "\(battery.errorText)")
      #expect(try battery.json()["battery"]?["percent"] == 87)
      let values = try await box.run("values", "TRACER1")
      #expect(values.lines.contains { $0.split(separator: " ").prefix(2) == ["solar_power", "49.39"] })
      let load = values.lines.first { $0.hasPrefix("load_power ") }
      // A group of registers that is refused is read in parts.
      #expect(load?.contains("10.84") == true, "\(load ?? "")")
      program.signal(SIGINT)
      _ = try await program.end()
    }
  }

  /// The same registers, of the examples of both.
  @Test(arguments: [("renogy", 87.0, 13_200.0, 3_310.0, "25"), ("srne", 100, 28_200, 2_580, "21")])
  func experimentalChargersAreReadWithTheirScale(
    kind: String, percent: Double, millivolts: Double, milliamperes: Double, temperature: String
  ) async throws {
    try await Sandbox.with { box in
      let charger = try await box.simulate(kind: "--profile", kind, "--serial", "ROVER1")
      let battery = try await box.run("battery", "ROVER1", "--json").json()["battery"]
      #expect(battery?["percent"] == .number(percent) && battery?["voltage_mv"] == .number(millivolts))
      #expect(battery?["current_ma"] == .number(milliamperes) && battery?["charge"] == "charging")
      let values = try await box.run("values", "ROVER1")
      #expect(values.lines.contains { $0.hasPrefix("charging_stage ") && $0.contains("mppt") })
      #expect(values.lines.contains { $0.split(separator: " ").prefix(2) == ["temperature", temperature[...]] })
      #expect(values.lines.contains { $0.split(separator: " ") == ["generated", "1404.9", "kWh"] })
      let status = try await box.run("status", "ROVER1")
      #expect(status.outputText.contains("RNG-CTRL-RVR40"), "\(status.outputText)")
      try await charger.stop()
    }
  }
}
