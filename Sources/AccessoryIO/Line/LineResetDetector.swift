// SPDX-License-Identifier: Apache-2.0

/// Finds the start of a reset in the clients' changes of DTR and RTS. It has no line and no clock: its owner carries out
/// the verdicts.
public struct LineResetDetector: Sendable {
  /// What the owner does with a change.
  public enum Verdict: Sendable, Hashable {
    /// Make the change on the line.
    case apply
    /// Run this reset's script instead of making the change.
    case run(LineReset)
    /// Don't make the change: it belongs to a sequence whose script has already run.
    case ignore
    /// The client's sequence is over: set the lines to `outputs`.
    case finish
  }

  /// The resets that the detector recognizes.
  public let resets: [LineReset]
  /// The states of DTR and RTS that clients have requested.
  public private(set) var outputs: ModemLines
  /// The reset whose script was run, while the client's own sequence is still going on; otherwise nil.
  public private(set) var current: LineReset?

  /// Creates a detector for these resets, on a line whose raised outputs are `outputs`.
  public init(_ resets: [LineReset], outputs: ModemLines) {
    self.resets = resets
    self.outputs = outputs.intersection(.outputs)
  }

  /// Takes a client's request to raise and lower outputs, and returns what to do with it.
  public mutating func take(raising raised: ModemLines, lowering lowered: ModemLines) -> Verdict {
    let old = outputs
    outputs = old.subtracting(lowered).union(raised).intersection(.outputs)
    if let reset = resets.first(where: { $0.begins(from: old, to: outputs) }) {
      current = reset.isOver(with: outputs) ? nil : reset
      return .run(reset)
    }
    guard let reset = current else { return .apply }
    guard reset.isOver(with: outputs) else { return .ignore }
    current = nil
    return .finish
  }

  /// Stops waiting for the end of the client's sequence, because it takes too long or the client has disconnected.
  /// Returns whether a sequence was going on.
  public mutating func giveUp() -> Bool {
    defer { current = nil }
    return current != nil
  }

  /// Sets the outputs that were changed without a client's request, for example after the last client has disconnected.
  public mutating func reset(to outputs: ModemLines) {
    self.outputs = outputs.intersection(.outputs)
    current = nil
  }
}
