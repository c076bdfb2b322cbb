// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// What a client tells its owner.
package enum MQTTEvent: Sendable {
  /// The broker has accepted the client. Subscriptions begin anew with each connection.
  case connected(MQTTVersion)
  /// The connection is over, or couldn't be made; the next try is after `retry`.
  case disconnected(AccessoryError, retry: Duration)
  /// A message of a topic that the client has subscribed to.
  case message(MQTTMessage)
  /// The broker has accepted a subscription, and has sent what it had kept for it, as far as it does that in order.
  case subscribed(String)
  /// The broker has refused a message or a subscription.
  case refused(topic: String, AccessoryError)
}

/// A client of an MQTT broker, on the I/O thread. It connects again by itself, and sends what waits then.
///
/// It holds a bounded number of messages, to the broker as `Outbox` says, and from it at most `inboxLimit` bytes: while its
/// owner doesn't take them, it doesn't read. End it with `stop`.
package actor MQTTClient: IOActor, EventHandler {
  package nonisolated let io: IOThread
  private let settings: MQTTSettings
  private let setup = SetupQueue(label: "mqtt")

  private enum State {
    case idle
    case connecting
    case open(OpenConnection)
    case stopped
  }

  /// A connection that is on the I/O thread.
  private final class OpenConnection {
    let connection: MosquittoConnection
    /// A duplicate of the library's descriptor: the library closes its own whenever it likes, and a number that was closed may
    /// belong to another file a moment later.
    let descriptor: FileDescriptor
    var token: EventToken?
    var interest: Interest = []
    let start: MonotonicTime
    var isAccepted = false
    /// Whether DISCONNECT was sent.
    var isLeaving = false
    var sent: [CInt: MQTTMessage] = [:]
    var subscriptions: [CInt: String] = [:]
    var keepalive: Duration
    var lastInput: MonotonicTime
    var lastOutput: MonotonicTime
    /// The bytes that had been received when the last packet was complete.
    var receivedAtEvent: UInt64 = 0

    init(_ connection: MosquittoConnection, _ descriptor: FileDescriptor, keepalive: Duration, now: MonotonicTime) {
      (self.connection, self.descriptor, self.keepalive) = (connection, descriptor, keepalive)
      (start, lastInput, lastOutput) = (now, now, now)
    }
  }

  private var state = State.idle
  private var attempt = 0
  private var version: MQTTVersion
  private var versionFailures = 0
  private var backoff = Backoff()
  private var outbox = Outbox()
  private var retryTimer, deadlineTimer, keepaliveTimer, pingTimer: TimerToken?
  private var stopWaiter: CheckedContinuation<Void, Never>?
  private var farewell: CInt?

  private var inbox: [MQTTEvent] = []
  private var inboxSize = 0
  private var consumer: CheckedContinuation<MQTTEvent?, Never>?

  /// The most bytes of messages that wait for the owner, before the client stops reading.
  package static let inboxLimit = 1 << 20
  /// How long the broker has to answer, from the TCP connection to CONNACK; after some tries longer, for slow lines.
  private static let answerTimes = (quick: Duration.seconds(5), slow: Duration.seconds(20), quickTries: 6)
  /// How long a broker has to answer a PINGREQ.
  private static let pingTime = Duration.seconds(10)
  /// After how many milliseconds without an acknowledgement the kernel gives a connection up. Its own limit is 15 minutes.
  private static let lostAfter: CInt = 10_000
  /// The most calls of the library's read for one event.
  private static let readLimit = 64

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A client that isn't connected yet.
  package init(_ settings: MQTTSettings, io: IOThread = .shared) {
    (self.settings, self.io) = (settings, io)
    version = settings.version ?? .v5
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
    guard !inbox.isEmpty else { return nil }
    let event = inbox.removeFirst()
    let wasFull = isFull
    inboxSize -= event.size
    // Under TLS there may be something that was decrypted already, of which the socket knows nothing.
    if wasFull, !isFull { handle(.readable) }
    return event
  }

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

  /// Subscribes, for this connection only. Messages come with at most this quality of service.
  package func subscribe(_ filter: String, qos: MQTTMessage.QoS = .atLeastOnce) {
    guard case .open(let open) = state, open.isAccepted else { return }
    switch open.connection.subscribe(filter, qos: qos) {
    case .success(let number):
      open.subscriptions[number] = filter
      open.lastOutput = io.now
    case .failure(let error): tell(.refused(topic: filter, error))
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

  /// Sends `last`, waits until the broker has it, and leaves; at most for `limit`. Without a connection it ends at once.
  package func stop(after last: MQTTMessage? = nil, within limit: Duration = .seconds(3)) async {
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

  private func leave(_ open: OpenConnection) {
    farewell = nil
    open.isLeaving = true
    open.connection.disconnect()
    advance(open)
  }

  private func end() {
    cancelTimers()
    if case .open(let open) = state { release(open) }
    state = .stopped
    stopWaiter?.resume()
    stopWaiter = nil
    if inbox.isEmpty { endConsumer() }
  }

  // MARK: - Events for the owner

  private func tell(_ event: MQTTEvent) {
    if let consumer, inbox.isEmpty {
      self.consumer = nil
      consumer.resume(returning: event)
      return
    }
    // Without a message it has no size; of those there are few for each connection, and the last of them is enough.
    if case .disconnected = event { inbox.removeAll { $0.isAboutConnection } }
    inbox.append(event)
    inboxSize += event.size
  }

  // MARK: - Connecting

  private func connect() {
    state = .connecting
    attempt += 1
    let (number, settings, version) = (attempt, settings, version)
    let time = backoff.count < Self.answerTimes.quickTries ? Self.answerTimes.quick : Self.answerTimes.slow
    let broker = settings.broker
    deadlineTimer = schedule(in: time) {
      $0.failed(AccessoryError(.timedOut, "the broker \(broker) did not answer in time"))
    }
    setup.post { [weak self] in
      let result = Result { () throws(AccessoryError) in
        HandedOver(connection: try MosquittoConnection(settings, version: version))
      }
      guard let self else { return }
      self.io.post { self.enter { $0.opened(result, attempt: number) } }
    }
  }

  private func opened(_ result: Result<HandedOver, AccessoryError>, attempt number: Int) {
    guard case .connecting = state, number == attempt else {
      // Given up meanwhile.
      if case .success(let late) = result { late.connection.destroy() }
      return
    }
    switch result {
    case .failure(let error): failed(error)
    case .success(let handed): begin(handed.connection)
    }
  }

  private func begin(_ connection: MosquittoConnection) {
    guard let socket = connection.socket else {
      return failed(AccessoryError(.disconnected, "the connection to \(settings.broker) has failed"))
    }
    let duplicate = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    guard duplicate >= 0 else {
      let number = Errno(rawValue: errno)
      connection.destroy()
      return failed(AccessoryError(errno: number, "watching the connection to \(settings.broker)"))
    }
    var time = Self.lostAfter
    setsockopt(duplicate, CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, &time, socklen_t(MemoryLayout<CInt>.size))
    let open = OpenConnection(
      connection, FileDescriptor(rawValue: duplicate), keepalive: .seconds(settings.keepalive), now: io.now)
    do throws(Errno) {
      open.interest = [.read, .write]
      open.token = try io.watch(open.descriptor, for: open.interest, handler: self)
    } catch {
      connection.destroy()
      Socket.close(open.descriptor)
      return failed(AccessoryError(errno: error, "watching the connection to \(settings.broker)"))
    }
    state = .open(open)
  }

  /// A try has failed, or a connection is over.
  private func failed(_ error: AccessoryError) {
    var pauseFrom = io.now
    if case .open(let open) = state {
      outbox.putBack(open.sent.sorted { $0.key < $1.key }.map(\.value))
      if open.isAccepted {
        backoff.connectionEnded(start: open.start, now: io.now)
      } else {
        pauseFrom = open.start
      }
      release(open)
    }
    cancelTimers()
    guard stopWaiter == nil else { return end() }
    state = .idle
    // What a try has lasted is a part of the pause.
    let pause = max(.milliseconds(500), backoff.next(now: io.now) - (io.now - pauseFrom))
    tell(.disconnected(error, retry: pause))
    retryTimer = schedule(in: pause) { $0.start() }
  }

  private func release(_ open: OpenConnection) {
    if let token = open.token { io.unwatch(open.descriptor, token) }
    open.token = nil
    open.connection.destroy()
    Socket.close(open.descriptor)
  }

  private func schedule(in time: Duration, _ action: @escaping @Sendable (isolated MQTTClient) -> Void) -> TimerToken {
    io.schedule(at: io.now + time) { [weak self] in self?.enter { action($0) } }
  }

  private func cancelTimers() {
    for timer in [retryTimer, deadlineTimer, keepaliveTimer, pingTimer] { if let timer { io.cancel(timer) } }
    (retryTimer, deadlineTimer, keepaliveTimer, pingTimer) = (nil, nil, nil, nil)
  }

  // MARK: - The loop

  /// The I/O thread calls this when the socket is ready.
  package nonisolated func ready(_ readiness: Readiness) { enter(readiness) { $0.handle($1) } }

  private func handle(_ readiness: Readiness) {
    guard case .open(let open) = state else { return }
    var (result, mayHaveMore): (CInt, Bool) = (0, false)
    if !readiness.isDisjoint(with: [.readable, .hangUp, .error]) || (settings.broker.usesTLS && !open.isAccepted) {
      open.lastInput = io.now
      cancelPing()
      for _ in 0..<Self.readLimit {
        (result, mayHaveMore) = open.connection.read()
        guard take(open), result == 0 else { break }
        if !mayHaveMore || isFull { break }
      }
      guard isCurrent(open) else { return }
      // A connection that was refused while TLS began has no error left, and the library doesn't notice.
      let isOver = readiness.contains(.hangUp) && (!mayHaveMore || !open.isAccepted)
      if result == 0, isOver || readiness.contains(.error) { return lostBySocket(open) }
      if result == 0, isTooLong(open) {
        return lost(
          open,
          AccessoryError(
            .badData, "\(settings.broker) sends a packet of more than \(MosquittoConnection.packetLimit) bytes"))
      }
    }
    if result == 0, readiness.contains(.writable) {
      result = open.connection.write()
      open.lastOutput = io.now
    }
    finish(open, result)
  }

  /// Does what the events say, and ends the connection where it is over.
  private func finish(_ open: OpenConnection, _ result: CInt) {
    guard take(open) else { return }
    guard result == 0, open.connection.socket != nil else {
      return lost(
        open,
        open.connection.failure(result == 0 ? MQTTLibrary.connectionLost : result, errno: errno, "\(settings.broker)"))
    }
    advance(open)
  }

  private func isCurrent(_ open: OpenConnection) -> Bool {
    if case .open(let current) = state { current === open } else { false }
  }

  private var isFull: Bool { inboxSize >= Self.inboxLimit }

  /// Sends what waits, as far as there is room, and watches for what comes next.
  private func advance(_ open: OpenConnection) {
    var result: CInt = 0
    while open.isAccepted, !open.isLeaving, farewell == nil, open.sent.count < MosquittoConnection.inFlightLimit,
      !open.connection.wantsToWrite, let message = outbox.next()
    {
      switch open.connection.publish(message) {
      case .success(let number):
        if message.qos == .atLeastOnce { open.sent[number] = message }
        open.lastOutput = io.now
      case .failure(let error) where error.kind == .disconnected:
        outbox.putBack([message])
        result = MQTTLibrary.connectionLost
      case .failure(let error): tell(.refused(topic: message.topic, error))
      }
      if result != 0 { break }
    }
    guard take(open) else { return }
    if result != 0 || open.connection.socket == nil {
      return lost(open, open.connection.failure(MQTTLibrary.connectionLost, "\(settings.broker)"))
    }
    if open.isLeaving, !open.connection.wantsToWrite { return end() }
    updateInterest(open)
    scheduleKeepalive(open)
  }

  private func updateInterest(_ open: OpenConnection) {
    guard let token = open.token else { return }
    var interest: Interest = isFull ? [] : .read
    if open.connection.wantsToWrite { interest.insert(.write) }
    guard interest != open.interest else { return }
    open.interest = interest
    try? io.change(open.descriptor, token, to: interest)
  }

  /// A connection that was there is over, or was never accepted.
  private func lost(_ open: OpenConnection, _ error: AccessoryError) {
    guard isCurrent(open) else { return }
    if open.isLeaving { return end() }
    if !open.isAccepted, settings.version == nil {
      // Old brokers end the connection of a version that they don't know, instead of refusing it.
      versionFailures += 1
      if versionFailures % 2 == 0 { version = version == .v5 ? .v311 : .v5 }
    }
    failed(error)
  }

  private func lostBySocket(_ open: OpenConnection) {
    var (number, size) = (CInt(0), socklen_t(MemoryLayout<CInt>.size))
    getsockopt(open.descriptor.rawValue, SOL_SOCKET, SO_ERROR, &number, &size)
    lost(open, AccessoryError(errno: Errno(rawValue: number == 0 ? ECONNRESET : number), "\(settings.broker)"))
  }

  /// Whether the broker has sent more than a packet may have, without a packet having come of it: the library would take
  /// 256 MiB.
  private func isTooLong(_ open: OpenConnection) -> Bool {
    guard let received = ReceivedBytes.count(open.descriptor) else { return false }
    return received &- open.receivedAtEvent > MosquittoConnection.packetLimit
  }

  // MARK: - What the library tells

  /// Handles the library's events. Returns false when the connection is over.
  private func take(_ open: OpenConnection) -> Bool {
    let events = open.connection.takeEvents()
    guard !events.isEmpty else { return isCurrent(open) }
    if let received = ReceivedBytes.count(open.descriptor) { open.receivedAtEvent = received }
    for event in events {
      handle(event, of: open)
      guard isCurrent(open) else { return false }
    }
    return true
  }

  private func handle(_ event: MosquittoConnection.Event, of open: OpenConnection) {
    switch event {
    case .connected(let code, let keepalive): answered(open, code, keepalive)
    case .disconnected(let code):
      if code == 142 {
        return lost(
          open,
          AccessoryError(
            .busy,
            "another client with the identifier \(settings.clientID) has connected to \(settings.broker): does "
              + "bridge-fleet publish run twice for this gateway, or do two machines have one /etc/machine-id?"))
      }
      lost(open, open.connection.failure(code == 0 ? MQTTLibrary.connectionLost : code, "\(settings.broker)"))
    case .published(let number, let reason):
      let message = open.sent.removeValue(forKey: number)
      if reason >= 128, let message {
        tell(.refused(topic: message.topic, MQTTLibrary.refusal(reason, "publishing on \(message.topic)")))
      }
      if number == farewell { leave(open) }
    case .subscribed(let number, let answer):
      guard let filter = open.subscriptions.removeValue(forKey: number) else { return }
      tell(
        answer >= 128
          ? .refused(topic: filter, MQTTLibrary.refusal(answer, "subscribing to \(filter)")) : .subscribed(filter))
    case .received(let message):
      // It has answered a message with QoS 1.
      if message.qos == .atLeastOnce { open.lastOutput = io.now }
      tell(.message(message))
    case .droppedMessage: break
    case .sentPing:
      open.lastOutput = io.now
      pingTimer =
        pingTimer
        ?? schedule(in: Self.pingTime) { client in
          client.pingTimer = nil
          guard case .open(let open) = client.state else { return }
          client.lost(open, AccessoryError(.disconnected, "\(client.settings.broker) no longer answers"))
        }
    }
  }

  private func answered(_ open: OpenConnection, _ code: CInt, _ keepalive: Int?) {
    if let deadlineTimer { io.cancel(deadlineTimer) }
    deadlineTimer = nil
    guard code == 0 else {
      let isOfVersion = code == 1 || code == 132
      if isOfVersion, settings.version == nil, version == .v5 {
        version = .v311
        // That isn't a failure: the next try is at once.
        release(open)
        cancelTimers()
        return connect()
      }
      return failed(MQTTLibrary.refusal(ofConnection: code, version, settings.broker))
    }
    versionFailures = 0
    open.isAccepted = true
    if let keepalive { open.keepalive = .seconds(keepalive) }
    tell(.connected(version))
  }

  // MARK: - Keepalive

  /// The library compares whole seconds, so one more is waited.
  private func scheduleKeepalive(_ open: OpenConnection) {
    guard open.isAccepted, open.keepalive > .zero, keepaliveTimer == nil else { return }
    let due = min(open.lastInput, open.lastOutput) + open.keepalive + .seconds(1)
    keepaliveTimer = io.schedule(at: due) { [weak self] in
      self?.enter { client in
        client.keepaliveTimer = nil
        client.keepaliveDue()
      }
    }
  }

  private func keepaliveDue() {
    guard case .open(let open) = state else { return }
    let due = min(open.lastInput, open.lastOutput) + open.keepalive + .seconds(1)
    // There was a message meanwhile.
    guard io.now >= due else { return scheduleKeepalive(open) }
    let result = open.connection.checkKeepalive()
    (open.lastInput, open.lastOutput) = (io.now, io.now)
    finish(open, result)
  }

  private func cancelPing() {
    if let pingTimer { io.cancel(pingTimer) }
    pingTimer = nil
  }
}

/// A connection on its way from the setup queue to the I/O thread.
private struct HandedOver: @unchecked Sendable {
  // Sendable is sound: the setup queue has no reference to the connection after it has posted this value, and the I/O thread
  // uses it from then on.
  let connection: MosquittoConnection
}

extension MQTTEvent {
  /// The bytes that the event holds.
  fileprivate var size: Int {
    if case .message(let message) = self { message.topic.utf8.count + message.payload.count + 64 } else { 0 }
  }

  fileprivate var isAboutConnection: Bool {
    switch self {
    case .connected, .disconnected: true
    case .message, .subscribed, .refused: false
    }
  }
}
