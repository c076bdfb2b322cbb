// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The transport to a serial port of another machine by RFC 2217. One connection carries bytes and requests for the
/// line, in the order in which they were made.
public actor RFC2217Transport: Transport, IOWork, IOActor {
  /// The device's name for people.
  public nonisolated let label: String
  /// The bytes that have arrived.
  public nonisolated let input = InputQueue()
  /// The bytes to write.
  public nonisolated let output = OutputQueue(highWater: 16_384)
  /// How long bytes take on the remote line with its current settings.
  public nonisolated var timing: LineTiming { control.timing }
  /// The remote line.
  public nonisolated var line: (any LineControl)? { control }
  /// The address of the other machine.
  public nonisolated var peer: NetworkAddress? { base.peer }

  package nonisolated let io: IOThread
  private nonisolated let base: any Transport
  private nonisolated let control: RFC2217Line
  private nonisolated let clock: any TimerClock

  private var decoder = TelnetDecoder()
  private var options = TelnetOptions(
    ours: [.binary, .suppressGoAhead, .comPort], theirs: [.binary, .echo, .suppressGoAhead, .comPort])
  private var arrived: [UInt8] = []
  private var writing: [UInt8] = []
  private var backlog = FrameBacklog()
  private var isPaused = false
  private var isSuspended = false
  private var isOver = false
  private var agreement: (@Sendable (AccessoryError?) -> Void)?
  private var waiting:
    [(question: COMPortMessage, answer: @Sendable (Result<COMPortMessage, AccessoryError>) -> Void)] = []
  /// The modem inputs that the server reported last.
  private(set) var modemState: COMPortModemState = []

  /// The most requests that may wait for a reply; no normal program makes as many.
  private static let mostQuestions = 256

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A client over `base`, an open connection that the client owns from now on.
  package init(_ base: any Transport, label: String, io: IOThread, clock: any TimerClock) {
    (self.base, self.label, self.io, self.clock) = (base, label, io, clock)
    control = RFC2217Line(label: label)
    connect()
  }

  private nonisolated func connect() {
    control.attach(self, clock: clock)
    input.onResume { self.io.post { self.enter { $0.resume() } } }
    output.onQueued { self.io.post(self) }
    base.input.onReadable { self.onThread { $0.read() } }
    base.output.onSpace { self.onThread { $0.flush() } }
  }

  private nonisolated func onThread(_ body: @escaping @Sendable (isolated RFC2217Transport) -> Void) {
    if io.isCurrent { enter(body) } else { io.post { self.enter(body) } }
  }

  // MARK: - Negotiation

  /// Offers and requests the options that this end needs. `done` is called once: with nil when the server has agreed to
  /// the COM port option, or with the reason why it hasn't.
  func negotiate(_ done: @escaping @Sendable (AccessoryError?) -> Void) {
    guard !isOver else { return done(.disconnected(label)) }
    agreement = done
    send(
      options.offer(.binary) + options.ask(.binary) + options.offer(.suppressGoAhead) + options.ask(.suppressGoAhead)
        + options.offer(.comPort))
    if options.isOurs(.comPort) { agreed(nil) }
  }

  private func agreed(_ error: AccessoryError?) {
    agreement?(error)
    agreement = nil
  }

  // MARK: - From the server

  private func resume() {
    isPaused = false
    read()
  }

  private func read() {
    while !isPaused, !isOver {
      switch base.input.take(into: &arrived) {
      case .nothing: return
      case .bytes: take(arrived)
      case .end(let error): return end(error ?? .disconnected(label))
      }
    }
  }

  private func take(_ bytes: [UInt8]) {
    var events: [TelnetDecoder.Event] = []
    decoder.decode(bytes, into: &events)
    for event in events {
      switch event {
      case .data(let data): if !input.append(data.span.bytes) { isPaused = true }
      case .option(let verb, let option): receivedOption(verb, option)
      case .subnegotiation(Telnet.Option.comPort.rawValue, let payload):
        if let message = COMPortMessage(payload, fromServer: true) { received(message) }
      case .subnegotiation, .command: break
      }
    }
  }

  private func receivedOption(_ verb: Telnet.Verb, _ option: UInt8) {
    send(options.receive(verb, option))
    guard option == Telnet.Option.comPort.rawValue else { return }
    switch verb {
    case .do: agreed(nil)
    case .dont:
      agreed(
        AccessoryError(
          .refused,
          "the server of \(label) refuses to change the port's settings (RFC 2217): to use only its bytes, write tcp: "
            + "instead of rfc2217:"
        ))
    case .will, .wont: break
    }
  }

  private func received(_ message: COMPortMessage) {
    switch message {
    case .modemState(let bits): modemState = COMPortModemState(rawValue: bits).intersection(.states)
    case .lineState(let bits): control.note(COMPortLineState(rawValue: bits))
    case .suspend: isSuspended = true
    case .resume:
      isSuspended = false
      flush()
    default:
      guard let index = waiting.firstIndex(where: { $0.question.isAnswered(by: message) }) else { return }
      waiting.remove(at: index).answer(.success(message))
    }
  }

  // MARK: - To the server

  /// Sends a request; `answer` is called once, on the I/O thread, with the reply or an error.
  func ask(_ question: COMPortMessage, _ answer: @escaping @Sendable (Result<COMPortMessage, AccessoryError>) -> Void) {
    guard !isOver else { return answer(.failure(control.ending ?? .closed(label))) }
    guard waiting.count < Self.mostQuestions else {
      return answer(.failure(AccessoryError(.busy, "too many RFC 2217 requests wait for \(label)")))
    }
    waiting.append((question, answer))
    flush()  // sends the bytes that were written before the request
    send(question.bytes(fromServer: false))
  }

  /// Sends requests whose replies are ignored.
  func tell(_ questions: [COMPortMessage]) {
    flush()  // sends the bytes that were written before the requests
    for question in questions { send(question.bytes(fromServer: false)) }
  }

  /// Stops waiting for the reply to the oldest request that equals `question`.
  func stopWaiting(_ question: COMPortMessage) {
    if let index = waiting.firstIndex(where: { $0.question == question }) { waiting.remove(at: index) }
  }

  private func send(_ bytes: [UInt8], count: Int = 0) {
    guard !isOver, !backlog.send(bytes, count: count, of: output, by: base.output, isHeld: isSuspended) else { return }
    end(
      AccessoryError(
        .badData, "the server of \(label) keeps negotiating options (RFC 2217), so the connection was closed"))
  }

  /// The I/O thread calls this when there is something to write.
  package nonisolated func perform() { enter { $0.flush() } }

  private func flush() {
    guard !isSuspended, !isOver, backlog.flush(of: output, by: base.output) else { return }
    while backlog.isEmpty, !isOver, output.take(into: &writing) {
      send(Telnet.escaped(writing), count: writing.count)
    }
  }

  // MARK: - Ending

  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    isOver = true
    control.end(error ?? .closed(label))
    let failure = error ?? .closed(label)
    agreed(failure)
    for (_, answer) in waiting { answer(.failure(failure)) }
    waiting = []
    backlog.removeAll()
    output.close(error)
    input.finish(error)
    base.beginClose()
  }

  /// Ends the transport. Accepted bytes are still sent, if the other machine takes them within two seconds.
  public func close() async {
    output.seal()
    input.finish(nil)
    let deadline = clock.now + .seconds(2)
    while output.queuedCount > 0, !isOver, clock.now < deadline { await clock.sleep(for: .milliseconds(10)) }
    end(nil)
    await base.close()
  }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { Task { await close() } }

  /// Ends the transport with `disconnected`, after the bytes that have arrived.
  public nonisolated func deviceWasRemoved() { base.deviceWasRemoved() }
}

extension COMPortMessage {
  /// Whether `answer` is a reply to this request: it has the same command and, for SET-CONTROL, which covers several
  /// settings, belongs to the same setting.
  func isAnswered(by answer: COMPortMessage) -> Bool {
    switch (self, answer) {
    case (.baudRate, .baudRate), (.dataSize, .dataSize), (.parity, .parity), (.stopSize, .stopSize), (.purge, .purge),
      (.lineStateMask, .lineStateMask), (.modemStateMask, .modemStateMask), (.signature, .signature):
      true
    case (.control(let a), .control(let b)): Self.group(a) == Self.group(b)
    default: false
    }
  }

  private static func group(_ control: UInt8) -> Int {
    switch control {
    case 0...3: 0
    case 4...6: 1
    case 7...9: 2
    case 10...12: 3
    default: 4
    }
  }
}
