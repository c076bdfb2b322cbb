// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

// The question whether the broker is still there, asked when nothing was sent for a while. No timer runs more often than that.

extension MQTTClient {
  /// The library compares whole seconds, so one more is waited.
  func scheduleKeepalive(_ open: OpenConnection) {
    guard open.isAccepted, open.keepalive > .zero, keepaliveTimer == nil else { return }
    let due = min(open.lastInput, open.lastOutput) + open.keepalive + .seconds(1)
    keepaliveTimer = io.schedule(at: due) { [weak self] in
      self?.enter { client in
        client.keepaliveTimer = nil
        client.keepaliveDue()
      }
    }
  }

  private func keepaliveDue() {
    guard case .open(let open) = state else { return }
    report(.keepalive)
    let due = min(open.lastInput, open.lastOutput) + open.keepalive + .seconds(1)
    // There was a message meanwhile.
    guard io.now >= due else { return scheduleKeepalive(open) }
    let result = open.connection.checkKeepalive()
    (open.lastInput, open.lastOutput) = (io.now, io.now)
    finish(open, result)
  }

  func cancelPing() {
    if let pingTimer { io.cancel(pingTimer) }
    pingTimer = nil
  }
}
