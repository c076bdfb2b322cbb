// SPDX-License-Identifier: Apache-2.0

/// A framing was described in a way that cannot be.
///
/// Descriptions may come from a file, so a wrong one is an error and not a trap.
public struct FramingParameterError: Error, Sendable, Hashable {
  /// Which parameter is wrong, such as `length.byteCount`.
  public let parameter: String
  /// What it must be, as the end of a sentence that begins with the parameter: `must be 1 to 4`.
  public let requirement: String

  /// An error about `parameter`.
  public init(_ parameter: String, _ requirement: String) {
    self.parameter = parameter
    self.requirement = requirement
  }
}

extension FramingParameterError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String { "\(parameter) \(requirement)" }
}

/// Bounds that all configurable framings share.
enum FramingLimits {
  /// The longest payload that may be allowed, in bytes. Memory follows what is allowed, not what is announced.
  static let largestPayload = 1 << 24

  /// Checks a limit for payloads.
  static func check(maximumPayload: Int) throws(FramingParameterError) {
    guard (1...largestPayload).contains(maximumPayload) else {
      throw FramingParameterError("maximumPayload", "must be 1 to \(largestPayload)")
    }
  }
}
