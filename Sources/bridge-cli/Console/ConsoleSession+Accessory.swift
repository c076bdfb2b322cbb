// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Console

// The accessory's connections and disconnections, and the bytes sent to it.

extension ConsoleSession {
  func connected(_ connection: ConsoleConnection) throws {
    (self.connection, device) = (connection, connection.device)
    pauses.opened()
    let way = connection.servicePath.map { ", lent by the service at \($0)" } ?? ""
    note(
      "\(SafeText.escape(device.id)) is connected at \(SafeText.escape(device.address.description))\(SafeText.escape(way, limit: 500))"
    )
    if let refusal = connection.refusal { note(refusal.message) }
    try settings.log?.remark("connected \(device.id) at \(device.address)\(way)")
    showInput()
    let happened = happened
    listener = ConsoleListener(connection) {
      happened.yield(.arrived($0))
    } gone: {
      happened.yield(.gone($0))
    }
  }

  func gone(_ error: AccessoryError?) async throws {
    guard let connection else { return }
    self.connection = nil
    show(received.finish())
    let again = await Door.again(device, asLine: true)
    note("\(SafeText.escape(device.id)) is gone: \(AccessoryReturn.waiting(again))")
    try settings.log?.remark("disconnected \(device.id): \(error?.message ?? "it was closed")")
    showInput()
    await connection.close()
    let happened = happened
    returning = ConsoleReturn.wait(
      again, settings.name, settings.line, write: settings.write, servicePath: connection.servicePath, pauses: pauses
    ) {
      happened.yield(.back($0))
    }
  }

  func send(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    guard let connection else { return note("not connected: nothing was sent") }
    // Never waits: an accessory that takes no bytes must not block the keyboard.
    switch connection.offer(bytes) {
    case nil: if let refusal = connection.refusal { note(refusal.message) }
    case .accepted:
      try settings.log?.bytes("sent", bytes)
      show(received.sent(bytes))
    case .full: note("the accessory accepts no bytes at present: nothing was sent")
    case .closed: note("not connected: nothing was sent")
    }
  }
}
