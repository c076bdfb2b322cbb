// SPDX-License-Identifier: Apache-2.0

/// The framing of a frame, and where the body is in its payload, which is the frame's whole content.
///
/// The content of a plain layout, a window or a block of pairs is the whole frame. The content of a hexadecimal layout
/// is the bytes for which its digits stand, without the constants at both ends.
public struct DescribedHeader: Sendable, Hashable {
  /// The index of the framing in the description.
  public var framing: Int
  /// Where the body is in the content.
  public var body: Range<Int>
  /// The number that a request and its reply have in common, if the way they travel has one: Modbus TCP.
  public var number: UInt16?
  /// Whether the frame is known not to answer the awaited request.
  public var isStray = false

  /// A header of these parts.
  public init(framing: Int, body: Range<Int>) { (self.framing, self.body) = (framing, body) }
}
