// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A client's end of a connection, on the I/O thread. Replies come in the order of the calls; the reply to a cancelled
/// call is dropped.
actor ClientConnection: EventHandler, IOActor {
  typealias ReplySlot = OneShot<Result<[UInt8], AccessoryError>>

  /// The receiver of the next message.
  private enum Receiver {
    case one(ReplySlot)
    /// Like `one`. The bytes after this reply may not be messages, so they aren't parsed until `upgrade` or `resume`.
    case upgrade(ReplySlot)
    /// The queue of all further messages.
    case stream(MessageQueue)
  }

  package nonisolated let io: IOThread
  private nonisolated let label: String
  private var socket: MessageSocket
  private var receivers: [Receiver] = []
  /// Whether the reply to an upgrade was delivered, and further bytes must not be parsed.
  private var isHeld = false
  private var isPaused = false
  /// Whether an unexpected message is being parsed on another queue. The connection ends after that.
  private var isEnding = false
  /// Why the connection has ended; nil while it is open.
  private var failure: AccessoryError?

  /// The greatest length of a reply, in bytes.
  static let replyLimit = 16 << 20
  /// The limit of calls without a reply, including cancelled ones.
  private static let callLimit = 1_024

  /// The I/O thread, which runs this actor.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A client's end of the connected socket `descriptor`.
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

  /// Sends a call. `slot` receives the reply.
  nonisolated func call(_ message: [UInt8], upgrade: Bool, _ slot: ReplySlot) {
    io.post { self.assumeIsolated { $0.send(message, upgrade ? .upgrade(slot) : .one(slot)) } }
  }

  /// Sends a call. `queue` receives the replies and all messages after them.
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
    // A failure is ignored here: if the peer is gone, it may have sent the reason, which is still to be read.
    _ = socket.send(message)
    socket.updateInterest()
  }

  private var isTaken: AccessoryError {
    AccessoryError(.busy, "the connection to \(label) is in use by another call")
  }

  private static func fail(_ receiver: Receiver, _ error: AccessoryError) {
    switch receiver {
    case .one(let slot), .upgrade(let slot): slot.finish(.failure(error))
    case .stream(let queue): queue.finish(error)
    }
  }

  // MARK: - Events

  /// Called on the I/O thread.
  nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.handle(readiness) } }

  private func handle(_ readiness: Readiness) {
    guard failure == nil, !isEnding else { return }
    let isGone = !readiness.isDisjoint(with: [.hangUp, .error])
    if readiness.contains(.writable) { _ = socket.flush() }
    if readiness.contains(.readable) || isGone {
      // The connection has ended only when everything that the peer sent was read, which may wait for a slow consumer.
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
    // A hang-up would be reported again and again. The rest is read when the consumer continues.
    if isGone && isPaused { socket.unwatch() }
    socket.updateInterest()
  }

  private func finishReading(_ error: AccessoryError) {
    isPaused = false
    deliver(toTheEnd: true)
    if !isEnding { end(error) }
  }

  /// Delivers the complete messages.
  private func deliver(toTheEnd: Bool = false) {
    while failure == nil, !isEnding, !isHeld, !isPaused || toTheEnd {
      switch socket.nextMessage() {
      case .nothing: return
      case .tooLong:
        return end(AccessoryError(.badData, "a reply of \(label) is longer than \(Self.replyLimit) bytes"))
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
    return AccessoryError(.badData, "\(label) sent a reply without a request")
  }

  /// The stream's consumer has caught up.
  nonisolated func resume() {
    io.post { self.assumeIsolated { $0.continueDelivery() } }
  }

  private func continueDelivery() {
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

  /// Hands the connection over as a transport for the raw bytes of the accessory `name`, with the line control `line`.
  /// Throws the error of a connection that has ended.
  func upgrade(_ name: String?, _ line: LentLine?) throws(AccessoryError) -> DescriptorTransport {
    if let failure { throw failure }
    failure = AccessoryError(.busy, "the connection to \(label) carries an accessory's bytes")
    return socket.transport(label: name ?? label, line: line)
  }

  /// Closes the connection; pending calls end with `cancelled`.
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
