// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The transport that a hub of the service gets as its device. Its input contains the bytes from the device. Its output is sent to the
/// device while the line is lent to the writers, and is queued otherwise. A `SharedLine` passes the bytes.
final class ShareFeed: Transport {
  let label: String
  let line: (any LineControl)?
  let input: InputQueue
  /// Message boundaries are kept, so that the bytes that a client sent at once stay together.
  let output = OutputQueue(keepsMessages: true)
  /// Whether the input gets all bytes from the device, or only those that arrive while the line is lent.
  let hearsAlways: Bool

  private let fixedTiming: LineTiming
  /// The transport of the lent device if the feed's bytes are decoded, which needs the line's speed and the boundaries
  /// of messages; otherwise nil.
  private let device: (any Transport)?

  init(
    label: String, timing: LineTiming, line: (any LineControl)?, hearsAlways: Bool,
    decoding device: (any Transport)? = nil
  ) {
    (self.label, fixedTiming, self.line, self.hearsAlways) = (label, timing, line, hearsAlways)
    self.device = device
    input = InputQueue(keepsMessages: device?.input.keepsMessages ?? false)
  }

  /// How long bytes take on the line. Clients may change its speed.
  var timing: LineTiming { device?.timing ?? fixedTiming }

  /// Ends both directions, because the device is gone or the feed is no longer needed.
  func end(_ error: AccessoryError?) {
    input.finish(error)
    output.close(error)
  }

  var hasEnded: Bool {
    guard case .closed = output.offer([]) else { return false }
    return true
  }

  func close() async { end(nil) }
  func beginClose() { end(nil) }
  /// Does nothing: the service finds out by itself that the device was unplugged.
  func deviceWasRemoved() {}
}
