// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Synchronization

/// The serial line of another machine, asked by RFC 2217.
final class RFC2217Line: LineControl {
  private let label: String
  private let transport = Locked<(transport: RFC2217Transport, clock: any TimerClock)?>(nil)
  private let state = Locked<(status: LineStatus, ending: AccessoryError?)>((LineStatus(baudRate: 9_600), nil))

  /// How long an answer may take: servers have sick adapters, too.
  private static let patience = Duration.seconds(5)
  private static let parities: [LineParity] = [.none, .odd, .even, .mark, .space]
  private static let flows: [LineFlowControl] = [.none, .software, .hardware]

  init(label: String) { self.label = label }

  func attach(_ transport: RFC2217Transport, clock: any TimerClock) {
    self.transport.withLock { $0 = (transport, clock) }
  }

  /// Nothing can be asked any more.
  func end(_ error: AccessoryError) {
    state.withLock { $0.ending = $0.ending ?? error }
    transport.withLock { $0 = nil }
  }

  var ending: AccessoryError? { state.withLock { $0.ending } }

  var timing: LineTiming { state.withLock { $0.status.timing } }

  func status() async throws(AccessoryError) -> LineStatus {
    let questions: [COMPortMessage] = [
      .baudRate(0), .dataSize(0), .parity(0), .stopSize(0), .control(0), .control(7), .control(10),
    ]
    for answer in try await ask(questions) { note(answer) }
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
      // Hardware may do a slightly different rate.
      if case .baudRate(let wanted) = question, case .baudRate(let rate) = answer, rate > 0,
        max(wanted, rate) - min(wanted, rate) <= wanted / 20
      {
        continue
      }
      throw AccessoryError(
        .unsupported, "\(label) can't do \(Self.words(question)): it stays with \(Self.words(answer))")
    }
    return await current()
  }

  func modemLines() async throws(AccessoryError) -> ModemLines {
    for answer in try await ask([.control(7), .control(10)]) { note(answer) }
    return await current().modemLines ?? []
  }

  func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try ModemLines.check(raising: raised, lowering: lowered, label)
    var questions: [COMPortMessage] = []
    for (line, code) in [(ModemLines.dtr, UInt8(8)), (.rts, 11)] {
      if raised.contains(line) { questions.append(.control(code)) }
      if lowered.contains(line) { questions.append(.control(code + 1)) }
    }
    let answers = try await ask(questions)
    for answer in answers { note(answer) }
    guard answers == questions else {
      throw AccessoryError(.unsupported, "\(label) doesn't move its modem lines: the server says they stay as they are")
    }
  }

  func setBreak(_ isOn: Bool) async throws(AccessoryError) { _ = try await ask([.control(isOn ? 5 : 6)]) }

  func purge(_ buffers: LineBuffers) async throws(AccessoryError) {
    let value = (buffers.contains(.received) ? 1 : 0) as UInt8 + (buffers.contains(.unsent) ? 2 : 0)
    if value > 0 { _ = try await ask([.purge(value)]) }
  }

  // MARK: - What was answered

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
      state.status.modemLines = lines
    }
  }

  private func current() async -> LineStatus {
    var status = state.withLock { $0.status }
    guard let told = await transport.withLock({ $0?.transport })?.modemState else { return status }
    var lines = (status.modemLines ?? []).intersection(.outputs)
    for (bit, line) in [(COMPortModemState.cts, ModemLines.cts), (.dsr, .dsr), (.ring, .ri), (.cd, .cd)]
    where told.contains(bit) { lines.insert(line) }
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

  // MARK: - Asking

  /// Asks all at once; the answers in the order of the questions.
  private func ask(_ questions: [COMPortMessage]) async throws(AccessoryError) -> [COMPortMessage] {
    guard let (transport, clock) = transport.withLock({ $0 }) else { throw ending ?? .closed(label) }
    guard !questions.isEmpty else { return [] }
    let answers = Answers(questions.count)
    await transport.ask(questions, answers)
    let timer = clock.schedule(at: clock.now + Self.patience) { [label] in
      answers.fail(AccessoryError(.timedOut, "\(label) doesn't answer what is asked of its line (RFC 2217)"))
    }
    let result = await answers.wait()
    clock.cancel(timer)
    if case .failure = result { await transport.forget(questions) }
    return try result.get()
  }
}

extension RFC2217Transport {
  fileprivate func ask(_ questions: [COMPortMessage], _ answers: Answers) {
    for (index, question) in questions.enumerated() { ask(question) { answers.take(index, $0) } }
  }

  fileprivate func forget(_ questions: [COMPortMessage]) { for question in questions { forget(question) } }
}

/// Answers to several questions, waited for together.
private final class Answers: Sendable {
  private struct State {
    var answers: [COMPortMessage?]
    var result: Result<[COMPortMessage], AccessoryError>?
    var continuation: CheckedContinuation<Result<[COMPortMessage], AccessoryError>, Never>?
  }

  private let state: Locked<State>

  init(_ count: Int) { state = Locked(State(answers: Array(repeating: nil, count: count))) }

  func take(_ index: Int, _ answer: Result<COMPortMessage, AccessoryError>) {
    switch answer {
    case .failure(let error): fail(error)
    case .success(let message):
      finish { state in
        state.answers[index] = message
        let all = state.answers.compactMap { $0 }
        return all.count == state.answers.count ? .success(all) : nil
      }
    }
  }

  func fail(_ error: AccessoryError) { finish { _ in .failure(error) } }

  private func finish(_ body: (inout State) -> Result<[COMPortMessage], AccessoryError>?) {
    let waiting = state.withLock {
      state -> (
        CheckedContinuation<Result<[COMPortMessage], AccessoryError>, Never>, Result<[COMPortMessage], AccessoryError>
      )? in
      guard state.result == nil, let result = body(&state) else { return nil }
      state.result = result
      defer { state.continuation = nil }
      return state.continuation.map { ($0, result) }
    }
    waiting?.0.resume(returning: waiting!.1)
  }

  func wait() async -> Result<[COMPortMessage], AccessoryError> {
    await withCheckedContinuation { continuation in
      let result = state.withLock { state in
        if state.result == nil { state.continuation = continuation }
        return state.result
      }
      if let result { continuation.resume(returning: result) }
    }
  }
}
