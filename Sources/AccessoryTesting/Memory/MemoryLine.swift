// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A serial line without a device: it takes all settings that a line can have, and has the modem lines that the test gives
/// it.
public final class MemoryLine: LineControl {
  /// What the line is like.
  public struct State: Sendable {
    /// Its settings and modem lines.
    public var status: LineStatus
    /// Whether a break goes on.
    public var isBreaking = false
    /// How often a break was begun.
    public var breakCount = 0
    /// What was thrown away.
    public var purges: [LineBuffers] = []
    /// What all requests fail with, once the line is no more.
    public var ending: AccessoryError?
  }

  /// What the line is like now; to be changed and waited for by the test.
  public let state: Watched<State>
  private let label: String

  /// A line like this: 115,200 baud, 8N1, no modem line raised, unless said otherwise. With `modemLines` nil it has none.
  public init(_ status: LineStatus = LineStatus(baudRate: 115_200, modemLines: []), label: String = "memory") {
    self.label = label
    state = Watched(State(status: status))
  }

  /// How long a byte takes by the settings.
  public var timing: LineTiming { state.value.status.timing }

  /// From now on all fails with `error`.
  public func end(_ error: AccessoryError) {
    state.update { state in
      state.isBreaking = false
      state.ending = state.ending ?? error
    }
  }

  /// The line as it is.
  public func status() async throws(AccessoryError) -> LineStatus { try ask { .success($0.status) } }

  /// Takes all that a line can have.
  public func change(_ changes: LineChanges) async throws(AccessoryError) -> LineStatus {
    try changes.check(label)
    return try ask { state in
      let old = state.status
      state.status.baudRate = changes.baudRate ?? old.baudRate
      state.status.dataBits = changes.dataBits ?? old.dataBits
      state.status.parity = changes.parity ?? old.parity
      state.status.stopBits = changes.stopBits ?? old.stopBits
      state.status.flowControl = changes.flowControl ?? old.flowControl
      return .success(state.status)
    }
  }

  /// The lines that are raised.
  public func modemLines() async throws(AccessoryError) -> ModemLines {
    try ask { [label] state -> Result<ModemLines, AccessoryError> in
      if let lines = state.status.modemLines { .success(lines) } else { .failure(Self.noLines(label)) }
    }
  }

  /// Moves outputs.
  public func set(raising raised: ModemLines, lowering lowered: ModemLines) async throws(AccessoryError) {
    try ModemLines.check(raising: raised, lowering: lowered, label)
    try ask { [label] state -> Result<Void, AccessoryError> in
      guard let lines = state.status.modemLines else { return .failure(Self.noLines(label)) }
      state.status.modemLines = lines.subtracting(lowered).union(raised)
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

  /// Only notes what was to be thrown away: it has no buffers.
  public func purge(_ buffers: LineBuffers) async throws(AccessoryError) {
    try ask { state -> Result<Void, AccessoryError> in
      state.purges.append(buffers)
      return .success(())
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
