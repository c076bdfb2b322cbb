// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The transport over a serial port of another machine, by RFC 2217: bytes and requests to the line on one connection, in the
/// order in which they are given.
public actor RFC2217Transport: Transport, IOWork, IOActor {
  /// The device's name for people.
  public nonisolated let label: String
  /// What has arrived.
  public nonisolated let input = InputQueue()
  /// What is to be written.
  public nonisolated let output = OutputQueue(highWater: 16_384)
  /// How long bytes take on the far line, by its settings now.
  public nonisolated var timing: LineTiming { control.timing }
  /// The far line.
  public nonisolated var line: (any LineControl)? { control }
  /// The other machine.
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
  /// Bytes, and what they are of the output, that the connection has no room for now.
  private var pending: [(bytes: [UInt8], count: Int)] = []
  private var pendingCount = 0
  private var isPaused = false
  private var isSuspended = false
  private var isOver = false
  private var agreement: (@Sendable (AccessoryError?) -> Void)?
  private var waiting:
    [(question: COMPortMessage, answer: @Sendable (Result<COMPortMessage, AccessoryError>) -> Void)] = []
  /// The inputs as the server told them last.
  private(set) var modemState: COMPortModemState = []

  /// Answers that are waited for at a time: more requests than any program makes.
  private static let mostQuestions = 256
  /// Bytes that may wait for the connection: written ones with their escapes, and questions, are far fewer. A server that
  /// negotiates without end and reads no answer would fill the memory.
  private static let mostPending = 131_072

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// A client over a connection, which belongs to it.
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

  // MARK: - Agreeing

  /// Says what this end wants; `done` is called once, when the server has agreed to speak of the port, or with why not.
  func agree(_ done: @escaping @Sendable (AccessoryError?) -> Void) {
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
      case .option(let verb, let option): negotiate(verb, option)
      case .subnegotiation(Telnet.Option.comPort.rawValue, let payload):
        if let message = COMPortMessage(payload, fromServer: true) { heard(message) }
      case .subnegotiation, .command: break
      }
    }
  }

  private func negotiate(_ verb: Telnet.Verb, _ option: UInt8) {
    send(options.receive(verb, option))
    guard option == Telnet.Option.comPort.rawValue else { return }
    switch verb {
    case .do: agreed(nil)
    case .dont:
      agreed(
        AccessoryError(.refused, "\(label) doesn't let the port be set (RFC 2217): tcp: opens it for its bytes alone"))
    case .will, .wont: break
    }
  }

  private func heard(_ message: COMPortMessage) {
    switch message {
    case .modemState(let bits): modemState = COMPortModemState(rawValue: bits).intersection(.states)
    case .lineState: break
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

  /// Asks; `answer` is called once, on the I/O thread.
  func ask(_ question: COMPortMessage, _ answer: @escaping @Sendable (Result<COMPortMessage, AccessoryError>) -> Void) {
    guard !isOver else { return answer(.failure(control.ending ?? .closed(label))) }
    guard waiting.count < Self.mostQuestions else {
      return answer(.failure(AccessoryError(.busy, "too much is asked of \(label) at once")))
    }
    waiting.append((question, answer))
    flush()  // what was written before goes before
    send(question.bytes(fromServer: false))
  }

  /// Nobody waits for the answer to the oldest question like this any more.
  func forget(_ question: COMPortMessage) {
    if let index = waiting.firstIndex(where: { $0.question == question }) { waiting.remove(at: index) }
  }

  private func send(_ bytes: [UInt8], count: Int = 0) {
    guard !bytes.isEmpty, !isOver else { return }
    if pending.isEmpty, !isSuspended, base.output.offer(bytes) != .full { return output.wrote(count) }
    guard pendingCount + bytes.count <= Self.mostPending else {
      return end(AccessoryError(.badData, "\(label) negotiates without end (RFC 2217), so the connection is closed"))
    }
    pending.append((bytes, count))
    pendingCount += bytes.count
  }

  /// Called by the loop when there is something to write.
  package nonisolated func perform() { enter { $0.flush() } }

  private func flush() {
    while let (bytes, count) = pending.first, !isSuspended, !isOver {
      if base.output.offer(bytes) == .full { return }
      pending.removeFirst()
      pendingCount -= bytes.count
      output.wrote(count)
    }
    while pending.isEmpty, !isOver, output.take(into: &writing) {
      send(Telnet.escaped(writing), count: writing.count)
    }
  }

  // MARK: - The end

  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    isOver = true
    control.end(error ?? .closed(label))
    let failure = error ?? .closed(label)
    agreed(failure)
    for (_, answer) in waiting { answer(.failure(failure)) }
    waiting = []
    pending = []
    output.close(error)
    input.finish(error)
    base.beginClose()
  }

  /// Stops. What was accepted for writing still goes out, if the other machine takes it within a few seconds.
  public func close() async {
    output.seal()
    input.finish(nil)
    let deadline = clock.now + .seconds(2)
    while output.queuedCount > 0, !isOver, clock.now < deadline { await clock.sleep(for: .milliseconds(10)) }
    end(nil)
    await base.close()
  }

  /// As `close()`, without waiting.
  public nonisolated func beginClose() { Task { await close() } }

  /// Ends with `disconnected`.
  public nonisolated func deviceWasRemoved() { base.deviceWasRemoved() }
}

extension COMPortMessage {
  /// Whether an answer of a server is one to this question: of the same command, and, of the many that SET-CONTROL has, of the
  /// same group.
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
