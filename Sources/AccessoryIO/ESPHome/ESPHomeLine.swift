// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ESPHomeAPI

/// The serial line of an ESPHome node. The native API sets it, and reads only DTR and RTS back: the settings are those that were set last.
final class ESPHomeLine: LineControl {
  private let label: String
  private let transport = Locked<(transport: ESPHomeTransport, clock: any TimerClock)?>(nil)
  private struct State: Sendable {
    var status = LineStatus(baudRate: 115_200)
    /// The outputs that the port has.
    var outputs: ModemLines = []
    var ending: AccessoryError?
  }

  private let state = Locked(State())
  /// Changes are made one after another: each begins from what the one before has left.
  private let turns = Turns()

  /// How long the node may take for a reply, as ESPHome's own clients have it.
  private static let replyTimeout = Duration.seconds(10)
  private static let bits: [(line: ModemLines, bit: UInt32)] = [(.rts, 1), (.dtr, 2)]

  init(label: String) { self.label = label }

  func attach(_ transport: ESPHomeTransport, clock: any TimerClock) {
    self.transport.withLock { $0 = (transport, clock) }
  }

  /// The outputs that the port has, in the bits of the native API.
  func note(outputs bits: UInt32) { state.withLock { $0.outputs = Self.lines(bits) } }

  /// Makes all further requests fail with `error`.
  func end(_ error: AccessoryError) {
    state.withLock { $0.ending = $0.ending ?? error }
    transport.withLock { $0 = nil }
  }

  var ending: AccessoryError? { state.withLock { $0.ending } }
  var timing: LineTiming { state.withLock { $0.status.timing } }

  func status() async throws(AccessoryError) -> LineStatus {
    var status = state.withLock { $0.status }
    if !state.withLock({ $0.outputs.isEmpty }) { status.modemLines = try await modemLines() }
    return status
  }

  func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus {
    try changes.check(label)
    return try await turns.take { () throws(AccessoryError) in
      var status = state.withLock { $0.status }
      status.apply(changes)
      _ = try await ask(.configure(try settings(status)))
      state.withLock { $0.status = status }
      return status
    }
  }

  /// Throws `unsupported` for what the native API has no words for.
  private func settings(_ status: LineStatus) throws(AccessoryError) -> SerialProxySettings {
    let parities: [LineParity: SerialProxySettings.Parity] = [.none: .none, .even: .even, .odd: .odd]
    guard let parity = parities[status.parity] else { throw unable("be set to \(status.parity.rawValue) parity") }
    guard status.flowControl != .software else { throw unable("be set to software flow control") }
    return SerialProxySettings(
      baudRate: status.baudRate, dataBits: status.dataBits, parity: parity, stopBits: status.stopBits,
      hasFlowControl: status.flowControl == .hardware)
  }

  func modemLines() async throws(AccessoryError) -> ModemLines {
    if state.withLock({ $0.outputs.isEmpty }) { throw unable("tell its modem lines: the node has no pins for them") }
    return Self.lines(try await ask(.getPins))
  }

  func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try ModemLines.check(raising: raised, lowering: lowered, label)
    let outputs = state.withLock { $0.outputs }
    guard raised.subtracting(outputs).isEmpty else {
      throw unable("raise \(raised.subtracting(outputs)): the node has no pin for it")
    }
    // An output that isn't there is low.
    guard !outputs.isDisjoint(with: raised.union(lowered)) else { return }
    try await turns.take { () throws(AccessoryError) in
      let lines = try await modemLines().intersection(outputs).union(raised).subtracting(lowered)
      _ = try await ask(.setPins(Self.bits.reduce(0) { lines.contains($1.line) ? $0 | $1.bit : $0 }))
    }
  }

  func setBreak(_ isOn: Bool) async throws(AccessoryError) { throw unable("send a break") }

  /// A node keeps no bytes that could be discarded from here.
  func purge(_ buffers: LineBuffers) async throws(AccessoryError) { if let ending { throw ending } }

  private func unable(_ what: String) -> AccessoryError {
    AccessoryError(.unsupported, "\(label) can't \(what), as a serial port of an ESPHome node")
  }

  private static func lines(_ pins: UInt32) -> ModemLines {
    bits.reduce(into: ModemLines()) { if pins & $1.bit != 0 { $0.insert($1.line) } }
  }

  private func ask(_ question: SerialProxyClient.Question) async throws(AccessoryError) -> UInt32 {
    guard let (transport, clock) = transport.withLock({ $0 }) else { throw ending ?? .closed(label) }
    let answer = OneShot<Result<UInt32, AccessoryError>>()
    await transport.ask(question) { answer.finish($0) }
    let timer = clock.schedule(at: clock.now + Self.replyTimeout) { [label] in
      answer.finish(
        .failure(AccessoryError(.timedOut, "the node of \(label) did not answer a request about its serial port")))
    }
    let result = await answer.value()
    clock.cancel(timer)
    if case .failure = result { await transport.stopWaiting(question) }
    return try result.get()
  }
}
