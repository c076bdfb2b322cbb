// SPDX-License-Identifier: Apache-2.0

/// Decides when the consumer is notified of received bytes.
///
/// Transfers come back in batches: one call of libusb delivers all that have ended. The consumer is notified once,
/// after a batch. A batch of full transfers is a stream, of which more bytes may have arrived, and waking the consumer
/// takes longer than fetching these. Then the loop first looks for more events, until as many bytes wait as all
/// transfers can contain.
struct WakePolicy {
  /// What the transport must do now.
  enum Step: Hashable {
    case nothing
    /// Notify the consumer.
    case notify
    /// Let the loop look for more events, and call `looked` then.
    case look
    /// Wait for the next batch, and call `batchEnded` then.
    case awaitBatch
  }

  private enum Batch {
    case empty
    /// Only full transfers of a stream, so more bytes have probably arrived.
    case full
    /// At least one transfer that wasn't full, or messages.
    case complete
  }

  /// The bytes that may wait without a notification, unless one batch has more.
  private let limit: Int
  private var batch = Batch.empty
  /// Bytes that the consumer wasn't notified of, counting at least one for each transfer.
  private var unnotifiedByteCount = 0

  /// A policy that lets up to `limit` bytes wait: the capacity of all transfers together.
  init(limit: Int) { self.limit = limit }

  /// Records a transfer that has come back. `count` is the number of its bytes; nil when it delivered neither bytes nor
  /// a message.
  mutating func arrived(_ count: Int?, isFull: Bool) {
    if let count { unnotifiedByteCount += max(1, count) }
    batch = isFull && batch != .complete ? .full : .complete
  }

  /// Called when libusb has delivered all transfers that had ended. `isPaused`: the consumer's queue is full.
  mutating func batchEnded(isPaused: Bool) -> Step {
    let isStreaming = batch == .full && !isPaused && unnotifiedByteCount < limit
    batch = .empty
    return isStreaming ? .look : takeNotification()
  }

  /// Called when the loop has looked for more events. `isMoreComing`: a batch follows at once.
  mutating func looked(isMoreComing: Bool) -> Step {
    guard unnotifiedByteCount > 0 else { return .nothing }
    return isMoreComing ? .awaitBatch : takeNotification()
  }

  private mutating func takeNotification() -> Step {
    defer { unnotifiedByteCount = 0 }
    return unnotifiedByteCount > 0 ? .notify : .nothing
  }
}
