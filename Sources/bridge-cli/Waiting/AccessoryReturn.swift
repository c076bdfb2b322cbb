// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryDrivers
import AccessoryIO

/// Reopens an accessory that was unplugged.
enum AccessoryReturn {
  /// The pause between tries when nothing is plugged in, as in the default retry policy.
  static let pause = RetryPolicy().interval
  /// How many tries are left to a service that had the accessory, before it is opened here.
  private static let courtesy = 3

  /// Calls `open` with each name until one succeeds, and returns its result; nil when the task is cancelled. `failed`
  /// receives the errors of `open`. `servicePath` is the control socket of the service that had the accessory: while
  /// that service runs, it may open the accessory first. Otherwise it would find the accessory busy, and give it up.
  static func first<Opened: Sendable>(
    _ names: [String], _ line: LineOptions, asLine isLine: Bool, servicePath: String?,
    failed: (any Error) -> Void = { _ in }, open: (String) async throws -> Opened
  ) async -> Opened? {
    // The kernel gives the number of a pseudo-terminal that is gone to the next one, of any program. So the number
    // counts only where the user typed it, and not for another terminal than before; see `NumberedTerminals`.
    let names = names.prefix(1) + names.dropFirst().filter { !$0.hasPrefix("/dev/pts/") }
    let arrivals = await ArrivalWatcher()
    defer { arrivals.end() }
    var seen = 0
    while !Task.isCancelled {
      for name in names {
        if let servicePath, seen < courtesy, await isLeft(name, line, asLine: isLine, to: servicePath) {
          seen += 1
          break
        }
        do { return try await open(name) } catch { failed(error) }
      }
      await arrivals.next(within: pause)
    }
    return nil
  }

  /// Whether the service is running, the accessory is there, and the service hasn't opened it yet.
  private static func isLeft(
    _ name: String, _ line: LineOptions, asLine isLine: Bool, to servicePath: String
  ) async -> Bool {
    guard (try? await BridgeClient.connect(to: servicePath)) != nil,
      let found = try? await Door.findNow(name, line, asLine: isLine)
    else {
      return false
    }
    return found.service == nil
  }
}
