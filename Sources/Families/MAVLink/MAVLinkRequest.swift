// SPDX-License-Identifier: Apache-2.0

import AccessoryLink
import AccessoryProtocols

/// A request for a message from an autopilot.
public struct MAVLinkRequest: Sendable, Hashable {
  /// The message id.
  public var message: UInt32
  /// Whether the message may be requested at an interval, once a second, if the autopilot doesn't send it once on
  /// request. The autopilot then continues to send the message until it restarts.
  public var mayRepeat: Bool

  /// A request for this message.
  public init(_ message: UInt32, mayRepeat: Bool = false) {
    self.message = message
    self.mayRepeat = mayRepeat
  }
}
