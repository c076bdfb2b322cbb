// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDrivers
import AccessoryIO

/// Opens an accessory again that is gone, as soon as it is back.
enum AccessoryReturn {
  /// The pause between tries when nothing is plugged in: that of the usual policy.
  static let pause = RetryPolicy().interval
  /// Times that an accessory which a service had is left to that service, before it is opened here.
  private static let courtesy = 3

  /// The first thing that `open` gives for one of these names; nil when the task is cancelled before. `failed` gets what
  /// it throws. `lender` is where the service is that had the accessory: when that still runs, it comes first, or it would
  /// find the accessory busy and give it up.
  static func first<Opened: Sendable>(
    _ names: [String], _ line: LineOptions, asLine isLine: Bool, lender: String?,
    failed: (any Error) -> Void = { _ in }, open: (String) async throws -> Opened
  ) async -> Opened? {
    let comings = await ArrivalWatcher()
    defer { comings.end() }
    var seen = 0
    while !Task.isCancelled {
      for name in names {
        if let lender, seen < courtesy, await isLeft(name, line, asLine: isLine, to: lender) {
          seen += 1
          break
        }
        do { return try await open(name) } catch { failed(error) }
      }
      await comings.next(within: pause)
    }
    return nil
  }

  /// Whether the service runs and doesn't have the accessory yet, which is there.
  private static func isLeft(
    _ name: String, _ line: LineOptions, asLine isLine: Bool, to lender: String
  ) async -> Bool {
    guard (try? await BridgeClient.connect(to: lender)) != nil,
      (try? await HeldDevice.findNow(name, line, asLine: isLine)) == nil
    else {
      return false
    }
    return (try? await OpenedAccessory.find(name, line, asLine: isLine)) != nil
  }
}
