// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import DequeModule

/// An open device, and how it is to be shared.
public struct SharedDevice: Sendable {
  /// The open device. The hub takes it over.
  public var transport: any Transport
  /// The rules for sharing by frames; nil to share by bytes.
  public var routing: FrameRouting?
  /// The session that made the driver's opening exchange with the device. It must stay alive, because it closes the transport when it
  /// is released.
  package var session: AccessorySession?

  /// An open device that is shared by frames with the rules in `routing`, or by bytes if `routing` is nil.
  public init(_ transport: any Transport, routing: FrameRouting? = nil) {
    (self.transport, self.routing) = (transport, routing)
  }
}

/// A hub's state for sharing by frames: the routing rules, the unsent messages and the timer.
struct FrameRouter {
  var rules: any Routing
  /// Messages for which the device's queue had no room. While there are any, no further request is sent.
  var pending: Deque<[UInt8]> = []
  var timer: (deadline: MonotonicTime, token: TimerToken)?
  /// Clients whose requests are to be continued.
  var resumed: [Sharer.ID] = []
  /// Whether the clients in `resumed` are being continued.
  var isResuming = false
  private var timing: LineTiming

  init(_ routing: FrameRouting, _ timing: LineTiming) {
    rules = routing.rules
    self.timing = timing
    rules.setTiming(timing)
  }

  /// Passes new line timing to the rules. A client may have changed the line's speed.
  mutating func follow(_ timing: LineTiming) {
    guard timing != self.timing else { return }
    self.timing = timing
    rules.setTiming(timing)
  }
}
