// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// An accessory that is open for a console: lent by the service that has it, or opened here; or only listened to, where what
/// is typed may change something in it and that isn't asked for.
struct ConsoleOpening: Sendable {
  /// Where its bytes come from.
  enum Source: Sendable {
    case session(AccessorySession)
    /// What passes between the service and the accessory, from now on.
    case trace(BridgeStream<Bridge.Trace>)
  }

  let device: Device
  let source: Source
  /// The name of the driver for its kind; nil when none is known.
  let driver: String?
  /// Where the service is that lends it, or shows what passes.
  let lender: String?
  /// Nothing is sent to it.
  let isReadOnly: Bool

  /// What to say to who types all the same.
  static let readOnly =
    "its protocol has commands that change something in it, so nothing is sent: for that say --write, and writes: allowed in "
    + "its profile"

  /// Finds the accessory that `text` means and opens it. `awaiting` is called with what is about to be done, for people.
  /// Throws `permissionDenied` with `write` where its profile doesn't allow that.
  static func open(
    _ text: String?, _ line: LineOptions, write: Bool, awaiting: (String) -> Void = { _ in }
  ) async throws -> ConsoleOpening {
    if let held = try await HeldDevice.find(text, line, asLine: true) {
      let name = held.label ?? held.name
      guard held.accessory.writes == nil || write else {
        awaiting("listening to what \(name) says to the service at \(held.place)")
        return ConsoleOpening(
          device: Device(held.accessory.device), source: .trace(try await held.calls.trace()),
          driver: held.accessory.driver, lender: held.place, isReadOnly: true)
      }
      awaiting("waiting for the service at \(held.place) to lend \(name)")
      return try await borrow(held, write: write && held.accessory.writes != nil)
    }
    var target = try await OpenedAccessory.find(text, line, asLine: true)
    let pause = target.settleTime.map { ", which takes \($0) to settle" } ?? ""
    awaiting("opening \(target.label)\(pause)")
    let isReadOnly = target.opener.writeRules.hasWrites && !write
    target.opener.asksToWrite = write
    let session = isReadOnly ? try await target.unguardedSession() : try await target.greetedSession()
    return ConsoleOpening(
      device: target.device, source: .session(session), driver: target.driver?.name, lender: nil, isReadOnly: isReadOnly
    )
  }

  /// Has the service lend it.
  private static func borrow(_ held: HeldDevice, write: Bool) async throws -> ConsoleOpening {
    let (device, transport) = try await held.calls.open(write: write)
    return ConsoleOpening(
      device: Device(device), source: .session(AccessorySession(transport)), driver: held.accessory.driver,
      lender: held.place, isReadOnly: false)
  }

  private var session: AccessorySession? { if case .session(let session) = source { session } else { nil } }

  /// The settings and modem lines of its line; nil where it is on none, or is only listened to through a service.
  var line: (any LineControl)? { session?.line }

  /// The pause after which an unfinished frame is over.
  var silence: Duration { (session?.transport.timing ?? .instant).silence }

  /// Sends bytes, and waits for room. Throws `permissionDenied` where it is only listened to.
  func write(_ bytes: [UInt8]) async throws(AccessoryError) {
    guard let session, !isReadOnly else {
      throw AccessoryError(.permissionDenied, "\(device.id): \(Self.readOnly)")
    }
    try await session.write(bytes)
  }

  /// Sends bytes if there is room for them; nil where it is only listened to.
  func offer(_ bytes: [UInt8]) -> OutputQueue.OfferResult? { isReadOnly ? nil : session?.transport.output.offer(bytes) }

  /// Closes it, without waiting.
  func beginClose() { session?.transport.beginClose() }

  /// Closes it; returns when it is free for others.
  func close() async { await session?.close() }
}

/// Opens an accessory again that is gone, as soon as it is back.
enum ConsoleReturn {
  /// Calls `body` when it is there and open; unless the task is cancelled before. `lender` is where the service is that
  /// lent it.
  static func wait(
    _ names: [String], _ line: LineOptions, write: Bool, lender: String?,
    _ body: @escaping @Sendable (ConsoleOpening) -> Void
  ) -> Task<Void, Never> {
    var now = line
    now.wait = nil
    return Task { [line = now] in
      let opening = await AccessoryReturn.first(names, line, asLine: true, lender: lender) { name in
        try await ConsoleOpening.open(name, line, write: write)
      }
      if let opening { body(opening) }
    }
  }
}
