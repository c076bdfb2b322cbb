// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Sends the device's bytes and replies to the clients, and bounds what waits for them.
final class Delivery: HubPart {
  /// At least as many bytes as wait for all clients together. They are counted when this exceeds the limit, and not with each change.
  private var backlogPeak = 0

  /// Room for the bytes of one read after which reading from the device pauses.
  static let heldBackRoom = 1 << 20

  /// Sends bytes of the device to all clients that listen.
  func deliver(_ bytes: [UInt8]) {
    var escaped: [UInt8]?
    for client in clients.all.values where client.isListening && !client.isLeaving {
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
    if client.backlog.isEmpty, client.telnet?.isSuspended != true, !client.backlog.isHeld {
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

  /// Sends the backlog when the client's transport has room again.
  func hasSpace(_ client: HubClient) {
    guard client.telnet?.isSuspended != true || client.isLeaving, !client.backlog.isHeld else { return }
    while let piece = client.backlog.first {
      guard client.transport.output.offer(piece) == .accepted else { break }
      client.backlog.removeFirst()
    }
    if client.backlog.isEmpty {
      client.backlog.isSkipping = false
      if client.isLeaving { clients.remove(client) }
    }
    if client.telnet != nil { requests.work(client) }
    device.drain()
  }

  // MARK: - Slow readers

  /// Whether the device isn't read now, because a client's buffer is full.
  var isHeldBack: Bool {
    guard mayHoldBack else { return false }
    if rules.slowReader == .wait, backlogPeak > backlogLimit {
      backlogPeak = backlogCount
      if backlogPeak > backlogLimit { return true }
    }
    return clients.all.values.contains { !$0.isLeaving && $0.backlog.count >= rules.bufferSize }
  }

  /// Whether a full buffer stops reading from the device: if the rules say so, or if the device has one reader only, so that no other
  /// client has to wait.
  private var mayHoldBack: Bool {
    switch rules.slowReader {
    case .wait: true
    case .skip: false
    case .close:
      rules.waitsForOnlyReader
        && clients.all.values.lazy.filter { $0.isListening && !$0.isLeaving }.prefix(2).count == 1
    }
  }

  /// Applies the rule for slow readers to a client whose buffer has no room for the device's bytes.
  private func overflow(_ client: HubClient) {
    switch rules.slowReader {
    case .close:
      client.backlog.removeAll()
      clients.dismiss(client, "it was too slow: \(rules.bufferSize) bytes waited for it")
    case .skip, .wait: noteSkipping(client)
    }
  }

  private func noteSkipping(_ client: HubClient) {
    if !client.backlog.isSkipping { report(.skipping(client.name)) }
    client.backlog.isSkipping = true
  }

  /// The most bytes that wait for all clients together.
  var backlogLimit: Int { max(rules.totalBufferSize, rules.bufferSize + Self.heldBackRoom) }

  /// The number of bytes that wait for all clients together.
  private var backlogCount: Int { clients.all.values.reduce(0) { $0 + $1.backlog.count } }

  /// Applies the rule for slow readers to the clients for which most bytes wait, until all of them together have less than the limit.
  private func boundBacklogs() {
    var count = backlogCount
    // With `wait`, reading from the device pauses; see `isHeldBack`.
    while count > backlogLimit, rules.slowReader != .wait,
      let most = clients.all.values.max(by: { $0.backlog.count < $1.backlog.count })
    {
      let before = most.backlog.count
      switch rules.slowReader {
      case .close:
        most.backlog.removeAll()
        clients.dismiss(most, "it was too slow: \(Amount.bytes(before)) waited for it, and \(count) for all clients")
      case .skip, .wait:
        most.backlog.removeData()
        noteSkipping(most)
      }
      guard most.backlog.count < before else { break }
      count -= before - most.backlog.count
    }
    backlogPeak = count
  }
}
