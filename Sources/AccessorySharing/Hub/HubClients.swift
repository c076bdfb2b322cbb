// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The clients of a hub: adding, limiting and removing them.
final class HubClients: HubPart {
  private(set) var all: [HubClient.ID: HubClient] = [:]
  /// Whether the hub is closed, so that no client can join.
  private(set) var isClosed = false
  private var nextID = 1
  /// The timer for giving back memory.
  private var memoryTimer: TimerToken?

  /// How long after a client has left its memory is given back.
  private static let memoryDelay = Duration.seconds(2)
  /// How long a client that is being disconnected may take to receive its backlog.
  static let leavePatience = Duration.seconds(5)

  subscript(id: HubClient.ID) -> HubClient? { all[id] }

  // MARK: - Joining

  func join(
    _ transport: any Transport, name: String, kind: HubClientKind, isListening: Bool = true, allowsWrites: Bool = true,
    endpoint: Int? = nil, connection: DescriptorTransport? = nil, onLeave: (@Sendable () -> Void)? = nil
  ) -> HubClient.ID {
    let id = nextID
    nextID += 1
    guard !isClosed else {
      transport.beginClose()
      return id
    }
    let client = HubClient(
      id, name: name, transport, connection, kind: kind, isListening: isListening, allowsWrites: allowsWrites,
      endpoint: endpoint, onLeave: onLeave)
    all[id] = client
    frames?.add(id)
    if client.isReported { report(.joined(name)) }
    terminals.follow(client)
    telnet.greet(client)
    transport.output.onSpace(hub.handler { if let client = $0.clients[id] { $0.delivery.hasSpace(client) } })
    let onClosed = hub.handler { $0.clients.wasClosed(id) }
    transport.output.onClosed { _ in onClosed() }
    transport.input.onReadableOnIOThread(hub.handler { if let client = $0.clients[id] { $0.requests.work(client) } })
    // The hub may have stopped reading from the device for its only client. Now there are two.
    device.drain()
    return id
  }

  /// Adds a client of an endpoint. With `newestWins` it replaces the connected one; otherwise it is refused when the
  /// limit is reached. Returns the client's number, or nil if it was refused.
  @discardableResult
  func welcome(
    _ transport: any Transport, name: String, kind: HubClientKind, at endpoint: EndpointLimit,
    connection: DescriptorTransport? = nil
  ) -> HubClient.ID? {
    let others = all.values.filter { $0.endpoint == endpoint.id && !$0.isLeaving }
    if endpoint.newestWins {
      for other in others { dismiss(other, "\(name) took its place") }
    } else if others.count >= endpoint.maximum, !makeRoom(for: transport, among: others) {
      transport.beginClose()
      report(
        .refused(name, reason: "\(Amount.of(others.count, "client", is: ("is", "are"))) connected, which is the limit"))
      return nil
    }
    return join(transport, name: name, kind: kind, endpoint: endpoint.id, connection: connection)
  }

  /// Disconnects a client of the address that has the most, if the newcomer's has clearly fewer.
  private func makeRoom(for transport: any Transport, among others: [HubClient]) -> Bool {
    let places = others.lazy.map { FairPlaces.Client($0.id, .init($0.transport.peer), isSettled: true) }
    guard let id = FairPlaces.yielding(to: FairPlaces.Origin(transport.peer), among: places), let last = all[id] else {
      return false
    }
    last.backlog.removeAll()
    dismiss(last, "all \(others.count) places are taken, most of them by its address, and another address has come")
    return true
  }

  func setListening(_ id: HubClient.ID, _ isListening: Bool) {
    guard let client = all[id], client.isListening != isListening else { return }
    client.isListening = isListening
    client.isReported = isListening
    report(isListening ? .joined(client.name) : .left(client.name, reason: nil))
    guard !isListening else {
      terminals.watch(client)
      return device.drain()
    }
    leaveLine(client)
    client.backlog.removeAll()
    if let frames {
      frames.forget(id)
      frames.add(id)
    }
    client.isRefusalReported = false
    requests.programLeft(client)
    device.drain()
  }

  // MARK: - Leaving

  /// A client takes nothing more: its backlog is dropped, so that the end of its input is noticed. By frames it gets no reply any more,
  /// so its requests are dropped, too.
  private func wasClosed(_ id: HubClient.ID) {
    guard let client = all[id] else { return }
    client.backlog.removeAll()
    requests.work(client)
    if frames != nil || client.intake.hasInputEnded { remove(client) }
    device.drain()
  }

  /// A client has ended its input. If it has closed the connection, too, it gets no reply any more, and is removed. The kernel reports
  /// that for a Unix socket. For a TCP connection it doesn't, but it can be asked if the other end is on this machine. Returns whether
  /// the client is gone.
  func removeIfGone(_ client: HubClient) -> Bool {
    guard frames != nil, client.connection?.enter({ $0.hasLocalPeerLeft }) == true else { return false }
    remove(client)
    return true
  }

  func dismiss(_ client: HubClient, _ reason: String?) {
    guard !client.isLeaving, all[client.id] != nil else { return }
    if client.isReported { report(.left(client.name, reason: reason)) }
    client.isLeaving = true
    release(client)
    guard !client.backlog.isEmpty else { return remove(client) }
    after(Self.leavePatience) { [id = client.id] in if let client = $0.clients[id] { $0.clients.remove(client) } }
  }

  /// Drops the client's requests, its right to be the only writer, and its use of the line.
  private func release(_ client: HubClient) {
    requests.drop(client)
    frames?.forget(client.id)
    leaveLine(client)
  }

  /// A client no longer uses the line. The terminals of an endpoint use it as one.
  private func leaveLine(_ client: HubClient) {
    let heir = client.terminal.flatMap { _ in all.values.first { $0.isListening && $0.isTerminal(besides: client) } }
    line.left(by: client.id, heir: heir?.id)
    if heir != nil { terminals.follow(client) }
  }

  /// Holds the device's bytes and replies back from the terminal that is this client. What waits is sent when a program has it open and
  /// `isHeld` is false.
  func hold(_ id: HubClient.ID, _ isHeld: Bool) {
    guard let client = all[id], isHeld || client.isListening else { return }
    client.backlog.isHeld = isHeld
    delivery.hasSpace(client)
  }

  func remove(_ client: HubClient) {
    guard all.removeValue(forKey: client.id) != nil else { return }
    if !client.isLeaving, client.isReported { report(.left(client.name, reason: nil)) }
    release(client)
    client.transport.beginClose()
    client.onLeave?()
    giveBackMemory()
    device.drain()
  }

  /// Disconnects all clients, dropping their queued bytes, when the hub is closed.
  func close() {
    isClosed = true
    for client in all.values {
      client.isLeaving = true
      remove(client)
    }
  }

  /// Gives the memory of clients that have left back to the system, a little later and once for many clients.
  private func giveBackMemory() {
    guard memoryTimer == nil, !isClosed else { return }
    memoryTimer = hub.io.schedule(at: hub.io.now + Self.memoryDelay) { [weak hub = hub] in
      hub?.onThread { $0.clients.memoryTimer = nil }
      Memory.giveBack()
    }
  }
}
