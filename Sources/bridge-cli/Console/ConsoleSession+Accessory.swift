// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

// How the accessory comes and goes, and what is sent to it.

extension ConsoleSession {
  func connected(_ opening: ConsoleOpening) throws {
    (self.opening, device) = (opening, opening.device)
    let way = opening.lender.map { ", lent by the service at \($0)" } ?? ""
    note(
      "\(SafeText.escape(device.id)) is connected at \(SafeText.escape(device.address.description))\(SafeText.escape(way, limit: 500))"
    )
    if opening.isReadOnly { note(ConsoleOpening.readOnly) }
    try log?.remark("connected \(device.id) at \(device.address)\(way)")
    showInput()
    let happened = happened
    listener = ConsoleListener(opening) {
      happened.yield(.arrived($0))
    } gone: {
      happened.yield(.gone($0))
    }
  }

  func gone(_ error: AccessoryError?) async throws {
    guard let opening else { return }
    self.opening = nil
    show(received.finish())
    note("\(SafeText.escape(device.id)) is gone: waiting for it to come back")
    try log?.remark("disconnected \(device.id): \(error?.message ?? "it was closed")")
    showInput()
    await opening.close()
    let names = [name, device.id].compactMap { $0 }
    let happened = happened
    returning = ConsoleReturn.wait(names, line, write: write, lender: opening.lender) { happened.yield(.back($0)) }
  }

  func send(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    guard let opening else { return note("not connected: nothing was sent") }
    // Without waiting: what doesn't go must not keep the keyboard from being read.
    switch opening.offer(bytes) {
    case nil: note(ConsoleOpening.readOnly)
    case .accepted:
      try log?.bytes("sent", bytes)
      show(received.sent(bytes))
    case .full: note("the accessory takes nothing at present: nothing was sent")
    case .closed: note("not connected: nothing was sent")
    }
  }
}
