// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator

/// What a quirk is to show, and what is still told then.
struct QuirkCase: Sendable, CustomTestStringConvertible {
  /// The kind, as descriptions are called.
  let kind: String
  /// What is shown.
  let quirk: String
  /// Names that aren't told then. Nothing else is missing, and nothing is different.
  var missing: Set<String> = []
  /// Names that are told only then.
  var more: Set<String> = []
  /// Has the accessory show it.
  let show: @Sendable (inout DescribedDevice, inout Faults) throws -> Void

  var testDescription: String { "\(kind): \(quirk)" }

  init(
    _ kind: String, _ quirk: String, missing: Set<String> = [], more: Set<String> = [],
    _ show: @escaping @Sendable (inout DescribedDevice, inout Faults) throws -> Void
  ) {
    (self.kind, self.quirk, self.missing, self.more, self.show) = (kind, quirk, missing, more, show)
  }
}

extension ProtocolDescription {
  /// The same protocol, whose replies may take as many times as long as this machine is slow.
  fileprivate var patient: ProtocolDescription {
    var patient = self
    patient.plan.timeout *= Int64(Patience.factor)
    for index in patient.requests.indices {
      patient.requests[index].timeout = patient.requests[index].timeout.map { $0 * Int64(Patience.factor) }
    }
    return patient
  }
}

/// A pretended accessory of a kind that ships, at the other end of a terminal.
struct QuirkBench {
  let simulator: SerialSimulator<DescribedDevice>
  let accessory: DescribedAccessory

  static func description(_ kind: String) throws -> ProtocolDescription {
    try #require(DescriptionLibrary.builtIn.described(kind)).description
  }

  static func open(
    _ kind: String, timeout: Duration? = nil,
    _ show: (inout DescribedDevice, inout Faults) throws -> Void = { _, _ in }
  ) async throws -> QuirkBench {
    var description = try description(kind)
    if let timeout {
      // What isn't answered isn't waited for long.
      description.plan.timeout = timeout.inNanoseconds
      description.plan.tries = 1
      for index in description.requests.indices { description.requests[index].timeout = nil }
    }
    description = description.patient
    var device = try DescribedDevice(description, serialNumber: "SIM0001")
    device.period = .milliseconds(100)
    var faults = Faults()
    try show(&device, &faults)
    // On a slow machine both sides take their time, so that what was shown to be late is as late as before, in proportion.
    faults.delay = faults.delay.patient
    device.quirks.deafTime = device.quirks.deafTime.patient
    device.quirks.quietTime = device.quirks.quietTime.patient
    var configuration = SerialSimulator<DescribedDevice>.Configuration(device, seed: 1)
    configuration.faults = faults
    configuration.isAnnounced = false
    let simulator = SerialSimulator(configuration)
    let session = try await AccessorySession.open(TerminalConfiguration(path: try await simulator.plugIn()))
    do {
      return QuirkBench(simulator: simulator, accessory: try await DescribedAccessory.open(session, description))
    } catch {
      await simulator.stop()
      throw error
    }
  }

  /// Opens it, uses it, and closes it.
  static func with<Result>(
    _ kind: String, timeout: Duration? = nil,
    _ show: (inout DescribedDevice, inout Faults) throws -> Void = { _, _ in },
    _ body: (QuirkBench) async throws -> Result
  ) async throws -> Result {
    let bench = try await open(kind, timeout: timeout, show)
    do {
      let result = try await body(bench)
      await bench.close()
      return result
    } catch {
      await bench.close()
      throw error
    }
  }

  /// All that it tells of its battery, where it has one, and beside that, as texts by names.
  func told() async throws -> [String: String] {
    var told: [String: String] = [:]
    for value in try await accessory.values() { told[value.name] = value.content.map { "\($0)" } }
    let names = accessory.description.messages.flatMap(\.fields).map(\.name)
    guard names.contains(where: DescribedPart.isBattery) else { return told }
    let battery = try await accessory.battery()
    for field in BatteryReading.Field.allCases {
      if let number = battery[field] { told["battery.\(field)"] = "\(number)" }
    }
    told["battery.level"] = battery.level == BatteryReading().level ? nil : "\(battery.level)"
    told["battery.charge"] = battery.charge == BatteryReading().charge ? nil : "\(battery.charge)"
    told["battery.cells"] = battery.cellMillivolts.isEmpty ? nil : "\(battery.cellMillivolts)"
    told["battery.temperatures"] = battery.temperatures.isEmpty ? nil : "\(battery.temperatures)"
    told["battery.faults"] = battery.faults.map { "\($0)" }
    told["battery.warnings"] = battery.warnings.map { "\($0)" }
    return told
  }

  func close() async {
    await accessory.close()
    await simulator.stop()
  }
}
