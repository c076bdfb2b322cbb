// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import SystemPackage

/// One end of a connection with messages in both directions, used by servers and clients. Belongs to an actor on the
/// I/O thread.
struct MessageSocket {
  /// What a look at the descriptor came to.
  enum Arrived {
    /// There may be a message now.
    case bytes
    case nothing
    /// The other end sends no more. It may still read.
    case end
    /// The other end is gone.
    case failure(Errno)
  }

  let descriptor: FileDescriptor
  private let io: IOThread
  private var token: EventToken?
  private var interest: Interest = []
  private var splitter: MessageSplitter
  /// The queued messages; joining them would copy them repeatedly. Those before `first` have been sent.
  private var unsent: [[UInt8]] = []
  private var first = 0
  /// Bytes of the first that have been sent.
  private var sentCount = 0
  /// The owner wants to be told of bytes.
  var wantsBytes = true

  /// A connection over a non-blocking `descriptor`, which belongs to it; messages of up to `limit` bytes are taken.
  init(_ descriptor: FileDescriptor, limit: Int, io: IOThread) {
    self.descriptor = descriptor
    self.io = io
    splitter = MessageSplitter(limit: limit)
  }

  /// Bytes that the other end has not taken.
  private(set) var unsentCount = 0

  /// True while the descriptor is watched.
  var isWatched: Bool { token != nil }

  mutating func watch(_ handler: any EventHandler) throws(Errno) {
    interest = .read
    token = try io.watch(descriptor, for: interest, handler: handler)
  }

  mutating func unwatch() {
    if let token { io.unwatch(descriptor, token) }
    token = nil
  }

  /// Updates what the descriptor is watched for. If this fails, the end of the connection will show it.
  mutating func updateInterest() {
    var wanted: Interest = unsentCount > 0 ? .write : []
    if wantsBytes && splitter.wantsMore { wanted.insert(.read) }
    guard wanted != interest, let token else { return }
    interest = wanted
    try? io.change(descriptor, token, to: wanted)
  }

  /// Reads once, unless enough bytes are buffered already. `owner` is the actor that this belongs to.
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

  /// Queues bytes behind those that wait, and sends what can be sent. False when the other end is gone.
  mutating func send(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty else { return true }
    unsent.append(bytes)
    unsentCount += bytes.count
    return flush()
  }

  /// Sends what can be sent. False when the other end is gone.
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

  /// The first message has been sent. Now and then the sent ones are removed from the array.
  private mutating func dropFirst() {
    unsent[first] = []
    (first, sentCount) = (first + 1, 0)
    guard first > 64, first > unsent.count / 2 else { return }
    unsent.removeFirst(first)
    first = 0
  }

  /// Forgets what waits: there is nobody who would take it.
  mutating func discard() { (unsent, first, sentCount, unsentCount) = ([], 0, 0, 0) }

  /// Ends the messages and returns a transport for the bytes that follow the last message. `line` is notified when it
  /// ends.
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
    // It reads for the first time when the I/O thread has done what it is doing now.
    let rest = splitter.takeRest()
    if !rest.isEmpty { _ = transport.input.append(rest.span.bytes) }
    return transport
  }

  mutating func close() {
    unwatch()
    Socket.close(descriptor)
  }
}
