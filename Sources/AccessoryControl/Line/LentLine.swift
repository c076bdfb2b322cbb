// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Synchronization

/// The line control of a borrowed accessory.
///
/// Each request is a call on a new connection, since the loan's connection carries only the accessory's bytes. So
/// requests may overtake bytes that are in transit, and the reverse.
package final class LentLine: LineControl {
  private let place: String
  private let path: String
  private let label: String
  /// The loan's secret; nil where the service is older than loans.
  private let loan: String?
  private let nanosecondsPerByte: Atomic<Int64>
  /// The error for requests after the end of the loan's connection.
  private let ending = Locked<AccessoryError?>(nil)

  /// The timeout of a request. An adapter that hangs takes seconds.
  private static let replyTimeout = Duration.seconds(60)

  /// The line control of the loan in `reply`; nil where the accessory has no serial line.
  init?(of device: BridgeDevice, _ reply: Bridge.Open.Reply) {
    let isTerminal = DeviceAddress(reply.device.path)?.transport == .terminal
    guard reply.loan == nil ? isTerminal : reply.line != nil else { return nil }
    (place, path, label, loan) = (device.client.socketPath, device.path, device.label, reply.loan)
    nanosecondsPerByte = Atomic((reply.line?.status?.timing ?? .instant).perByte.inNanoseconds)
  }

  /// The timing of the settings that the service reported last; an older service reports none.
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

  /// From now on all requests throw `error`.
  func end(_ error: AccessoryError) { ending.withLock { $0 = $0 ?? error } }

  // MARK: - Calls

  private func note(_ reply: Bridge.LineReply) throws(AccessoryError) -> LineStatus {
    guard let status = reply.line.status else {
      throw AccessoryError(.badData, "the service at \(place) reports invalid settings of \(label)")
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
        "the service at \(place) is of an earlier version and gives access to the bytes of \(label), not to its line: "
          + "update and restart the service"
      )
    }
    return try await attempt { () throws(AccessoryError) in
      var client = try await BridgeClient.connect(to: place)
      client.replyTimeout = Self.replyTimeout
      defer { client.close() }
      return try await client.device(path, label: label).call(method(loan))
    } or: { (failure) throws(AccessoryError) in
      if let ended { throw ended }
      switch failure.kind {
      // The loan or the service has ended; the loan's connection will end, too.
      case .notFound: throw .disconnected(label)
      case .disconnected where failure.isNoService: throw .disconnected(label)
      case .cancelled where !Task.isCancelled: throw .disconnected(label)
      default: throw failure
      }
    }
  }

  private var ended: AccessoryError? { ending.withLock { $0 } }
}
