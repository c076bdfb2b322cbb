// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import TestSupport

@testable import AccessorySimulator
@testable import FamilyEV3
@testable import FamilyEV3Simulator

/// A pretended brick, and a program at its other end.
struct EV3Bench {
  /// What the brick is connected by.
  enum Way: String, CaseIterable, Sendable {
    case terminal, network
  }

  let simulator: EV3Simulator
  let path: String
  let brick: EV3Brick

  /// The usual, with a limit of time that a busy machine doesn't reach.
  static var patient: EV3Exchange.Options {
    var options = EV3Exchange.Options()
    options.timeout = .seconds(30)
    return options
  }

  /// Connects a brick, and opens it.
  static func open(
    _ way: Way = .terminal, options: EV3Exchange.Options = patient, clock: ManualClock? = nil,
    _ change: (inout EV3Simulator.Configuration) -> Void = { _ in }
  ) async throws -> EV3Bench {
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    if way == .network { configuration.connection = .network(port: 0) }
    change(&configuration)
    let simulator = EV3Simulator(configuration, clock: clock)
    let path = try await simulator.plugIn()
    return EV3Bench(simulator: simulator, path: path, brick: try await open(path, options: options))
  }

  /// Opens the brick at `path` as any program would.
  static func open(_ path: String, options: EV3Exchange.Options = patient) async throws -> EV3Brick {
    let session = try await DeviceOpener(Device(DeviceAddress(path) ?? .node(path), source: .named), profile: .ev3)
      .session()
    return try await EV3Brick.open(session, options: options)
  }

  func close() async {
    await brick.close()
    await simulator.stop()
  }
}
