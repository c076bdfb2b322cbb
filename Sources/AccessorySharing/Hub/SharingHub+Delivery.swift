// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Sending the device's bytes to the clients.
extension SharingHub {
  /// Sends bytes of the device to all clients that listen.
  func deliver(_ bytes: [UInt8]) {
    var escaped: [UInt8]?
    for client in clients.values where client.isListening && !client.isLeaving {
      if client.telnet == nil {
        pass(bytes, to: client)
      } else {
        escaped = escaped ?? Telnet.escaped(bytes)
        pass(escaped ?? bytes, to: client)
      }
    }
  }

  /// Sends bytes to a client. With `isData` false they are a reply, which is queued even if the buffer is full.
  func pass(_ bytes: [UInt8], to client: HubClient, isData: Bool = true) {
    if client.backlog.isEmpty, client.telnet?.isSuspended != true {
      switch client.transport.output.offer(bytes) {
      case .accepted, .closed: return
      case .full: break
      }
    }
    let limit = mayHoldBack ? rules.bufferSize + Self.heldBackRoom : rules.bufferSize
    guard !isData || client.backlog.count + bytes.count <= limit else { return overflow(client) }
    client.backlog.append(bytes, isData: isData)
    backlogPeak += bytes.count
    if backlogPeak > backlogLimit { boundBacklogs() }
  }

  /// Applies the rule for slow readers to a client whose buffer has no room for the device's bytes.
  private func overflow(_ client: HubClient) {
    switch rules.slowReader {
    case .close:
      client.backlog.removeAll()
      dismiss(client, "it was too slow: \(rules.bufferSize) bytes waited for it")
    case .skip, .wait: noteSkipping(client)
    }
  }

  private func noteSkipping(_ client: HubClient) {
    if !client.isSkipping { report(.skipping(client.name)) }
    client.isSkipping = true
  }

  // MARK: - All clients together

  /// The most bytes that wait for all clients together.
  var backlogLimit: Int { max(rules.totalBufferSize, rules.bufferSize + Self.heldBackRoom) }

  /// The number of bytes that wait for all clients together.
  private var backlogCount: Int { clients.values.reduce(0) { $0 + $1.backlog.count } }

  /// Applies the rule for slow readers to the clients for which most bytes wait, until all of them together have less than the limit.
  private func boundBacklogs() {
    var count = backlogCount
    // By `wait`, the device isn't read meanwhile; see `isHeldBack`.
    while count > backlogLimit, rules.slowReader != .wait,
      let most = clients.values.max(by: { $0.backlog.count < $1.backlog.count })
    {
      let before = most.backlog.count
      switch rules.slowReader {
      case .close:
        most.backlog.removeAll()
        dismiss(most, "it was too slow: \(before) bytes waited for it, and \(count) for all clients")
      case .skip, .wait:
        most.backlog.removeData()
        noteSkipping(most)
      }
      guard most.backlog.count < before else { break }
      count -= before - most.backlog.count
    }
    backlogPeak = count
  }

  /// Sends the backlog when the client's transport has room again.
  func hasSpace(_ id: HubClient.ID) {
    guard let client = clients[id], client.telnet?.isSuspended != true || client.isLeaving else { return }
    while let piece = client.backlog.first {
      guard client.transport.output.offer(piece) == .accepted else { break }
      client.backlog.removeFirst()
    }
    if client.backlog.isEmpty {
      client.isSkipping = false
      if client.isLeaving { remove(client) }
    }
    if client.telnet != nil { work(client) }
    resumeDevice()
  }

  func resumeDevice() {
    if let device { drain(device) }
  }
}
