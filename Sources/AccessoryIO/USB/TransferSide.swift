// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb

/// An action that one direction requests from its transport, because it needs a timer or concerns both directions.
enum CureStep {
  /// Cancel this direction's transfers. Nothing is submitted, in either direction, before all of them are back.
  case cancel
  /// End the endpoint's halt, and say so by `haltCleared`.
  case clearHalt
  /// Call `retry` after this time.
  case retry(after: Duration)
  /// The device is gone, that is certain.
  case vanish
  /// The transport ends with this error.
  case end(AccessoryError)
}

/// Whether a direction may give transfers to the kernel.
enum SubmissionState {
  case open
  /// Not while transfers are being cancelled.
  case held
  /// The transport is closing: transfers that come back are counted, but errors aren't recovered from.
  case over
}

/// One direction of a pair of endpoints: its transfers, the error state of its endpoint, and the recovery. A value that
/// is given the time; a transport uses two of them on the I/O thread.
protocol TransferSide {
  var endpoint: USBEndpointDescription { get }
  var state: SubmissionState { get set }
  /// Transfers that are with libusb.
  var pendingCount: Int { get }
  /// Transfers that a `cancel` is to end.
  var cancellable: [USBTransfer] { get }

  /// Submits all transfers that there is a use for.
  mutating func submit(now: @autoclosure () -> MonotonicTime) -> [CureStep]
  /// A transfer is back from libusb.
  mutating func ended(
    _ transfer: USBTransfer, _ outcome: USBTransfer.Outcome, now: @autoclosure () -> MonotonicTime
  ) -> [CureStep]
  /// The time is over that a `retry` waits.
  mutating func retry(now: @autoclosure () -> MonotonicTime) -> [CureStep]
  /// The endpoint's halt is over, or libusb's error of ending it.
  mutating func haltCleared(_ result: CInt, now: @autoclosure () -> MonotonicTime) -> [CureStep]
  /// Releases the transfers. libusb must not use them any more when the last reference is released.
  mutating func takeTransfers() -> [USBTransfer]
}

extension AccessoryError {
  /// An endpoint halts again and again.
  static func stalling(_ label: String, _ endpoint: USBEndpointDescription) -> AccessoryError {
    AccessoryError(
      .refused,
      "\(label) refuses on endpoint 0x\(String(endpoint.address, radix: 16)), again and again (stall): "
        + "it may want another interface, or another protocol")
  }

  /// Transfers fail again and again; `code` is libusb's where they could not even be submitted.
  static func failing(_ label: String, _ code: CInt?) -> AccessoryError {
    if let code { return AccessoryError(libusb: code, "transferring to or from \(label)", label: label) }
    return AccessoryError(
      .ioFailure, "transfers to and from \(label) fail again and again: look at the cable, and at dmesg")
  }
}

/// Counters of both directions, which any thread may read.
final class USBTally: Sendable {
  private let counted = Locked(USBCounters())

  var counters: USBCounters { counted.withLock { $0 } }

  func count(_ change: (inout USBCounters) -> Void) { counted.withLock { change(&$0) } }
}
