// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A simulated serial line whose plug connects RTS to CTS, and DTR to DSR and CD. It accepts all settings. It reports
/// each change of DTR and RTS and each break, with its time.
public final class LoopbackLine: LineControl {
  /// A change of DTR, RTS or the break state.
  public struct Edge: Sendable, Hashable {
    /// The time of the change, by the line's clock.
    public let time: MonotonicTime
    /// The outputs that are raised after the change.
    public let outputs: ModemLines
    /// Whether the line is in the break state after the change.
    public let isBreaking: Bool
  }

  private struct State: Sendable {
    var status: LineStatus
    var outputs = ModemLines.outputs
    var isBreaking = false
    var activity = LineActivity()
    var ending: AccessoryError?
  }

  /// The changes, for one reader. When 65,536 changes wait, later ones are dropped. Ends with the line.
  public let edges: AsyncStream<Edge>
  private let continuation: AsyncStream<Edge>.Continuation
  private let state: Locked<State>
  private let clock: any TimerClock
  private let label: String

  /// Creates a line at 115,200 baud, 8N1, with DTR and RTS raised, like a port that was just opened.
  public init(label: String = "loopback", clock: any TimerClock = IOThread.shared) {
    (self.label, self.clock) = (label, clock)
    state = Locked(State(status: LineStatus(baudRate: 115_200)))
    (edges, continuation) = AsyncStream<Edge>.makeStream(bufferingPolicy: .bufferingOldest(65_536))
  }

  /// Bytes take no time at any baud rate.
  public var timing: LineTiming { .instant }

  /// The settings and modem lines.
  public func status() async throws(AccessoryError) -> LineStatus { try ask { Self.status($0) } }

  /// Applies the changes. Throws `misconfigured` for settings that no serial line supports, and the error of the line
  /// after its end.
  public func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus {
    try changes.check(label)
    return try ask { state in
      state.status.apply(changes)
      return Self.status(state)
    }
  }

  /// The raised outputs, and the inputs that are connected to them.
  public func modemLines() async throws(AccessoryError) -> ModemLines { try ask { Self.lines($0.outputs) } }

  /// Raises and lowers outputs; the connected inputs follow.
  public func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try ModemLines.check(raising: raised, lowering: lowered, label)
    try ask { state in
      let outputs = state.outputs.subtracting(lowered).union(raised)
      guard outputs != state.outputs else { return }
      state.outputs = outputs
      tell(state)
    }
  }

  /// Begins or ends a break. The line receives its own break.
  public func setBreak(_ isOn: Bool) async throws(AccessoryError) {
    try ask { state in
      guard isOn != state.isBreaking else { return }
      state.isBreaking = isOn
      if isOn { state.activity.breaks &+= 1 }
      tell(state)
    }
  }

  /// Discards nothing, because the line has no buffers.
  public func purge(_ buffers: LineBuffers) async throws(AccessoryError) { try ask { _ in } }

  /// The number of breaks; all other counts are 0.
  public func activity() async throws(AccessoryError) -> LineActivity { try ask { $0.activity } }

  /// Makes every later call throw `error`.
  func end(_ error: AccessoryError) {
    state.withLock { $0.ending = $0.ending ?? error }
    continuation.finish()
  }

  private func tell(_ state: State) {
    continuation.yield(Edge(time: clock.now, outputs: state.outputs, isBreaking: state.isBreaking))
  }

  private static func lines(_ outputs: ModemLines) -> ModemLines {
    var lines = outputs
    if outputs.contains(.rts) { lines.insert(.cts) }
    if outputs.contains(.dtr) { lines.formUnion([.dsr, .cd]) }
    return lines
  }

  private static func status(_ state: State) -> LineStatus {
    var status = state.status
    status.modemLines = lines(state.outputs)
    return status
  }

  private func ask<Value: Sendable>(_ body: (inout State) -> Value) throws(AccessoryError) -> Value {
    let result: Result<Value, AccessoryError> = state.withLock { state in
      if let ending = state.ending { return .failure(ending) }
      return .success(body(&state))
    }
    return try result.get()
  }
}
