// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Synchronization

/// The line of an accessory that a service lends.
///
/// Each request is a call of the service on a connection of its own: the one that carries the accessory's bytes carries
/// nothing else. So requests and bytes that are on their way at the same time may overtake each other.
package final class LentLine: LineControl {
  private let place: String
  private let path: String
  private let label: String
  /// Nil where the service is of an earlier version, which tells of no loans.
  private let loan: String?
  private let nanosecondsPerByte: Atomic<Int64>
  /// The error for requests after the end of the connection that carries the bytes.
  private let ending = Locked<AccessoryError?>(nil)

  /// The timeout of a request; an adapter that hangs takes seconds.
  private static let patience = Duration.seconds(60)

  /// The line of what `Open` has lent; nil where the accessory is on none.
  init?(of device: BridgeDevice, _ reply: Bridge.Open.Reply) {
    let isTerminal = DeviceAddress(reply.device.path)?.transport == .terminal
    guard reply.loan == nil ? isTerminal : reply.line != nil else { return nil }
    (place, path, label, loan) = (device.client.place, device.path, device.label, reply.loan)
    nanosecondsPerByte = Atomic((reply.line?.status?.timing ?? .instant).perByte.inNanoseconds)
  }

  /// By the settings that the service told last; none of an earlier version tells them.
  package var timing: LineTiming {
    LineTiming(perByte: .nanoseconds(nanosecondsPerByte.load(ordering: .relaxed)))
  }

  package func status() async throws(AccessoryError) -> LineStatus {
    try note(await ask { Bridge.GetLineStatus(loan: $0) })
  }

  package func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus {
    try changes.check(label)
    return try note(await ask { Bridge.ChangeLine(loan: $0, changes) })
  }

  package func modemLines() async throws(AccessoryError) -> ModemLines {
    ModemLines(words: try await ask { Bridge.GetModemLines(loan: $0) }.modem_lines)
  }

  package func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try ModemLines.check(raising: raised, lowering: lowered, label)
    _ = try await ask { Bridge.SetModemLines(loan: $0, raising: raised, lowering: lowered) }
  }

  package func setBreak(_ isOn: Bool) async throws(AccessoryError) {
    _ = try await ask { Bridge.SetBreak(loan: $0, on: isOn) }
  }

  package func purge(_ buffers: LineBuffers) async throws(AccessoryError) {
    _ = try await ask { Bridge.Purge(loan: $0, buffers) }
  }

  /// From now on all fails with `error`.
  func end(_ error: AccessoryError) { ending.withLock { $0 = $0 ?? error } }

  // MARK: - Calls

  private func note(_ reply: Bridge.LineReply) throws(AccessoryError) -> LineStatus {
    guard let status = reply.line.status else {
      throw AccessoryError(.badData, "the service at \(place) tells settings of \(label) that make no sense")
    }
    nanosecondsPerByte.store(status.timing.perByte.inNanoseconds, ordering: .relaxed)
    return status
  }

  private func ask<Method: LineMethod>(
    _ method: (String) -> Method
  ) async throws(AccessoryError) -> Method.Reply {
    if let ended { throw ended }
    guard let loan else {
      throw AccessoryError(
        .unsupported,
        "the service at \(place) is of an earlier version, which lends the bytes of \(label) without its line: start it anew"
      )
    }
    let failure: AccessoryError
    do throws(AccessoryError) {
      var client = try await BridgeClient.connect(to: place)
      client.patience = Self.patience
      defer { client.close() }
      return try await client.device(path, label: label).call(method(loan))
    } catch {
      failure = error
    }
    if let ended { throw ended }
    switch failure.kind {
    // The loan has ended, or the service has: its bytes will say so, too.
    case .notFound: throw .disconnected(label)
    case .cancelled where !Task.isCancelled: throw .disconnected(label)
    default: throw failure
    }
  }

  private var ended: AccessoryError? { ending.withLock { $0 } }
}
