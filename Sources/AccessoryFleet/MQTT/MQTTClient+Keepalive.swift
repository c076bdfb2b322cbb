// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

// Asks whether the broker still answers when nothing was sent for a while. This is the client's only repeating timer.

extension MQTTClient {
  /// The library compares whole seconds, so this waits one more.
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
    // A message was sent in the meantime.
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
