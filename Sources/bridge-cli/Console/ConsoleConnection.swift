// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// An accessory that is open for a console. It is read-only where typed bytes could change something in the accessory and
/// `--write` isn't given.
struct ConsoleConnection: Sendable {
  private let bytes: OpenedBytes
  /// The name of the accessory's driver; nil when none is known.
  let driver: String?

  var device: Device { bytes.device }
  /// The bytes from the accessory.
  var received: ReceivedBytes { bytes.received }
  /// The control socket of the service that lends or traces the accessory; nil when this process has opened it.
  var servicePath: String? { bytes.servicePath }
  /// Why nothing is sent to the accessory, and what to do about that; nil if typed bytes are sent.
  var refusal: AccessoryError? { bytes.refusal }

  /// Finds the accessory that `text` names, and opens it. `awaiting` is called with a text for people on what is about
  /// to be done. Throws `permissionDenied` where `write` is true and the profile doesn't allow writes.
  static func open(
    _ text: String?, _ line: LineOptions, write: Bool, again: SameAgain? = nil, awaiting: (String) -> Void = { _ in }
  ) async throws -> ConsoleConnection {
    let found =
      if let again {
        try await Door.findNow(text, line, asLine: true, again: again)
      } else {
        try await Door.find(text, line, asLine: true)
      }
    return ConsoleConnection(
      bytes: try await found.bytes(write: write, awaiting: awaiting), driver: found.driverName)
  }

  private var session: AccessorySession? { bytes.session }

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
    _ again: SameAgain, _ text: String?, _ line: LineOptions, write: Bool, servicePath: String?, pauses: ReturnPauses,
    _ body: @escaping @Sendable (ConsoleConnection) -> Void
  ) -> Task<Void, Never> {
    var now = line
    now.wait = nil
    return Task { [line = now] in
      let opening = await AccessoryReturn.first(again, text, line, servicePath: servicePath, pauses: pauses) { name in
        try await ConsoleConnection.open(name, line, write: write, again: again)
      }
      if let opening { body(opening) }
    }
  }
}
