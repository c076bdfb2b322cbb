// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A server's connection to one client. Its calls run one after another, each in a task. Bytes that arrive meanwhile
/// are buffered undecoded, up to a limit, since after an upgrade they aren't messages.
actor ServerConnection: EventHandler, IOActor {
  package nonisolated let io: IOThread
  nonisolated let caller: Caller
  private let dispatcher: Dispatcher
  private let limits: ControlServer.Limits
  private let onUnsent: @Sendable (Int) -> Void
  private let onEnd: @Sendable (ServerConnection) -> Void
  private var socket: MessageSocket
  private var running: Task<Void, Never>?
  /// The client has stopped sending, but may still read.
  private var hasEnded = false
  /// The client neither sends nor reads any more. Only calls without a reply are still performed.
  private var isGone = false
  /// No further message is handled. The connection closes after the queued bytes are sent.
  private var isClosing = false
  /// The server is closing.
  private var isStopping = false
  /// Takes the connection over as soon as the reply is sent.
  private var upgrade: (@Sendable (any Transport) async -> Void)?
  private var isOver = false
  /// When the connection became idle: an increasing number from the server.
  private(set) var quietSince: UInt64
  private let nextNumber: @Sendable () -> UInt64
  /// The number of unread bytes that was last reported to the server.
  private var toldUnsent = 0
  /// The call that waits until the client has read.
  private var reading: CheckedContinuation<Void, Never>?

  /// The I/O thread, which runs this actor.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// All closures are called on the I/O thread: `onUnsent` with the change in the number of unread bytes, `nextNumber`
  /// for a number greater than all before, and `onEnd` once, when the connection and its tasks have ended.
  init(
    _ descriptor: FileDescriptor, caller: Caller, dispatcher: Dispatcher, limits: ControlServer.Limits, io: IOThread,
    nextNumber: @escaping @Sendable () -> UInt64, onUnsent: @escaping @Sendable (Int) -> Void,
    onEnd: @escaping @Sendable (ServerConnection) -> Void
  ) {
    self.nextNumber = nextNumber
    self.onUnsent = onUnsent
    quietSince = nextNumber()
    self.io = io
    self.caller = caller
    self.dispatcher = dispatcher
    self.limits = limits
    self.onEnd = onEnd
    socket = MessageSocket(descriptor, limit: limits.messageBytes, io: io)
  }

  func start() {
    do throws(Errno) { try socket.watch(self) } catch { end() }
  }

  // MARK: - Events

  /// Called on the I/O thread.
  nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.handle(readiness) } }

  private func handle(_ readiness: Readiness) {
    guard !isOver else { return }
    if !readiness.isDisjoint(with: [.hangUp, .error]) {
      leave()
    } else {
      if readiness.contains(.writable) {
        if !socket.flush() { leave() }
        tellUnsent()
      }
      if socket.unsentCount <= limits.messageBytes { stopWaiting() }
      if readiness.contains(.readable), !hasEnded, !isGone { receive() }
    }
    proceed()
  }

  private func receive() {
    switch socket.receive(by: self) {
    case .bytes, .nothing: break
    case .end:
      hasEnded = true
      socket.wantsBytes = false
    case .failure: leave()
    }
  }

  /// The client is gone. A call with a reply is cancelled; one without is still carried out.
  private func leave() {
    guard !isGone else { return }
    isGone = true
    socket.unwatch()
    socket.discard()
    tellUnsent()
    running?.cancel()
    stopWaiting()
  }

  private func tellUnsent() {
    let change = socket.unsentCount - toldUnsent
    guard change != 0 else { return }
    toldUnsent = socket.unsentCount
    onUnsent(change)
  }

  // MARK: - Limits

  /// Whether no call is running, and the connection carries no accessory's bytes.
  var isQuiet: Bool { running == nil && !isOver && upgrade == nil }

  /// The number of bytes that the client hasn't read.
  var unsentCount: Int { isOver ? 0 : socket.unsentCount }

  /// Ends an idle connection in favour of a new client. The client receives an error, if it reads.
  func makeRoom() {
    guard isQuiet else { return }
    let message = "this idle connection was closed to make room for another client: connect again"
    _ = socket.send(ReplyMessage(.limitReached(limits.clients, message)).bytes)
    leave()
    end()
  }

  /// Ends the connection of a client that leaves too much unread.
  func cutOff() {
    guard !isOver else { return }
    leave()
    proceed()
  }

  // MARK: - Calls

  /// Handles the next step: a message, the upgrade or the end.
  private func proceed() {
    guard !isOver else { return }
    defer { if !isOver { socket.updateInterest() } }
    guard running == nil else { return }
    // A server that closes doesn't wait for a client to read.
    if isStopping, socket.unsentCount > 0 { leave() }
    if isClosing || upgrade != nil {
      guard isGone || socket.unsentCount == 0 else { return }
      // The upgrade starts even if the client is gone: the accessory was lent, and `serve` returns it.
      return upgrade == nil ? end() : beginUpgrade()
    }
    // A client that doesn't read its replies gets no further call started.
    guard isGone || socket.unsentCount <= limits.messageBytes else { return }
    while true {
      switch socket.nextMessage() {
      case .message(let message): return begin(message)
      case .tooLong:
        let message = "a message is longer than \(limits.messageBytes) bytes"
        return finish(.close(ReplyMessage(CallError(AccessoryError(.badData, message)))))
      case .nothing:
        if isGone, !hasEnded, case .bytes = socket.receive(by: self) { continue }
        if isGone || hasEnded && socket.unsentCount == 0 { end() }
        return
      }
    }
  }

  private func begin(_ message: [UInt8]) {
    running = Task.detached { [self, dispatcher, caller] in
      let outcome = await dispatcher.perform(message, from: caller) {
        await self.isGone
      } send: { reply, waits throws(CallError) in
        try await self.sendMore(reply.bytes)
        if waits { await self.waitForReading() }
      }
      await finish(outcome)
    }
  }

  private func finish(_ outcome: Dispatcher.Outcome) {
    running = nil
    quietSince = nextNumber()
    switch outcome {
    case .reply(let reply?): send(reply.bytes)
    case .reply(nil): break
    case .upgrade(let reply, let serve):
      upgrade = serve
      socket.wantsBytes = false
      send(reply.bytes)
    case .close(let reply):
      isClosing = true
      socket.wantsBytes = false
      send(reply.bytes)
    }
    proceed()
  }

  private func send(_ bytes: [UInt8]) {
    guard !isGone, !isOver else { return }
    if !socket.send(bytes) { leave() }
    tellUnsent()
  }

  /// Sends a reply that isn't the last. A client that leaves too many bytes unread is disconnected, which bounds the
  /// memory.
  private func sendMore(_ bytes: [UInt8]) throws(CallError) {
    if !isGone, !isOver, socket.unsentCount > limits.unsentBytes { leave() }
    send(bytes)
    guard !isGone, !isOver else {
      proceed()
      throw CallError(AccessoryError(.cancelled, "the client has disconnected"))
    }
    socket.updateInterest()
  }

  /// Waits while the client has more than a message's bytes unread, until the connection ends.
  private func waitForReading() async {
    guard !isGone, !isOver, !isStopping, socket.unsentCount > limits.messageBytes else { return }
    await withCheckedContinuation { reading = $0 }
  }

  private func stopWaiting() {
    reading?.resume()
    reading = nil
  }

  // MARK: - Raw bytes

  private func beginUpgrade() {
    guard let serve = upgrade else { return }
    isOver = true
    let label = caller.peer.process > 0 ? "client \(caller.peer.process)" : "client"
    let transport = socket.transport(label: label)
    running = Task.detached { [self] in
      await withTaskCancellationHandler {
        await serve(transport)
      } onCancel: {
        transport.beginClose()
      }
      await transport.close()
      await finishUpgrade()
    }
    if isStopping { running?.cancel() }
  }

  private func finishUpgrade() {
    running = nil
    onEnd(self)
  }

  // MARK: - The end

  private func end() {
    guard !isOver else { return }
    isOver = true
    socket.discard()
    tellUnsent()
    socket.close()
    onEnd(self)
  }

  /// The server closes: cancels all calls.
  func close() {
    isStopping = true
    isClosing = true
    running?.cancel()
    stopWaiting()
    proceed()
  }
}
