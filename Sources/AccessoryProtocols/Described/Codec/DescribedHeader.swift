// SPDX-License-Identifier: Apache-2.0

/// Which framing a frame has, and where its body is in what the codec delivers as its payload: all of its content.
///
/// The content of a plain layout, a window or a block of pairs is the whole frame. That of a hexadecimal layout is the
/// bytes that its digits stand for, without the constants at both ends.
public struct DescribedHeader: Sendable, Hashable {
  /// The framing's place in the description.
  public var framing: Int
  /// Where the body is in the content.
  public var body: Range<Int>
  /// The number by which a request and its answer belong together, where their way has one: Modbus TCP.
  public var number: UInt16?
  /// Whether it is known that it answers nothing that is awaited.
  public var isStray = false

  /// A header of these parts.
  public init(framing: Int, body: Range<Int>) { (self.framing, self.body) = (framing, body) }
}
