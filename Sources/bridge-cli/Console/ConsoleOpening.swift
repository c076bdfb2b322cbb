// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryLink

/// An accessory that is open for a console: lent by the service that has it, or opened here.
struct ConsoleOpening: Sendable {
  let device: Device
  let session: AccessorySession
  /// The name of the driver for its kind; nil when none is known.
  let driver: String?
  /// Where the service is that lends it.
  let lender: String?

  /// Finds the accessory that `text` means and opens it. `awaiting` is called with what is about to be done, for people.
  static func open(
    _ text: String?, _ line: LineOptions, awaiting: (String) -> Void = { _ in }
  ) async throws -> ConsoleOpening {
    if let held = try await HeldDevice.find(text, line) {
      awaiting("waiting for the service at \(held.place) to lend \(held.label ?? held.name)")
      return try await borrow(held)
    }
    let target = try await Attachment.find(text, line)
    let settle = target.opener.settings.terminal.settle
    let pause =
      target.device.address.transport == .terminal && settle > .zero ? ", which takes \(settle) to settle" : ""
    awaiting("opening \(target.label)\(pause)")
    let session = try await target.opener.greetedSession()
    return ConsoleOpening(
      device: target.device, session: session, driver: target.driver?.name, lender: nil)
  }

  /// Has the service lend it.
  private static func borrow(_ held: HeldDevice) async throws -> ConsoleOpening {
    let (device, transport) = try await held.calls.open()
    return ConsoleOpening(
      device: Device(device), session: AccessorySession(transport), driver: held.accessory.driver, lender: held.place)
  }
}

/// Opens an accessory again that is gone, as soon as it is back.
enum ConsoleReturn {
  /// The pause between tries when nothing is plugged in: that of the usual policy.
  private static let pause = RetryPolicy().interval
  /// Times that an accessory which was lent is left to the service that lent it, before it is opened here.
  private static let courtesy = 3

  /// Calls `body` when it is there and open; unless the task is cancelled before. `lender` is where the service is that
  /// lent it: when that still runs, it comes first, or it would find the accessory busy and give it up.
  static func wait(
    _ names: [String], _ line: LineOptions, lender: String?, _ body: @escaping @Sendable (ConsoleOpening) -> Void
  ) -> Task<Void, Never> {
    Task { if let opening = await next(names, line, lender) { body(opening) } }
  }

  private static func next(_ names: [String], _ line: LineOptions, _ lender: String?) async -> ConsoleOpening? {
    let comings = await Comings()
    defer { comings.end() }
    var seen = 0
    while !Task.isCancelled {
      for name in names {
        if let lender, seen < courtesy, await isLeft(name, line, to: lender) {
          seen += 1
          break
        }
        if let opening = try? await ConsoleOpening.open(name, line) { return opening }
      }
      await comings.next(within: pause)
    }
    return nil
  }

  /// Whether the service runs and doesn't have the accessory yet, which is there.
  private static func isLeft(_ name: String, _ line: LineOptions, to lender: String) async -> Bool {
    guard (try? await BridgeClient.connect(to: lender)) != nil, (try? await HeldDevice.find(name, line)) == nil else {
      return false
    }
    return (try? await Attachment.find(name, line)) != nil
  }
}
