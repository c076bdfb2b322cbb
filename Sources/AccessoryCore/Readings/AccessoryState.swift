// SPDX-License-Identifier: Apache-2.0

/// What an accessory is doing.
public enum AccessoryState: UInt8, Sendable, Hashable, CaseIterable {
  /// Ready and doing nothing.
  case idle = 0x00
  /// Working.
  case busy = 0x01
  /// Work is interrupted and can be resumed.
  case paused = 0x02
  /// Something failed; a fault code says what.
  case fault = 0x03
  /// The accessory says that it doesn't know its state yet, or sent an unknown value.
  case notInitialized = 0xFF

  /// Reads a byte from the wire: any value without a meaning is `notInitialized`.
  public init(wire byte: UInt8) { self = AccessoryState(rawValue: byte) ?? .notInitialized }

  /// Reads the state's name in the service's interface and in JSON documents; nil for any other word.
  package init?(word: String) {
    guard let state = Self.allCases.first(where: { $0.word == word }) else { return nil }
    self = state
  }

  /// The state's name in the service's interface and in JSON documents.
  package var word: String {
    switch self {
    case .idle: "idle"
    case .busy: "busy"
    case .paused: "paused"
    case .fault: "fault"
    case .notInitialized: "not_initialized"
    }
  }
}
