// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Sending the device's bytes to the clients.
extension SharingHub {
  /// Sends bytes of the device to all clients that listen.
  func deliver(_ bytes: [UInt8]) {
    var escaped: [UInt8]?
    for sharer in sharers.values where sharer.isListening && !sharer.isLeaving {
      if sharer.telnet == nil {
        pass(bytes, to: sharer)
      } else {
        escaped = escaped ?? Telnet.escaped(bytes)
        pass(escaped ?? bytes, to: sharer)
      }
    }
  }

  /// Sends bytes to a client. With `isData` false they are a reply, which is queued even if the buffer is full.
  func pass(_ bytes: [UInt8], to sharer: Sharer, isData: Bool = true) {
    if sharer.backlog.isEmpty, sharer.telnet?.isSuspended != true {
      switch sharer.transport.output.offer(bytes) {
      case .accepted, .closed: return
      case .full: break
      }
    }
    let limit = mayHoldBack ? rules.bufferSize + Self.heldBackRoom : rules.bufferSize
    guard !isData || sharer.backlog.count + bytes.count <= limit else { return overflow(sharer) }
    sharer.backlog.append(bytes, isData: isData)
  }

  /// Applies the rule for slow readers to a client whose buffer has no room for the device's bytes.
  private func overflow(_ sharer: Sharer) {
    switch rules.slowReader {
    case .close:
      sharer.backlog.removeAll()
      dismiss(sharer, "it was too slow: \(rules.bufferSize) bytes waited for it")
    case .skip, .wait:
      if !sharer.isSkipping { tell(.skipping(sharer.name)) }
      sharer.isSkipping = true
    }
  }

  /// Sends the backlog when the client's transport has room again.
  func hasSpace(_ id: Sharer.ID) {
    guard let sharer = sharers[id], sharer.telnet?.isSuspended != true || sharer.isLeaving else { return }
    while let piece = sharer.backlog.first {
      guard sharer.transport.output.offer(piece) == .accepted else { break }
      sharer.backlog.removeFirst()
    }
    if sharer.backlog.isEmpty {
      sharer.isSkipping = false
      if sharer.isLeaving { remove(sharer) }
    }
    if sharer.telnet != nil { work(sharer) }
    resumeDevice()
  }

  func resumeDevice() {
    if let device { drain(device) }
  }
}
