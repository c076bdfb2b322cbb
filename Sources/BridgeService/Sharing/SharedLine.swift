// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Passes bytes between an attachment's device and the hubs that share it, on the I/O thread.
///
/// The bytes from the device come from the attachment's tap, no matter whether the service, a borrower or the writers have the device
/// open. The bytes to the device wait until the line is lent to the writers. A hub that reads slowly doesn't stop the device, since
/// each hub has a bounded buffer for each of its clients.
actor SharedLine: IOActor {
  nonisolated let io: IOThread
  private var members: [Member] = []
  /// The device's transport while the line is lent; otherwise nil.
  private var transport: (any Transport)?
  private var isFlowing = false
  private var onEnd: (@Sendable (AccessoryError?) -> Void)?
  private var buffer: [UInt8] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  init(io: IOThread) { self.io = io }

  /// A feed, and the pieces of its output that aren't sent yet.
  private final class Member {
    let feed: ShareFeed
    private var pieces: ArraySlice<ArraySlice<UInt8>> = []
    private var bytes: [UInt8] = []
    private var messages: [Int] = []

    init(_ feed: ShareFeed) { self.feed = feed }

    /// The next piece to send; nil when there is none.
    func first() -> ArraySlice<UInt8>? {
      if pieces.isEmpty, feed.output.take(into: &bytes, messages: &messages) {
        var rest = bytes[...]
        pieces =
          messages.map { count in
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
          }[...]
      }
      return pieces.first
    }

    func removeFirst() {
      guard let piece = pieces.popFirst() else { return }
      feed.output.wrote(piece.count)
    }
  }

  private nonisolated func onThread(_ body: @escaping @Sendable (isolated SharedLine) -> Void) {
    if io.isCurrent { enter(body) } else { io.post { self.enter(body) } }
  }

  // MARK: - Feeds

  /// Adds a feed. `onWaiting` is called on the I/O thread when it has bytes for a device that isn't lent.
  func add(_ feed: ShareFeed, onWaiting: (@Sendable () -> Void)? = nil) {
    members.removeAll { $0.feed.hasEnded }
    members.append(Member(feed))
    feed.output.onQueued { [weak self] in
      self?.onThread { line in
        if line.isFlowing { line.pump() } else { onWaiting?() }
      }
    }
    pump()
  }

  /// Passes bytes from the device to the feeds. The tap calls this on the I/O thread.
  nonisolated func hear(_ bytes: [UInt8]) { onThread { $0.pass(bytes) } }

  /// Bytes that may wait in a feed. Its hub takes them at once, unless something is wrong with it.
  private static let feedLimit = 1 << 20

  private func pass(_ bytes: [UInt8]) {
    for member in members where member.feed.hearsAlways || isFlowing {
      guard member.feed.input.count < Self.feedLimit else { continue }
      _ = member.feed.input.append(bytes.span.bytes)
    }
    members.removeAll { $0.feed.hasEnded }
  }

  /// Ends all feeds. To their hubs this is the end of the device.
  func endFeeds(_ error: AccessoryError?) {
    let ended = members
    members = []
    for member in ended { member.feed.end(error) }
  }

  // MARK: - Loans

  /// Begins a loan of the device to the feeds. Bytes pass after `flow` was called. `onEnd` is called once on the I/O thread when the
  /// transport's input ends: with the error, or with nil when the transport was closed. It isn't called after `end`.
  func begin(_ device: any Transport, onEnd: @escaping @Sendable (AccessoryError?) -> Void) {
    transport = device
    self.onEnd = onEnd
    device.output.onSpace { [weak self] in self?.onThread { $0.pump() } }
    device.input.onReadableOnIOThread { [weak self] in self?.onThread { $0.drain() } }
  }

  func flow() {
    isFlowing = transport != nil
    pump()
  }

  /// Ends the loan. The feeds' unsent bytes wait for the next loan.
  func end() { (transport, onEnd, isFlowing) = (nil, nil, false) }

  /// Discards the bytes in the transport's input, since they also come from the tap, and notices its end.
  private func drain() {
    while let transport {
      switch transport.input.take(into: &buffer) {
      case .nothing: return
      case .bytes: continue
      case .end(let error):
        let onEnd = onEnd
        end()
        onEnd?(error)
      }
    }
  }

  /// Sends one piece of each feed in turn, until the device's queue is full or nothing is left.
  private func pump() {
    guard isFlowing, let transport else { return }
    var hasMore = true
    while hasMore {
      hasMore = false
      for (index, member) in members.enumerated() {
        guard let piece = member.first() else { continue }
        switch transport.output.offer(piece.span.bytes) {
        case .accepted:
          member.removeFirst()
          hasMore = true
        case .full:
          // The feed whose piece found no room is the first next time.
          members = Array(members[index...] + members[..<index])
          return
        case .closed: return
        }
      }
    }
  }

  /// Drops the feeds' unsent bytes, whose writers are gone.
  func discardOutput() {
    for member in members { while member.first() != nil { member.removeFirst() } }
  }

  /// Whether a feed has unsent bytes.
  var hasOutput: Bool { members.contains { $0.feed.output.queuedCount > 0 } }

  /// Waits until the feeds have no unsent bytes, but no longer than `limit`.
  func flush(clock: any TimerClock, within limit: Duration) async {
    let (emptied, continuation) = AsyncStream<Void>.makeStream()
    var count = members.count
    guard isFlowing, count > 0 else { return }
    let timer = clock.schedule(at: clock.now + limit) { continuation.finish() }
    for member in members { member.feed.output.onEmpty { continuation.yield() } }
    for await _ in emptied {
      count -= 1
      if count == 0 { break }
    }
    clock.cancel(timer)
  }
}
