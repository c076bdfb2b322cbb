// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Synchronization

/// The serial line of another machine, controlled by RFC 2217 requests.
final class RFC2217Line: LineControl {
  private let label: String
  private let transport = Locked<(transport: RFC2217Transport, clock: any TimerClock)?>(nil)
  private struct State: Sendable {
    var status = LineStatus(baudRate: 9_600)
    var activity = LineActivity()
    /// Whether the server didn't reply to a request about DTR and RTS. From then on, their state isn't requested, and
    /// changes of them don't wait for a reply.
    var isSilentAboutOutputs = false
    /// Whether the server was asked to report errors and breaks.
    var isTold = false
    var ending: AccessoryError?
  }

  private let state = Locked(State())

  /// The timeout of a reply. It allows for a slow adapter at the server.
  private static let replyTimeout = Duration.seconds(5)
  /// The timeout of a reply about DTR and RTS. It is short, because pyserial's server never reports their state, and
  /// esptool's server doesn't confirm changes that it handles as a reset.
  private static let outputReplyTimeout = Duration.seconds(1)
  private static let parities: [LineParity] = [.none, .odd, .even, .mark, .space]
  private static let flows: [LineFlowControl] = [.none, .software, .hardware]

  init(label: String) { self.label = label }

  func attach(_ transport: RFC2217Transport, clock: any TimerClock) {
    self.transport.withLock { $0 = (transport, clock) }
  }

  /// Makes all further requests fail with `error`.
  func end(_ error: AccessoryError) {
    state.withLock { $0.ending = $0.ending ?? error }
    transport.withLock { $0 = nil }
  }

  var ending: AccessoryError? { state.withLock { $0.ending } }

  var timing: LineTiming { state.withLock { $0.status.timing } }

  func status() async throws(AccessoryError) -> LineStatus {
    let questions: [COMPortMessage] = [
      .baudRate(0), .dataSize(0), .parity(0), .stopSize(0), .control(0),
    ]
    for answer in try await ask(questions) { note(answer) }
    try await askForOutputs()
    return await current()
  }

  func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus {
    try changes.check(label)
    var questions: [COMPortMessage] = []
    if let rate = changes.baudRate { questions.append(.baudRate(rate)) }
    if let bits = changes.dataBits { questions.append(.dataSize(UInt8(clamping: bits))) }
    if let parity = changes.parity {
      questions.append(.parity(UInt8(clamping: (Self.parities.firstIndex(of: parity) ?? 0) + 1)))
    }
    if let bits = changes.stopBits { questions.append(.stopSize(UInt8(clamping: bits))) }
    if let flow = changes.flowControl {
      questions.append(.control(UInt8(clamping: (Self.flows.firstIndex(of: flow) ?? 0) + 1)))
    }
    let answers = try await ask(questions)
    for answer in answers { note(answer) }
    for (question, answer) in zip(questions, answers) where question != answer {
      // Hardware may use a slightly different rate.
      if case .baudRate(let wanted) = question, case .baudRate(let rate) = answer, rate > 0,
        max(wanted, rate) - min(wanted, rate) <= wanted / 20
      {
        continue
      }
      throw AccessoryError(
        .unsupported, "\(label) can't be set to \(Self.words(question)): the server keeps \(Self.words(answer))")
    }
    return await current()
  }

  func modemLines() async throws(AccessoryError) -> ModemLines {
    // The server reports changes of inputs by itself. Outputs keep the state that was set last.
    if state.withLock({ $0.status.modemLines == nil }) { try await askForOutputs() }
    return await current().modemLines ?? []
  }

  /// Requests the state of DTR and RTS. If the server doesn't reply, both count as raised, as they are after a port was
  /// opened.
  private func askForOutputs() async throws(AccessoryError) {
    guard !state.withLock({ $0.isSilentAboutOutputs }) else { return }
    do throws(AccessoryError) {
      for answer in try await ask([.control(7), .control(10)], within: Self.outputReplyTimeout) { note(answer) }
    } catch {
      guard error.kind == .timedOut else { throw error }
      state.withLock { state in
        state.isSilentAboutOutputs = true
        if state.status.modemLines == nil { state.status.modemLines = .outputs }
      }
    }
  }

