// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLibusb

/// An action that one direction requests from its transport, because the action needs a timer or concerns both
/// directions.
enum RecoveryStep {
  /// Cancel this direction's transfers. Neither direction submits transfers before the cancellation is done.
  case cancel
  /// Clear the endpoint's halt, and call `haltCleared` then.
  case clearHalt
  /// Call `retry` after this time.
  case retry(after: Duration)
  /// The device is certainly gone.
  case vanish
  /// The transport ends with this error.
  case end(AccessoryError)
}

/// Whether a direction may give transfers to the kernel.
enum SubmissionState {
  case open
  /// No transfers may be submitted while others are being cancelled.
  case paused
  /// The transport is closing: transfers that come back are counted, but errors aren't recovered from.
  case over
}

/// One direction of a pair of endpoints: its transfers, the error state of its endpoint, and the recovery. A side reads
/// no clock. Its transport calls it on the I/O thread and passes the time.
protocol TransferSide {
  var endpoint: USBEndpointDescription { get }
  var state: SubmissionState { get set }
  /// Transfers that are with libusb.
  var pendingCount: Int { get }
  /// The transfers that a `cancel` step must end.
  var cancellable: [USBTransfer] { get }

  /// Submits all transfers that can be used now.
  mutating func submit(now: @autoclosure () -> MonotonicTime) -> [RecoveryStep]
  /// Handles a transfer that has come back from libusb.
  mutating func ended(
    _ transfer: USBTransfer, _ outcome: USBTransfer.Outcome, now: @autoclosure () -> MonotonicTime
  ) -> [RecoveryStep]
  /// Continues after the delay of a `retry` step.
  mutating func retry(now: @autoclosure () -> MonotonicTime) -> [RecoveryStep]
  /// Continues after the halt was cleared; `result` is libusb's error, 0 for none.
  mutating func haltCleared(_ result: CInt, now: @autoclosure () -> MonotonicTime) -> [RecoveryStep]
  /// Removes the transfers from the side and returns them. libusb must not use them any more when the last reference is
  /// released.
  mutating func takeTransfers() -> [USBTransfer]
}

extension AccessoryError {
  /// The error when an endpoint halts again and again.
  static func stalling(_ label: String, _ endpoint: USBEndpointDescription) -> AccessoryError {
    AccessoryError(
      .refused,
      "\(label) stalls endpoint 0x\(String(endpoint.address, radix: 16)) repeatedly: "
        + "it may expect another interface, or another protocol")
  }

  /// The error when transfers fail again and again. `code` is libusb's error if they couldn't be submitted, nil if they
  /// failed later.
  static func failing(_ label: String, _ code: CInt?) -> AccessoryError {
    if let code { return AccessoryError(libusb: code, "transferring to or from \(label)", label: label) }
    return AccessoryError(
      .ioFailure, "transfers to and from \(label) fail repeatedly: check the cable, and look at dmesg")
  }
}

/// The counters of both directions, which any thread may read.
final class USBTally: Sendable {
  private let counted = Locked(USBCounters())

  var counters: USBCounters { counted.withLock { $0 } }

  func count(_ change: (inout USBCounters) -> Void) { counted.withLock { change(&$0) } }
}
