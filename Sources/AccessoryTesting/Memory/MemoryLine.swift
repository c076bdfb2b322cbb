// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A serial line without a device. It accepts all settings that a line can have; the test chooses its modem lines.
public final class MemoryLine: LineControl {
  /// The state of a line.
  public struct State: Sendable {
    /// The settings and modem lines.
    public var status: LineStatus
    /// Whether a break is on.
    public var isBreaking = false
    /// How many breaks were begun.
    public var breakCount = 0
    /// The buffers that `purge` was called for, one entry a call.
    public var purges: [LineBuffers] = []
    /// The driver's counts of errors; nil if it doesn't count them.
    public var activity: LineActivity? = LineActivity()
    /// Each change of DTR and RTS.
    public var edges: [Edge] = []
    /// The error that all methods throw after `end` was called.
    public var ending: AccessoryError?
  }

  /// A change of DTR and RTS.
  public struct Edge: Sendable, Hashable {
    /// The time of the change, by the line's clock.
    public var time: MonotonicTime
    /// The outputs that are raised from then on.
    public var outputs: ModemLines
  }

  /// The current state. A test may change it and wait for changes.
  public let state: Watched<State>
  private let label: String
  private let clock: any TimerClock

  /// A line with this status; by default 115,200 baud, 8N1, no modem line raised. If `modemLines` is nil, the line has
  /// no modem lines. Error messages begin with `label`. `clock` gives the times of edges.
  public init(
    _ status: LineStatus = LineStatus(baudRate: 115_200, modemLines: []), label: String = "memory",
    clock: any TimerClock = IOThread.shared
  ) {
    (self.label, self.clock) = (label, clock)
    state = Watched(State(status: status))
  }

  /// How long a byte takes at the current settings.
  public var timing: LineTiming { state.value.status.timing }

  /// Ends a break, and makes all methods throw `error` from now on. Later calls don't replace the error.
  public func end(_ error: AccessoryError) {
    state.update { state in
      state.isBreaking = false
      state.ending = state.ending ?? error
    }
  }

  /// The current settings and modem lines.
  public func status() async throws(AccessoryError) -> LineStatus { try ask { .success($0.status) } }

  /// Applies all settings that a line can have; throws `misconfigured` for others.
  public func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus {
    try changes.check(label)
    return try ask { state in
      state.status.apply(changes)
      return .success(state.status)
    }
  }

  /// The modem lines that are raised. Throws `unsupported` if the line has none.
  public func modemLines() async throws(AccessoryError) -> ModemLines {
    try ask { [label] state -> Result<ModemLines, AccessoryError> in
      if let lines = state.status.modemLines { .success(lines) } else { .failure(Self.noLines(label)) }
    }
  }

  /// Raises and lowers outputs. Throws `unsupported` if the line has no modem lines.
  public func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try ModemLines.check(raising: raised, lowering: lowered, label)
    try ask { [label, clock] state -> Result<Void, AccessoryError> in
      guard let lines = state.status.modemLines else { return .failure(Self.noLines(label)) }
      let new = lines.subtracting(lowered).union(raised)
      state.status.modemLines = new
      if new != lines { state.edges.append(Edge(time: clock.now, outputs: new.intersection(.outputs))) }
      return .success(())
    }
  }

  /// Begins or ends a break.
  public func setBreak(_ isOn: Bool) async throws(AccessoryError) {
    try ask { state -> Result<Void, AccessoryError> in
      if isOn, !state.isBreaking { state.breakCount += 1 }
      state.isBreaking = isOn
      return .success(())
    }
  }

  /// Records the call in `State.purges`; the line has no buffers.
  public func purge(_ buffers: LineBuffers) async throws(AccessoryError) {
    try ask { state -> Result<Void, AccessoryError> in
      state.purges.append(buffers)
      return .success(())
    }
  }

  /// What the test says that its driver has counted.
  public func activity() async throws(AccessoryError) -> LineActivity {
    try ask { [label] state -> Result<LineActivity, AccessoryError> in
      if let activity = state.activity {
        .success(activity)
      } else {
        .failure(AccessoryError(.unsupported, "\(label) doesn't count its errors"))
      }
    }
  }

  private static func noLines(_ label: String) -> AccessoryError {
    AccessoryError(.unsupported, "\(label) has no modem lines")
  }

  private func ask<Value: Sendable>(
    _ body: @Sendable (inout State) -> Result<Value, AccessoryError>
  ) throws(AccessoryError) -> Value {
    try state.update { state -> Result<Value, AccessoryError> in
      if let ending = state.ending { return .failure(ending) }
      return body(&state)
    }.get()
  }
}
