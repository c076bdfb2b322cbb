// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// An accessory that is open for a console: borrowed from the service that holds it, or opened by this process. It is
/// read-only where typed bytes could change something in the accessory and `--write` isn't given.
struct ConsoleConnection: Sendable {
  /// Where the accessory's bytes come from.
  enum Source: Sendable {
    case session(AccessorySession)
    /// The service's trace of the accessory, from now on.
    case trace(BridgeStream<Bridge.Trace>)
  }

  let device: Device
  let source: Source
  /// The name of the accessory's driver; nil when none is known.
  let driver: String?
  /// The control socket of the service that lends or traces the accessory; nil when this process has opened it.
  let servicePath: String?
  /// Why nothing is sent to the accessory, and what to do about that; nil if typed bytes are sent.
  let refusal: AccessoryError?

  /// Finds the accessory that `text` names, and opens it. `awaiting` is called with a text for people on what is about
  /// to be done. Throws `permissionDenied` where `write` is true and the profile doesn't allow writes.
  static func open(
    _ text: String?, _ line: LineOptions, write: Bool, awaiting: (String) -> Void = { _ in }
  ) async throws -> ConsoleConnection {
    if let held = try await HeldDevice.find(text, line, asLine: true) {
      let name = held.label ?? held.name
      if !write, let refusal = await held.writeRules().refusalOfBytes(isAsked: false) {
        awaiting("listening to what \(name) says to the service at \(held.socketPath)")
        return ConsoleConnection(
          device: Device(held.accessory.device), source: .trace(try await held.calls.trace()),
          driver: held.accessory.driver, servicePath: held.socketPath, refusal: refusal)
      }
      awaiting("waiting for the service at \(held.socketPath) to lend \(name)")
      return try await borrow(held, write: write && held.accessory.writes != nil)
    }
    var target = try await OpenedAccessory.find(text, line, asLine: true)
    let pause = target.settleTime.map { ", which takes \($0) to settle" } ?? ""
    awaiting("opening \(target.label)\(pause)")
    let refusal = write ? nil : target.opener.writeRules.refusalOfBytes(isAsked: false)
    target.opener.asksToWrite = write
    let session = refusal == nil ? try await target.greetedSession() : try await target.unguardedSession()
    return ConsoleConnection(
      device: target.device, source: .session(session), driver: target.driver?.name, servicePath: nil,
      refusal: refusal)
  }

  /// Borrows the accessory from the service.
  private static func borrow(_ held: HeldDevice, write: Bool) async throws -> ConsoleConnection {
    let (device, transport) = try await held.calls.open(write: write)
    return ConsoleConnection(
      device: Device(device), source: .session(AccessorySession(transport)), driver: held.accessory.driver,
      servicePath: held.socketPath, refusal: nil)
  }

  private var session: AccessorySession? { if case .session(let session) = source { session } else { nil } }

  /// The settings and modem lines of the serial line; nil where there is no serial line, or where a service only traces
  /// the accessory.
  var line: (any LineControl)? { session?.line }

  /// The pause after which an unfinished frame is given up.
  var silence: Duration { (session?.transport.timing ?? .instant).silence }

  /// Sends bytes, and waits for room in the queue. Throws `permissionDenied` where the console is read-only.
  func write(_ bytes: [UInt8]) async throws(AccessoryError) {
    if let refusal { throw refusal }
    // A console without a session has a refusal.
    try await session?.write(bytes)
  }

  /// Sends bytes if there is room for them in the queue; nil where the console is read-only.
  func offer(_ bytes: [UInt8]) -> OutputQueue.OfferResult? {
    refusal == nil ? session?.transport.output.offer(bytes) : nil
  }

  /// Begins to close the accessory, without waiting for the end.
  func beginClose() { session?.transport.beginClose() }

  /// Closes the accessory; returns when other programs can open it.
  func close() async { await session?.close() }
}

/// Reopens an accessory that was unplugged.
enum ConsoleReturn {
  /// Calls `body` when the accessory is back and open, unless the task is cancelled before. `servicePath` is the
  /// control socket of the service that lent the accessory.
  static func wait(
    _ names: [String], _ line: LineOptions, write: Bool, servicePath: String?,
    _ body: @escaping @Sendable (ConsoleConnection) -> Void
  ) -> Task<Void, Never> {
    var now = line
    now.wait = nil
    return Task { [line = now] in
      let opening = await AccessoryReturn.first(names, line, asLine: true, servicePath: servicePath) { name in
        try await ConsoleConnection.open(name, line, write: write)
      }
      if let opening { body(opening) }
    }
  }
}
