// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A client of an MQTT broker, on the I/O thread. It connects again by itself, and sends what waits then.
///
/// It holds a bounded number of messages: to the broker as in `Outbox`, and from it as in `MQTTInbox`. While its owner doesn't take
/// messages, it doesn't read. End it with `stop`.
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
  /// How many connections in a row were accepted and ended soon.
  var shortConnections = 0
  var outbox = Outbox()
  var retryTimer, deadlineTimer, keepaliveTimer, pingTimer: TimerToken?
  var stopWaiter: CheckedContinuation<Void, Never>?
  var farewell: CInt?

  private var inbox = MQTTInbox()
  private var consumer: CheckedContinuation<MQTTEvent?, Never>?

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A client that isn't connected yet.
  package init(_ settings: MQTTSettings, io: IOThread = .shared) {
    (self.settings, self.io) = (settings, io)
  }

  // MARK: - For the owner

  /// Begins to connect.
  package func start() {
    guard case .idle = state else { return }
    connect()
  }

  /// The next event; nil after `stop`. For one task.
  package func next() async -> MQTTEvent? {
    if let event = takeFirst() { return event }
    if case .stopped = state { return nil }
    precondition(consumer == nil, "one task takes the events")
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: nil) }
        // An event may have come before this task got here.
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
    // Under TLS there may be something that was decrypted already, of which the socket knows nothing.
    if wasFull, !inbox.isFull { handle(.readable) }
    return event
  }

  /// Whether reading has to wait for the owner.
  var isFull: Bool { inbox.isFull }

  private func endConsumer() {
    consumer?.resume(returning: nil)
    consumer = nil
  }

  /// Sends a message when there is a connection. Returns false when too many wait, and the message is dropped.
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

  /// How many messages wait to be sent.
  package var waiting: Int { outbox.count }

  /// Subscribes, for this connection only. Messages come with at most this quality of service.
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

  /// Sends `last`, waits until the broker has it, and leaves; at most for `limit`. Without a connection it ends at once. A broker that
  /// takes longer loses the connection, and publishes the will.
  package func stop(after last: MQTTMessage? = nil, within limit: Duration = .milliseconds(800)) async {
    cancelTimers()
    await withCheckedContinuation { continuation in
      // All of it is in here: until this task waits, the I/O thread may do something else, such as read the acknowledgement.
      guard case .open(let open) = state, open.isAccepted else {
        end()
        return continuation.resume()
      }
      stopWaiter = continuation
      deadlineTimer = schedule(in: limit) { $0.end() }
      // It doesn't wait behind others: it is the last word.
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
