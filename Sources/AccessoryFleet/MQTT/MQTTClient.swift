// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A client of an MQTT broker, on the I/O thread. It reconnects automatically and then sends the waiting messages.
///
/// It holds a limited number of messages: see `Outbox` for those to the broker and `MQTTInbox` for those from it. It stops reading
/// while its owner doesn't take messages. Call `stop` to end it.
package actor MQTTClient: IOActor, EventHandler {
  package nonisolated let io: IOThread
  let settings: MQTTSettings
  let setup = SetupQueue(label: "mqtt")

  enum State {
    case idle
    case connecting
    case open(OpenConnection)
    case stopped
  }

  var state = State.idle
  var attempt = 0
  var backoff = Backoff()
  /// The number of consecutive connections that were accepted and ended soon.
  var shortConnections = 0
  var outbox = Outbox()
  var retryTimer, deadlineTimer, keepaliveTimer, pingTimer: TimerToken?
  var stopWaiter: CheckedContinuation<Void, Never>?
  var farewell: CInt?

  private var inbox = MQTTInbox()
  private var consumer: CheckedContinuation<MQTTEvent?, Never>?

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Creates a client. It connects after `start`.
  package init(_ settings: MQTTSettings, io: IOThread = .shared) {
    (self.settings, self.io) = (settings, io)
  }

  // MARK: - For the owner

  /// Starts connecting.
  package func start() {
    guard case .idle = state else { return }
    connect()
  }

  /// The next event; nil after `stop`. Only one task may call this at a time.
  package func next() async -> MQTTEvent? {
    if let event = takeFirst() { return event }
    if case .stopped = state { return nil }
    precondition(consumer == nil, "one task takes the events")
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: nil) }
        // An event may have arrived before this code runs.
        if let event = takeFirst() { return continuation.resume(returning: event) }
        if case .stopped = state { return continuation.resume(returning: nil) }
        consumer = continuation
      }
    } onCancel: {
      io.post { [weak self] in self?.enter { $0.endConsumer() } }
    }
  }

  private func takeFirst() -> MQTTEvent? {
    let wasFull = inbox.isFull
    guard let event = inbox.next() else { return nil }
    // More may have been read from the socket, which therefore doesn't announce it.
    if wasFull, !inbox.isFull { handle(.readable) }
    return event
  }

  /// Whether reading must wait until the owner takes events.
  var isFull: Bool { inbox.isFull }

  private func endConsumer() {
    consumer?.resume(returning: nil)
    consumer = nil
  }

  /// Queues a message; it is sent when there is a connection. Returns false and drops the message if the queue is full.
  @discardableResult
  package func publish(_ message: MQTTMessage) -> Bool {
    guard case .open(let open) = state, open.isAccepted, !open.isLeaving else {
      if case .stopped = state { return false }
      return outbox.add(message, keepsLatest: true)
    }
    let isKept = outbox.add(message, keepsLatest: false)
    advance(open)
    return isKept
  }

  /// The number of messages waiting to be sent.
  package var waiting: Int { outbox.count }

  /// Subscribes for this connection only. `qos` is the highest quality of service of the messages that arrive.
  package func subscribe(_ filter: String, qos: MQTTMessage.QoS = .atLeastOnce) {
    guard case .open(let open) = state, open.isAccepted else { return }
    switch open.connection.subscribe(filter, qos: qos) {
    case .success(let number):
      open.subscriptions[number] = filter
      open.lastOutput = io.now
    case .failure(let error): report(.refused(topic: filter, error))
    }
    advance(open)
  }

  /// Ends a subscription of this connection.
  package func unsubscribe(_ filter: String) {
    guard case .open(let open) = state, open.isAccepted else { return }
    open.connection.unsubscribe(filter)
    open.lastOutput = io.now
    advance(open)
  }

  /// Sends `last`, waits until the broker has received it, and disconnects, all within `limit`. Without a connection it returns at
  /// once. If the broker takes longer, the client closes the connection and the broker publishes the will.
  package func stop(after last: MQTTMessage? = nil, within limit: Duration = .milliseconds(800)) async {
    cancelTimers()
    await withCheckedContinuation { continuation in
      // Do all of this before suspending: during a suspension the I/O thread may do other work, such as reading the acknowledgement.
      guard case .open(let open) = state, open.isAccepted else {
        end()
        return continuation.resume()
      }
      stopWaiter = continuation
      deadlineTimer = schedule(in: limit) { $0.end() }
      // `last` doesn't wait behind older messages.
      if last != nil { outbox = Outbox() }
      if let last, case .success(let number) = open.connection.publish(last) {
        farewell = number
        advance(open)
      } else {
        leave(open)
      }
    }
  }

  func leave(_ open: OpenConnection) {
    farewell = nil
    open.isLeaving = true
    open.connection.disconnect()
    advance(open)
  }

  func end() {
    cancelTimers()
    if case .open(let open) = state { release(open) }
    state = .stopped
    stopWaiter?.resume()
    stopWaiter = nil
    if inbox.isEmpty { endConsumer() }
  }

  // MARK: - Events for the owner

  func report(_ event: MQTTEvent) {
    if let consumer, inbox.isEmpty {
      self.consumer = nil
      consumer.resume(returning: event)
      return
    }
    inbox.add(event)
  }
}
