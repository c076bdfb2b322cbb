// SPDX-License-Identifier: Apache-2.0

/// A message that is wanted of an autopilot.
public struct MAVLinkRequest: Sendable, Hashable {
  /// The message's number.
  public var message: UInt32
  /// Whether it may be asked for again and again, once a second, where the autopilot doesn't send it just once. It goes on
  /// sending it then until it restarts.
  public var mayRepeat: Bool

  /// A request for this message.
  public init(_ message: UInt32, mayRepeat: Bool = false) {
    self.message = message
    self.mayRepeat = mayRepeat
  }
}
