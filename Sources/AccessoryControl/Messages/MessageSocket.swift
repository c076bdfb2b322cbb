// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import SystemPackage

/// One end of a connection with messages in both directions, for servers and clients. Belongs to an actor on the I/O
/// thread.
struct MessageSocket {
  /// The result of reading the socket.
  enum Arrived {
    /// Bytes were read; there may be a complete message.
    case bytes
    case nothing
    /// The peer sends no more, but may still read.
    case end
    /// The connection has failed.
    case failure(Errno)
  }

  let descriptor: FileDescriptor
  private let io: IOThread
  private var token: EventToken?
  private var interest: Interest = []
  private var splitter: MessageSplitter
  /// The queued messages. They aren't joined, since that would copy them repeatedly. Those before `first` were sent.
  private var unsent: [[UInt8]] = []
  private var first = 0
  /// How many bytes of the first queued message were sent.
  private var sentCount = 0
  /// Whether the owner wants to receive bytes.
  var wantsBytes = true

  /// A connection over a non-blocking `descriptor`, which it takes over. Messages have at most `limit` bytes.
  init(_ descriptor: FileDescriptor, limit: Int, io: IOThread) {
    self.descriptor = descriptor
    self.io = io
    splitter = MessageSplitter(limit: limit)
  }

  /// The number of queued bytes that weren't sent.
  private(set) var unsentCount = 0

  /// Whether the descriptor is watched.
  var isWatched: Bool { token != nil }

  mutating func watch(_ handler: any EventHandler) throws(Errno) {
    interest = .read
    token = try io.watch(descriptor, for: interest, handler: handler)
  }

  mutating func unwatch() {
    if let token { io.unwatch(descriptor, token) }
    token = nil
  }

  /// Updates the events for which the descriptor is watched. A failure is ignored, since the end of the connection
  /// follows.
  mutating func updateInterest() {
    var wanted: Interest = unsentCount > 0 ? .write : []
    if wantsBytes && splitter.wantsMore { wanted.insert(.read) }
    guard wanted != interest, let token else { return }
    interest = wanted
    try? io.change(descriptor, token, to: wanted)
  }

  /// Reads once, unless enough bytes are buffered. `owner` is the actor that this value belongs to.
  mutating func receive(by owner: isolated some IOActor) -> Arrived {
    guard splitter.wantsMore else { return .nothing }
    do throws(Errno) {
      let count = try Socket.receive(from: descriptor, by: owner) { splitter.append($0) }
      return count == 0 ? .end : .bytes
    } catch .wouldBlock {
      return .nothing
    } catch {
      return .failure(error)
    }
  }

  mutating func nextMessage() -> MessageSplitter.Next { splitter.next() }

  /// Queues bytes, and sends what the socket accepts. False when the peer is gone.
  mutating func send(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty else { return true }
    unsent.append(bytes)
    unsentCount += bytes.count
    return flush()
  }

  /// Sends what the socket accepts. False when the peer is gone.
  mutating func flush() -> Bool {
    while first < unsent.count {
      do throws(Errno) {
        let count = try Socket.send(unsent[first][sentCount...], to: descriptor)
        sentCount += count
        unsentCount -= count
      } catch .wouldBlock {
        return true
      } catch {
        return false
      }
      if sentCount == unsent[first].count { dropFirst() }
    }
    discard()
    return true
  }

  /// Removes the first message, which was sent. The array is compacted only now and then.
  private mutating func dropFirst() {
    unsent[first] = []
    (first, sentCount) = (first + 1, 0)
    guard first > 64, first > unsent.count / 2 else { return }
    unsent.removeFirst(first)
    first = 0
  }

  /// Drops the queued bytes, since the peer is gone.
  mutating func discard() { (unsent, first, sentCount, unsentCount) = ([], 0, 0, 0) }

  /// Ends the messages, and returns a transport for the bytes after the last message. `line` is notified when the
  /// transport ends.
  mutating func transport(label: String, line: LentLine? = nil) -> DescriptorTransport {
    unwatch()
    let descriptor = descriptor
    let transport = DescriptorTransport(
      descriptor: descriptor, label: label, timing: .instant, io: io, setup: SetupQueue(label: label), line: line,
      closing: .inOrder(unsent: { 0 }, hasLine: false), clock: io
    ) { error in
      line?.end(error ?? .closed(label))
      Socket.close(descriptor)
    }
    // The transport starts reading after the I/O thread's current job, so these bytes come first.
    let rest = splitter.takeRest()
    if !rest.isEmpty { _ = transport.input.append(rest.span.bytes) }
    return transport
  }

  mutating func close() {
    unwatch()
    Socket.close(descriptor)
  }
}
