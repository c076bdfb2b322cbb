// SPDX-License-Identifier: Apache-2.0

/// Decides when the consumer is notified of received bytes.
///
/// Transfers come back in batches: one call of libusb's hands over all that have ended. The consumer is told behind a
/// batch, once. Full transfers are a stream, of which more may be there already, and to wake the consumer takes longer
/// than to fetch it: then the loop looks once more first, unless all transfers have been round.
struct WakePolicy {
  /// What the transport is to do now.
  enum Step: Hashable {
    /// Nothing: there is nothing to tell.
    case nothing
    /// Tell the consumer.
    case tell
    /// Let the loop look for more, and ask `looked` then.
    case look
    /// Wait for the batch that is coming, and ask `batchEnded` then.
    case awaitBatch
  }

  private enum Batch {
    case empty
    /// Transfers of a stream, all of them full: there is probably more.
    case full
    /// One that wasn't full, or messages.
    case complete
  }

  /// Bytes that wait to be told at most, unless one batch brings more.
  private let limit: Int
  private var batch = Batch.empty
  /// Bytes of which the consumer wasn't told; at least one for each transfer.
  private var untold = 0

  /// A policy that lets so many bytes wait: what all transfers hold together.
  init(limit: Int) { self.limit = limit }

  /// A transfer is back. `count` are the bytes that it brought; nil where it brought neither bytes nor a message.
  mutating func arrived(_ count: Int?, isFull: Bool) {
    if let count { untold += max(1, count) }
    batch = isFull && batch != .complete ? .full : .complete
  }

  /// libusb has handed over all that had ended. `isPaused`: the consumer has as much as it may have.
  mutating func batchEnded(isPaused: Bool) -> Step {
    let isStreaming = batch == .full && !isPaused && untold < limit
    batch = .empty
    return isStreaming ? .look : told()
  }

  /// The loop has looked for more. `isMoreComing`: a batch follows at once.
  mutating func looked(isMoreComing: Bool) -> Step {
    guard untold > 0 else { return .nothing }
    return isMoreComing ? .awaitBatch : told()
  }

  private mutating func told() -> Step {
    defer { untold = 0 }
    return untold > 0 ? .tell : .nothing
  }
}
