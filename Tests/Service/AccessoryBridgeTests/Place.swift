// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport

/// A runtime directory in which programs and this process find nothing but each other: a service, simulators, programs.
final class Place: Sendable {
  let runtime: TemporaryDirectory
  private let programs = Locked<[Program]>([])

  /// Where simulators announce themselves, and where the service answers.
  var simulators: String { runtime.path + "/accessory-bridge/simulated" }
  var socket: String { runtime.path + "/accessory-bridge/bridge.socket" }

  init() throws {
    runtime = try TemporaryDirectory()
    mkdir(runtime.path + "/accessory-bridge", 0o700)
    mkdir(simulators, 0o700)
  }

  deinit { for program in programs.withLock({ $0 }) { program.signal(SIGKILL) } }

  /// What this process sees.
  var accessories: Accessories {
    Accessories(sources: [SimulatorSource(directory: simulators)], services: [socket])
  }

  func start(
    _ name: String, _ arguments: String..., output: Program.Output = .pipe
  ) throws -> Program {
    let tests = linkTarget("/proc/self/exe") ?? ""
    let folder = "/" + tests.split(separator: "/").dropLast().joined(separator: "/")
    let variables = [
      "XDG_RUNTIME_DIR": runtime.path, "XDG_CONFIG_HOME": runtime.path, "PATH": "/usr/bin:/bin",
      "ACCESSORY_BRIDGE_SOURCES": "simulator", "ACCESSORY_BRIDGE_SOCKET": socket,
    ]
    let program = try Program(
      [folder + "/" + name] + arguments, environment: variables, directory: runtime.path, output: output,
      limit: .seconds(120))
    programs.withLock { $0.append(program) }
    return program
  }

  /// Starts a service, and waits until it has so many accessories.
  func serve(_ count: Int = 1) async throws -> Program {
    let service = try start("bridge-cli", "serve", "--reconnect-tries", "forever", "--reconnect-interval", "50ms")
    try await attached(count, by: service)
    return service
  }

  /// Waits until the service has said so often that something is attached.
  func attached(_ count: Int, by service: Program) async throws {
    let state = try await service.transcript.wait {
      $0.status != nil
        || $0.errorText.split(separator: "is attached at", omittingEmptySubsequences: false).count > count
    }
    guard state.status == nil else { throw Hang("the service ended: \(state.errorText)") }
  }

  /// A pretended accessory of this process.
  func simulate(percent: UInt8 = 57, _ change: (inout AF1Simulator.Configuration) -> Void = { _ in }) async throws
    -> AF1Simulator
  {
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = simulators
    configuration.device.battery.percent = percent
    change(&configuration)
    let simulator = AF1Simulator(configuration)
    try await simulator.plugIn()
    return simulator
  }
}

/// The kind of error that `body` throws; nil when it throws none.
func kind(of body: () async throws(AccessoryError) -> Void) async -> AccessoryError.Kind? {
  do throws(AccessoryError) {
    try await body()
    return nil
  } catch {
    return error.kind
  }
}