  func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try ModemLines.check(raising: raised, lowering: lowered, label)
    var questions: [COMPortMessage] = []
    for (line, code) in [(ModemLines.dtr, UInt8(8)), (.rts, 11)] {
      if raised.contains(line) { questions.append(.control(code)) }
      if lowered.contains(line) { questions.append(.control(code + 1)) }
    }
    guard !state.withLock({ $0.isSilentAboutOutputs }) else { return try await tell(questions) }
    let answers: [COMPortMessage]
    do throws(AccessoryError) {
      answers = try await ask(questions, within: Self.outputReplyTimeout)
    } catch {
      guard error.kind == .timedOut else { throw error }
      state.withLock { $0.isSilentAboutOutputs = true }
      return note(all: questions)
    }
    note(all: answers)
    guard answers == questions else {
      throw AccessoryError(.unsupported, "the server of \(label) didn't change its modem lines")
    }
  }

  func setBreak(_ isOn: Bool) async throws(AccessoryError) { _ = try await ask([.control(isOn ? 5 : 6)]) }

  func purge(_ buffers: LineBuffers) async throws(AccessoryError) {
    let value = (buffers.contains(.received) ? 1 : 0) as UInt8 + (buffers.contains(.unsent) ? 2 : 0)
    if value > 0 { _ = try await ask([.purge(value)]) }
  }

  func activity() async throws(AccessoryError) -> LineActivity {
    let errors: COMPortLineState = [.overrun, .parityError, .framingError, .breakSeen]
    if !state.withLock({ $0.isTold }) {
      _ = try await ask([.lineStateMask(errors.rawValue)])
      state.withLock { $0.isTold = true }
    }
    return state.withLock { $0.activity }
  }

  /// Counts the errors and breaks that the server reports, one for each notification.
  func note(_ events: COMPortLineState) {
    state.withLock { state in
      if events.contains(.overrun) { state.activity.overruns &+= 1 }
      if events.contains(.parityError) { state.activity.parityErrors &+= 1 }
      if events.contains(.framingError) { state.activity.framingErrors &+= 1 }
      if events.contains(.breakSeen) { state.activity.breaks &+= 1 }
    }
  }

  /// Sends requests for changes without waiting for the replies. The changes count as made.
  private func tell(_ questions: [COMPortMessage]) async throws(AccessoryError) {
    guard let (transport, _) = transport.withLock({ $0 }) else { throw ending ?? .closed(label) }
    await transport.tell(questions)
    note(all: questions)
  }

  // MARK: - Replies

  private func note(all answers: [COMPortMessage]) { for answer in answers { note(answer) } }

  private func note(_ answer: COMPortMessage) {
    state.withLock { state in
      var lines = state.status.modemLines ?? []
      switch answer {
      case .baudRate(let rate): state.status.baudRate = max(1, rate)
      case .dataSize(let bits): state.status.dataBits = min(8, max(5, Int(bits)))
      case .parity(let value): if (1...5).contains(value) { state.status.parity = Self.parities[Int(value) - 1] }
      case .stopSize(let value): state.status.stopBits = value == 1 ? 1 : 2
      case .control(let value) where (1...3).contains(value): state.status.flowControl = Self.flows[Int(value) - 1]
      case .control(8): lines.insert(.dtr)
      case .control(9): lines.remove(.dtr)
      case .control(11): lines.insert(.rts)
      case .control(12): lines.remove(.rts)
      default: break
      }
      // Other replies don't contain the state of DTR and RTS.
      if case .control(8...12) = answer { state.status.modemLines = lines }
    }
  }

  private func current() async -> LineStatus {
    var status = state.withLock { $0.status }
    guard let reported = await transport.withLock({ $0?.transport })?.modemState else { return status }
    var lines = (status.modemLines ?? []).intersection(.outputs)
    for (bit, line) in [(COMPortModemState.cts, ModemLines.cts), (.dsr, .dsr), (.ring, .ri), (.cd, .cd)]
    where reported.contains(bit) { lines.insert(line) }
    status.modemLines = lines
    return status
  }

  private static func words(_ message: COMPortMessage) -> String {
    switch message {
    case .baudRate(let rate): "\(rate) baud"
    case .dataSize(let bits): "\(bits) data bits"
    case .parity(let value): (1...5).contains(value) ? "\(parities[Int(value) - 1].rawValue) parity" : "that parity"
    case .stopSize(let bits): bits == 3 ? "1.5 stop bits" : "\(bits) stop bits"
    case .control(let value) where (1...3).contains(value): "\(flows[Int(value) - 1].rawValue) flow control"
    default: "that"
    }
  }

  // MARK: - Requests

  /// Sends all requests at once. Returns the replies in the order of the requests.
  private func ask(
    _ questions: [COMPortMessage], within limit: Duration = replyTimeout
  ) async throws(AccessoryError) -> [COMPortMessage] {
    guard let (transport, clock) = transport.withLock({ $0 }) else { throw ending ?? .closed(label) }
    guard !questions.isEmpty else { return [] }
    let answers = ReplyCollector(questions.count)
    await transport.ask(questions, answers)
    let timer = clock.schedule(at: clock.now + limit) { [label] in
      answers.all.finish(
        .failure(
          AccessoryError(.timedOut, "the server of \(label) did not answer a request about its line (RFC 2217)")))
    }
    let result = await answers.all.value()
    clock.cancel(timer)
    if case .failure = result { await transport.stopWaiting(questions) }
    return try result.get()
  }
}

extension RFC2217Transport {
  fileprivate func ask(_ questions: [COMPortMessage], _ answers: ReplyCollector) {
    for (index, question) in questions.enumerated() { ask(question) { answers.take(index, $0) } }
  }

  fileprivate func stopWaiting(_ questions: [COMPortMessage]) { for question in questions { stopWaiting(question) } }
}

/// Collects the replies to several requests, for one caller that waits for all of them.
private final class ReplyCollector: Sendable {
  let all = OneShot<Result<[COMPortMessage], AccessoryError>>()
  private let answers: Locked<[COMPortMessage?]>

  init(_ count: Int) { answers = Locked(Array(repeating: nil, count: count)) }

  func take(_ index: Int, _ answer: Result<COMPortMessage, AccessoryError>) {
    switch answer {
    case .failure(let error): all.finish(.failure(error))
    case .success(let message):
      let (got, count) = answers.withLock { answers in
        answers[index] = message
        return (answers.compactMap { $0 }, answers.count)
      }
      if got.count == count { all.finish(.success(got)) }
    }
  }
}
