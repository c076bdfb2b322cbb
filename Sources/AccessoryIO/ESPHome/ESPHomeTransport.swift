// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ESPHomeAPI

/// The transport to a serial port of an ESPHome node, by its native API. One connection carries bytes and requests for the line, in the
/// order in which they were made; the node gives the port to one connection at a time.
public actor ESPHomeTransport: Transport, IOWork, IOActor {
  /// The device's name for people.
  public nonisolated let label: String
  /// The bytes that have arrived.
  public nonisolated let input = InputQueue()
  /// The bytes to write.
  public nonisolated let output = OutputQueue(highWater: 16_384)
  /// How long bytes take on the node's line with its current settings.
  public nonisolated var timing: LineTiming { control.timing }
  /// The node's line.
  public nonisolated var line: (any LineControl)? { control }
  /// The address of the node.
  public nonisolated var peer: NetworkAddress? { base.peer }

  package nonisolated let io: IOThread
  private nonisolated let base: any Transport
  private nonisolated let control: ESPHomeLine
  private nonisolated let clock: any TimerClock

  private var conversation: SerialProxyClient
  private var arrived: [UInt8] = []
  private var writing: [UInt8] = []
  private var backlog = FrameBacklog()
  private var isPaused = false
  private var isOver = false
  /// Whether the port's bytes are wanted: not before its settings are made.
  private var isTaking = false
  private var opened: (@Sendable (AccessoryError?) -> Void)?
  private var waiting:
    [(question: SerialProxyClient.Question, answer: @Sendable (Result<UInt32, AccessoryError>) -> Void)] = []
  private var lastHeard: MonotonicTime
  private var timer: TimerToken?

  /// After this time of silence the node is asked whether it is there, and after the longer one the connection ends, as ESPHome's own
  /// client has it.
  package static let (pingPause, silencePatience) = (Duration.seconds(20), Duration.seconds(90))

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A client over `base`, an open connection that the client owns from now on.
  package init(
    _ base: any Transport, _ conversation: SerialProxyClient, label: String, io: IOThread, clock: any TimerClock
  ) {
    (self.base, self.conversation, self.label, self.io, self.clock) = (base, conversation, label, io, clock)
    control = ESPHomeLine(label: label)
    lastHeard = clock.now
    connect()
  }

  private nonisolated func connect() {
    control.attach(self, clock: clock)
    input.onResume { self.io.post { self.enter { $0.resume() } } }
    output.onQueued { self.io.post(self) }
    base.input.onReadable { self.onThread { $0.read() } }
    base.output.onSpace { self.onThread { $0.flush() } }
  }

  private nonisolated func onThread(_ body: @escaping @Sendable (isolated ESPHomeTransport) -> Void) {
    if io.isCurrent { enter(body) } else { io.post { self.enter(body) } }
  }

  // MARK: - Opening

  /// Takes the port. `done` is called once: with nil when it is ours, or with the reason why it isn't.
  func take(_ done: @escaping @Sendable (AccessoryError?) -> Void) {
    guard !isOver else { return done(control.ending ?? .disconnected(label)) }
    opened = done
    watch(until: clock.now + Self.pingPause)
    send()
    read()
  }

  /// The error for a node that took too long to give the port.
  var lateness: AccessoryError { conversation.lateness }

  /// From now on, the port's bytes are for the reader.
  func takeBytes() { isTaking = true }

  private func decided(_ error: AccessoryError?) {
    opened?(error)
    opened = nil
  }

  // MARK: - From the node

  private func resume() {
    isPaused = false
    read()
  }

  private func read() {
    while !isPaused, !isOver {
      switch base.input.take(into: &arrived) {
      case .nothing: return
      case .bytes:
        lastHeard = clock.now
        let events = conversation.take(arrived)
        send()
        for event in events { use(event) }
      case .end(let error): return end(error ?? .disconnected(label))
      }
    }
  }

  private func use(_ event: SerialProxyClient.Event) {
    switch event {
    case .ready(let port):
      control.note(outputs: port.outputs)
      decided(nil)
    case .data(let data):
      if isTaking, !isOver, !input.append(data.span.bytes) { isPaused = true }
    case .reply(let question, let result):
      guard let index = waiting.firstIndex(where: { $0.question == question }) else { return }
      waiting.remove(at: index).answer(result)
    case .left: end(nil)
    case .end(let error): end(error)
    }
  }

  // MARK: - To the node

  /// Asks about the line; `answer` is called once, on the I/O thread, with the reply or an error.
  func ask(
    _ question: SerialProxyClient.Question, _ answer: @escaping @Sendable (Result<UInt32, AccessoryError>) -> Void
  ) {
    guard !isOver else { return answer(.failure(control.ending ?? .closed(label))) }
    flush()  // sends the bytes that were written before the request
    guard conversation.ask(question) else {
      return answer(.failure(AccessoryError(.busy, "too many requests wait for \(label)")))
    }
    waiting.append((question, answer))
    send()
  }

  /// Stops waiting for the reply to the oldest request that equals `question`.
  func stopWaiting(_ question: SerialProxyClient.Question) {
    conversation.forget(question)
    if let index = waiting.firstIndex(where: { $0.question == question }) { waiting.remove(at: index) }
  }

  /// Sends what the conversation has to say.
  private func send() { send(conversation.takeOutput(), count: 0) }

  private func send(_ bytes: [UInt8], count: Int) {
    guard !isOver, !backlog.send(bytes, count: count, of: output, by: base.output, isHeld: false) else { return }
    end(AccessoryError(.badData, "the node of \(label) asks and doesn't read, so the connection was closed"))
  }

  /// The I/O thread calls this when there is something to write.
  package nonisolated func perform() { enter { $0.flush() } }

  private func flush() {
    guard !isOver, backlog.flush(of: output, by: base.output) else { return }
    while backlog.isEmpty, !isOver, output.take(into: &writing) {
      for frame in conversation.frames(of: writing) { send(frame.bytes, count: frame.count) }
    }
  }

  // MARK: - Time

  private func watch(until time: MonotonicTime) {
    timer = clock.schedule(at: time) { [weak self] in
      self?.onThread { $0.checkTime() }
    }
  }

  private func checkTime() {
    guard !isOver else { return }
    // Nothing is heard while nothing is read.
    if isPaused { lastHeard = clock.now }
    let silence = clock.now - lastHeard
    if silence >= Self.silencePatience {
      return end(
        AccessoryError(.disconnected, "the node of \(label) has been silent for 90 s: is it still on the network?"))
    }
    guard silence >= Self.pingPause else { return watch(until: lastHeard + Self.pingPause) }
    watch(until: clock.now + Self.pingPause)
    conversation.ping()
    send()
  }

  // MARK: - Ending

  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    isOver = true
    if let timer { clock.cancel(timer) }
    let failure = error ?? .closed(label)
    control.end(failure)
    decided(failure)
    for (_, answer) in waiting { answer(.failure(failure)) }
    waiting = []
    backlog.removeAll()
    output.close(error)
    input.finish(error)
    base.beginClose()
  }

  /// Ends the transport, and gives the port back. Accepted bytes are still sent, if the node takes them within two seconds.
  public func close() async {
    output.seal()
    input.finish(nil)
    let deadline = clock.now + .seconds(2)
    while output.queuedCount > 0, !isOver, clock.now < deadline { await clock.sleep(for: .milliseconds(10)) }
    if !isOver, conversation.leave() {
      send()
      // The answer comes behind bytes that nobody reads any more.
      isTaking = false
      resume()
      let deadline = clock.now + .seconds(1)
      while !isOver, clock.now < deadline { await clock.sleep(for: .milliseconds(10)) }
    }
    end(nil)
    await base.close()
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { Task { await close() } }

  /// Ends the transport with `disconnected`, after the bytes that have arrived.
  public nonisolated func deviceWasRemoved() { base.deviceWasRemoved() }
}
