// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Clients that come and leave.
extension SharingHub {
  /// The number of clients.
  public var clientCount: Int { clients.count }

  /// Adds a client with its transport, which the hub takes over. `name` appears in reports. Returns the client's number.
  @discardableResult
  func join(
    _ transport: any Transport, name: String, kind: HubClientKind, isListening: Bool = true, allowsWrites: Bool = true,
    onLeave: (@Sendable () -> Void)? = nil
  ) -> HubClient.ID {
    let id = nextID
    nextID += 1
    guard !isClosed else {
      transport.beginClose()
      return id
    }
    let client = HubClient(id, name: name, transport, kind: kind, allowsWrites: allowsWrites)
    client.isListening = isListening
    client.isReported = isListening
    client.onLeave = onLeave
    clients[id] = client
    addToFrames(id)
    if client.isReported { report(.joined(name)) }
    follow(client)
    greet(client)
    transport.output.onSpace { [weak self] in self?.onThread { $0.hasSpace(id) } }
    transport.output.onClosed { [weak self] _ in self?.onThread { $0.clientClosed(id) } }
    transport.input.onReadableOnIOThread { [weak self] in self?.onThread { $0.read(id) } }
    // The hub may have stopped reading from the device for its only client. Now there are two.
    resumeDevice()
    return id
  }

  /// A client takes nothing more: its backlog is dropped, so that the end of its input is noticed. By frames it gets no reply any more,
  /// so its requests are dropped, too.
  private func clientClosed(_ id: HubClient.ID) {
    guard let client = clients[id] else { return }
    client.backlog.removeAll()
    work(client)
    if frames != nil || client.hasInputEnded { remove(client) }
    resumeDevice()
  }

  /// A client has ended its input. If it has closed the connection, too, it gets no reply any more. The kernel tells this of a Unix
  /// socket. Of a TCP connection it doesn't, but the other end can be looked up if it is on this machine.
  /// It is looked up less and less often, since each look reads the list of all connections.
  func dismissIfGone(_ client: HubClient, since end: MonotonicTime) {
    guard frames != nil, client.nextLook <= clock.now, let transport = client.transport as? DescriptorTransport else {
      return
    }
    client.nextLook = clock.now + (clock.now - end)
    let id = client.id
    Task { [weak self] in
      if await transport.hasLocalPeerLeft() { await self?.removeGone(id) }
    }
  }

  private func removeGone(_ id: HubClient.ID) { if let client = clients[id] { remove(client) } }

  /// Adds a client of an endpoint. With `newestWins` it replaces the connected one; otherwise it is refused when the
  /// limit is reached. Returns the client's number, or nil if it was refused.
  @discardableResult
  func welcome(_ transport: any Transport, name: String, kind: HubClientKind, at endpoint: EndpointLimit) -> HubClient
    .ID?
  {
    let others = clients.values.filter { $0.endpoint == endpoint.id && !$0.isLeaving }
    if endpoint.newestWins {
      for other in others { dismiss(other, "\(name) took its place") }
    } else if others.count >= endpoint.maximum, !makeRoom(for: transport, among: others) {
      transport.beginClose()
      report(.refused(name, reason: "\(others.count) clients are there, and no more are allowed"))
      return nil
    }
    let id = join(transport, name: name, kind: kind)
    clients[id]?.endpoint = endpoint.id
    return id
  }

  /// Disconnects a client of the address that has the most, if the newcomer's has clearly fewer.
  private func makeRoom(for transport: any Transport, among others: [HubClient]) -> Bool {
    let places = others.lazy.map { (id: $0.id, origin: FairPlaces.Origin($0.transport.peer)) }
    guard let id = FairPlaces.yielding(to: FairPlaces.Origin(transport.peer), among: places), let last = clients[id]
    else {
      return false
    }
    last.backlog.removeAll()
    dismiss(last, "all \(others.count) places are taken, most of them by its address, and another address has come")
    return true
  }

  /// Starts or stops sending the device's bytes to a client. Stopping drops the client's backlog, and the client is no
  /// longer the only writer.
  func setListening(_ id: HubClient.ID, _ isListening: Bool) {
    guard let client = clients[id], client.isListening != isListening else { return }
    client.isListening = isListening
    client.isReported = isListening
    report(isListening ? .joined(client.name) : .left(client.name, reason: nil))
    guard !isListening else {
      watchSettings(of: id)
      return resumeDevice()
    }
    lineLeft(by: id)
    client.backlog.removeAll()
    forgetFrames(of: id, isBack: true)
    client.isRefusalReported = false
    if writer == id { writer = nil }
    // Requests of the program before no longer wait for their turns.
    if frames != nil, client.isWaitingForDevice, !waiting.contains(id) {
      client.isWaitingForDevice = false
      work(client)
    }
    resumeDevice()
  }

  /// Disconnects a client. Its backlog is sent first, for up to `leavePatience`.
  func dismiss(_ id: HubClient.ID, _ reason: String) { if let client = clients[id] { dismiss(client, reason) } }

  func dismiss(_ client: HubClient, _ reason: String?) {
    guard !client.isLeaving, clients[client.id] != nil else { return }
    if client.isReported { report(.left(client.name, reason: reason)) }
    client.isLeaving = true
    release(client)
    guard !client.backlog.isEmpty else { return remove(client) }
    _ = clock.schedule(at: clock.now + Self.leavePatience) { [weak self, id = client.id] in
      self?.onThread { hub in if let client = hub.clients[id] { hub.remove(client) } }
    }
  }

  /// Drops the client's requests, its right to be the only writer, and its use of the line.
  private func release(_ client: HubClient) {
    client.actions.removeAll()
    waiting.removeAll { $0 == client.id }
    if writer == client.id { writer = nil }
    forgetFrames(of: client.id, isBack: false)
    lineLeft(by: client.id)
  }

  func remove(_ client: HubClient) {
    guard clients.removeValue(forKey: client.id) != nil else { return }
    if !client.isLeaving, client.isReported { report(.left(client.name, reason: nil)) }
    release(client)
    client.transport.beginClose()
    client.onLeave?()
    giveBackMemory()
    resumeDevice()
  }

  /// Gives the memory of clients that have left back to the system, a little later and once for many clients.
  private func giveBackMemory() {
    guard memoryTimer == nil, !isClosed else { return }
    memoryTimer = io.schedule(at: io.now + Self.memoryDelay) { [weak self] in
      self?.onThread { $0.memoryTimer = nil }
      Memory.giveBack()
    }
  }
}
