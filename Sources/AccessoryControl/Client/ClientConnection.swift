// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A client's end of a connection, on the I/O thread. Answers come in the order of the calls; the answer to a cancelled
/// call is dropped.
actor ClientConnection: EventHandler, IOActor {
  /// What the next message is for.
  private enum Receiver {
    case one(ReplySlot<[UInt8]>)
    /// As above; what follows may not be messages, and is left alone until that is known.
    case upgrade(ReplySlot<[UInt8]>)
    /// All messages from here on.
    case stream(MessageQueue)
  }

  package nonisolated let io: IOThread
  private nonisolated let label: String
  private var socket: MessageSocket
  private var receivers: [Receiver] = []
  /// An answer to an upgrade was given out.
  private var isHeld = false
  private var isPaused = false
  /// Something came unasked, and is being read elsewhere: then the connection ends.
  private var isEnding = false
  /// Why there is no connection any more.
  private var failure: AccessoryError?

  /// The longest answer that is taken, in bytes.
  static let replyLimit = 16 << 20
  /// Calls that may wait for their answers, those that were given up included.
  private static let callLimit = 1_024

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A client's end over a connected `descriptor`.
  init(_ descriptor: FileDescriptor, label: String, io: IOThread) {
    self.io = io
    self.label = label
    socket = MessageSocket(descriptor, limit: Self.replyLimit, io: io)
    io.post { self.assumeIsolated { $0.start() } }
  }

  private func start() {
    guard failure == nil else { return }
    do throws(Errno) { try socket.watch(self) } catch { end(AccessoryError(errno: error, "watching \(label)")) }
  }

  // MARK: - Calls

  /// Sends a call, whose answer goes to `slot`.
  nonisolated func call(_ message: [UInt8], upgrade: Bool, _ slot: ReplySlot<[UInt8]>) {
    io.post { self.assumeIsolated { $0.send(message, upgrade ? .upgrade(slot) : .one(slot)) } }
  }

  /// Sends a call, whose answers go to `queue`, and all that comes after them.
  nonisolated func stream(_ message: [UInt8], _ queue: MessageQueue) {
    io.post { self.assumeIsolated { $0.send(message, .stream(queue)) } }
  }

  private func send(_ message: [UInt8], _ receiver: Receiver) {
    if let failure { return Self.fail(receiver, failure) }
    switch receivers.last {
    case .upgrade, .stream: return Self.fail(receiver, isTaken)
    default: break
    }
    guard !isHeld, receivers.count < Self.callLimit else { return Self.fail(receiver, isTaken) }
    receivers.append(receiver)
    if isEnding { return }
    // When the other end is gone, it may have said why: that is still to be read.
    _ = socket.send(message)
    socket.updateInterest()
  }

  private var isTaken: AccessoryError {
    AccessoryError(.busy, "the connection to \(label) is taken by a call that has not ended")
  }

  private static func fail(_ receiver: Receiver, _ error: AccessoryError) {
    switch receiver {
    case .one(let slot), .upgrade(let slot): slot.finish(.failure(error))
    case .stream(let queue): queue.finish(error)
    }
  }

  // MARK: - Events

  /// Called by the loop.
  nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.handle(readiness) } }

  private func handle(_ readiness: Readiness) {
    guard failure == nil, !isEnding else { return }
    let isGone = !readiness.isDisjoint(with: [.hangUp, .error])
    if readiness.contains(.writable) { _ = socket.flush() }
    if readiness.contains(.readable) || isGone {
      // Gone for good only when all that it said has been taken, which may have to wait for a slow reader.
      switch socket.receive(by: self) {
      case .bytes: break
      case .nothing: if isGone && !isPaused { return finishReading(.disconnected(label)) }
      case .end: return finishReading(.disconnected(label))
      case .failure(let error):
        return finishReading(.disconnected(label, code: .errno(error.rawValue)))
      }
    }
    deliver()
    guard failure == nil, !isEnding else { return }
    // It would be reported again and again; what is left is read when the reader goes on.
    if isGone && isPaused { socket.unwatch() }
    socket.updateInterest()
  }

  private func finishReading(_ error: AccessoryError) {
    isPaused = false
    deliver(toTheEnd: true)
    if !isEnding { end(error) }
  }

  /// Gives out the messages that there are.
  private func deliver(toTheEnd: Bool = false) {
    while failure == nil, !isEnding, !isHeld, !isPaused || toTheEnd {
      switch socket.nextMessage() {
      case .nothing: return
      case .tooLong:
        return end(AccessoryError(.badData, "an answer of \(label) is longer than \(Self.replyLimit) bytes"))
      case .message(let message):
        switch receivers.first {
        case nil: return endUnasked(message)
        case .one(let slot):
          receivers.removeFirst()
          slot.finish(.success(message))
        case .upgrade(let slot):
          receivers.removeFirst()
          isHeld = true
          socket.unwatch()
          slot.finish(.success(message))
        case .stream(let queue):
          if !queue.append(message) {
            isPaused = true
            socket.wantsBytes = false
          }
        }
      }
    }
  }

  /// Ends the connection with an unexpected message: a server that refuses a client sends the reason before any call.
  /// Like all messages it is parsed on a dispatch queue.
  private func endUnasked(_ message: [UInt8]) {
    isEnding = true
    socket.unwatch()
    DispatchExecutor(label: "accessory.control.unasked").post { [self] in
      let error = unasked(message)
      io.post { self.assumeIsolated { $0.end(error) } }
    }
  }

  private nonisolated func unasked(_ message: [UInt8]) -> AccessoryError {
    if let json = try? JSON(message), case .failure(let error)? = ReplyMessage(json)?.outcome {
      return error.accessoryError
    }
    return AccessoryError(.badData, "\(label) answers what was not asked")
  }

  /// A stream's reader has caught up.
  nonisolated func resume() {
    io.post { self.assumeIsolated { $0.goOn() } }
  }

  private func goOn() {
    guard failure == nil, !isEnding else { return }
    isPaused = false
    isHeld = false
    socket.wantsBytes = true
    deliver()
    guard failure == nil, !isEnding else { return }
    if !socket.isWatched { return start() }
    socket.updateInterest()
  }

  // MARK: - The end

  /// Gives the connection away, for raw bytes of an accessory of this name on this line. Throws when it is gone.
  func upgrade(_ name: String?, _ line: LentLine?) throws(AccessoryError) -> DescriptorTransport {
    if let failure { throw failure }
    failure = AccessoryError(.busy, "the connection to \(label) carries an accessory's bytes")
    return socket.transport(label: name ?? label, line: line)
  }

  /// Closes; calls that wait end with `cancelled`.
  nonisolated func close() {
    io.post { self.assumeIsolated { $0.end(.closed($0.label)) } }
  }

  private func end(_ error: AccessoryError) {
    guard failure == nil else { return }
    failure = error
    socket.close()
    for receiver in receivers { Self.fail(receiver, error) }
    receivers = []
  }
}
