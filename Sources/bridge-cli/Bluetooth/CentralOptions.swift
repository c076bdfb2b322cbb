// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryProtocols
import ArgumentParser
import CommandOutput

/// An HM-10 module that scans and connects, opened for one command.
struct OpenModule {
  let device: Device
  let module: any CentralAccessory

  /// Opens the module that `text` names, runs `body`, and closes the module, also when `body` throws.
  static func with<Result: Sendable>(
    _ text: String?, _ line: LineOptions, _ body: (OpenModule) async throws -> Result
  ) async throws -> Result {
    let found = try await Door.find(text, line)
    try found.checkIsFree()
    if let driver = found.driver, !(driver.accessoryType is any CentralAccessory.Type) { throw noModule(found.label) }
    return try await found.with { opened in
      guard let module = opened.accessory.narrowed(to: (any CentralAccessory).self) else {
        throw noModule(opened.accessory.label)
      }
      return try await body(OpenModule(device: opened.device, module: module))
    }
  }

  private static func noModule(_ label: String) -> AccessoryError {
    AccessoryError(.unsupported, "\(label) is not known as an HM-10: if it is one, use --driver hm10")
  }

  /// Starts a central on this module. If the module isn't in the central role, sets that role and prints a note on it,
  /// since the module keeps the role when it is switched off.
  func start(_ policy: RadioCentralPolicy = .init(), known: [RadioNeighbour] = []) async throws -> any RadioCentral {
    let wasCentral = try await module.isCentral()
    let central = module.central(policy, known: known)
    try await central.start(searching: nil)
    if !wasCentral {
      Output.note(
        "\(SafeText.escape(module.label)) is a central now, and stays one; to undo: bridge-cli request set-role "
          + "role=peripheral + reset")
    }
    return central
  }
}

/// How often connecting is tried again, after a connection was lost and after connecting has failed.
struct RetryOptions: ParsableArguments {
  @Option(
    help: .rare("tries", "How often to reconnect after the connection is lost: a number, forever or off."),
    transform: TriesArgument.read)
  var reconnectTries: TriesArgument?
  @Option(help: .rare("time", "The pause before each try; default: 1s."), transform: TimeArgument.read)
  var reconnectInterval: TimeArgument?
  @Option(
    help: .rare("tries", "How often to try again if connecting fails: a number, forever or off."),
    transform: TriesArgument.read)
  var retryTries: TriesArgument?
  @Option(help: .rare("time", "The pause before each try; default: 1s."), transform: TimeArgument.read)
  var retryInterval: TimeArgument?

  var policy: RadioCentralPolicy {
    var policy = RadioCentralPolicy()
    policy.reconnect = Self.retry(reconnectTries, reconnectInterval)
    policy.retryConnect = Self.retry(retryTries, retryInterval)
    return policy
  }

  private static func retry(_ tries: TriesArgument?, _ interval: TimeArgument?) -> RadioRetry {
    let count =
      switch tries?.tries {
      case .count(let count)?: Int(count)
      case .forever?: Int.max
      case .off?: 0
      case nil: RadioRetry.usual.tries
      }
    return RadioRetry(tries: count, interval: interval?.duration ?? RadioRetry.usual.interval)
  }
}
