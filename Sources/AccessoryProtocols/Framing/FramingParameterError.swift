// SPDX-License-Identifier: Apache-2.0

/// The parameters of a framing don't fit together.
///
/// Descriptions of framings may come from a file, so a wrong one is an error and not a trap.
public struct FramingParameterError: Error, Sendable, Hashable {
  /// The name of the wrong parameter, such as `length.byteCount`.
  public let parameter: String
  /// The requirement, as the end of a sentence that begins with the parameter: `must be 1 to 4`.
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
  /// The longest payload that a framing may allow, in bytes. Memory grows with the allowed length, not with the length
  /// that a frame announces.
  static let largestPayload = 1 << 24

  static func check(maximumPayload: Int) throws(FramingParameterError) {
    guard (1...largestPayload).contains(maximumPayload) else {
      throw FramingParameterError("maximumPayload", "must be 1 to \(largestPayload)")
    }
  }
}
