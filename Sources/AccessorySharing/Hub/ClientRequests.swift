// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Takes the clients' bytes and performs their requests. Decides which client may write, and whose turn it is.
final class ClientRequests: HubPart {
  /// The clients whose bytes the device's queue had no room for, in the order of their turns.
  private(set) var waiting: [HubClient.ID] = []
  /// The client that may write, if the rules allow one writer.
  private var writer: HubClient.ID?

  /// How long bytes that may begin a browser's request are held back.
  private static let guardPatience = Duration.milliseconds(250)

  /// Whose bytes are sent to the device that is attached now.
  private var writers: SharingRules.Writers { device.attached?.isReadOnly == true ? .none : rules.writers }

  /// Carries out a client's requests, until there are no more, or one has to wait.
  func work(_ client: HubClient) {
    // A telnet client that doesn't read its replies gets no further request carried out. While it has suspended the data, its request
    // to resume must still be read.
    let limit = rules.bufferSize * (client.telnet?.isSuspended == true ? 2 : 1)
    while client.telnet == nil || client.backlog.count < limit, !client.intake.isBusy,
      !client.intake.isWaitingForDevice,
      !client.isLeaving, clients[client.id] != nil
    {
      if let action = client.intake.actions.first {
        guard perform(action, of: client) else { return }
        if !client.intake.actions.isEmpty { client.intake.actions.removeFirst() }
        continue
      }
      guard !client.intake.hasInputEnded else { return }
      switch client.transport.input.take(into: &client.intake.buffer) {
      case .nothing: return
      case .bytes: take(client.intake.buffer, of: client)
      case .end(let error): inputEnded(client, error)
      }
    }
  }

  // MARK: - Bytes

  /// Converts received bytes to requests.
  private func take(_ bytes: [UInt8], of client: HubClient) {
    guard var guardian = client.intake.guardian else { return interpret(bytes, of: client) }
    let verdict = guardian.take(bytes)
    client.intake.guardian = guardian
    switch verdict {
    case .pass(let all):
      client.intake.guardian = nil
      interpret(all, of: client)
    case .refuse:
      report(.refused(client.name, reason: "it sent what a web browser sends"))
      client.isLeaving = true
      clients.remove(client)
    case .hold:
      after(Self.guardPatience) { [id = client.id] in
        if let client = $0.clients[id] { $0.requests.passHeld(client) }
      }
    }
  }

  private func interpret(_ bytes: [UInt8], of client: HubClient) {
    guard client.telnet == nil else { return telnet.take(bytes, of: client) }
    terminals.look(at: client)
    client.intake.actions.append(.send(bytes))
  }

  private func passHeld(_ client: HubClient) {
    guard let held = client.intake.guardian?.giveUp(), !held.isEmpty else { return }
    client.intake.guardian = nil
    interpret(held, of: client)
    work(client)
  }

  // MARK: - Requests

  /// Carries out a request. Returns false when the request must wait; `work` is called again later.
  private func perform(_ action: ClientAction, of client: HubClient) -> Bool {
    switch action {
    case .send(let bytes):
      guard mayWrite(client) else { return true }
      guard device.attached != nil || !device.hasHadDevice else { return true }
      if resets.delay(client) { return false }
      let attached = device.attached
      if let attached, attached.isReady, let frames = attached.frames {
        // The router continues the client when it has decoded bytes.
        if !frames.take(bytes, from: client) { client.intake.isWaitingForDevice = true }
        return true
      }
      // While other clients wait for the device, this client goes to the end of their queue.
      if let attached, attached.isReady, waiting.isEmpty, attached.offer(bytes, now: clock.now) { return true }
      client.intake.isWaitingForDevice = true
      waiting.append(client.id)
      return false
    case .line(let request):
      // `isBusy` makes the next requests wait; this one is removed from the queue here.
      if mayChange(client) { line.begin(request, of: client) }
      return true
    case .port(let message):
      telnet.answer(message, of: client)
      return true
    }
  }

  private func mayWrite(_ client: HubClient) -> Bool {
    if writers == .one, writer == nil { writer = client.id }
    if mayChange(client) { return true }
    if !client.isRefusalReported { report(.unheard(client.name)) }
    client.isRefusalReported = true
    return false
  }

  /// Whether a client may change the line's settings: like writing, but without making the client the only writer.
  func mayChange(_ client: HubClient) -> Bool {
    switch writers {
    case .many: true
    case .one: writer == nil || writer == client.id
    case .none: false
    }
  }

  // MARK: - Turns

  /// The device's queue has room again. The waiting clients get one turn each, in the order in which they began to wait.
  func deviceHasSpace(_ transport: any Transport) {
    guard let attached = device.attached(transport), attached.isReady else { return }
    guard let frames = attached.frames else { return takeTurns(attached) }
    frames.sendPending()
    let all = waiting
    waiting = []
    for id in all { if let client = clients[id] { resume(client) } }
  }

  private func takeTurns(_ attached: AttachedDevice) {
    while device.attached === attached, let id = waiting.first {
      // If the new device accepts no bytes, `work` discards the client's earlier bytes.
      let client = clients[id]
      if writers != .none, case .send(let bytes)? = client?.intake.actions.first {
        guard attached.offer(bytes, now: clock.now) else { return }
        client?.intake.actions.removeFirst()
      }
      waiting.removeFirst()
      if let client { resume(client) }
    }
  }

  /// Continues a client that has waited for the device.
  func resume(_ client: HubClient) {
    client.intake.isWaitingForDevice = false
    work(client)
  }

  /// Continues a client that has waited for the router to decode its bytes.
  func routerHasRoom(for client: HubClient) {
    if client.intake.isWaitingForDevice, !waiting.contains(client.id) { resume(client) }
  }

  /// The program that had a terminal open has closed it: the requests of the next one don't wait for the router to decode its bytes.
  func programLeft(_ client: HubClient) {
    if writer == client.id { writer = nil }
    if frames != nil { routerHasRoom(for: client) }
  }

  /// The device is gone, so no client waits for room any more.
  func deviceIsGone() { waiting = [] }

  /// Drops the requests of a client that is leaving.
  func drop(_ client: HubClient) {
    client.intake.actions.removeAll()
    waiting.removeAll { $0 == client.id }
    if writer == client.id { writer = nil }
  }

  // MARK: - The end of the input

  /// The client sends no more. It stays connected until it is unlikely to receive more replies; see `SharingRules.linger`.
  private func inputEnded(_ client: HubClient, _ error: AccessoryError?) {
    client.intake.hasInputEnded = true
    guard error == nil else { return clients.remove(client) }
    if writer == client.id { writer = nil }
    passHeld(client)
    if !clients.removeIfGone(client) { linger(client.id, since: clock.now) }
  }

  /// Disconnects a client that sends no more when `SharingRules.linger` has passed.
  func linger(_ id: HubClient.ID, since end: MonotonicTime) {
    guard let client = clients[id] else { return }
    // By frames, later frames from the device are for other clients.
    let due = (frames == nil ? max(device.lastArrival, end) : end) + rules.linger
    guard due <= clock.now else { return linger(id, since: end, until: due) }
    // A request of this client may still wait behind theirs.
    guard let frames else { return clients.dismiss(client, nil) }
    if !clients.removeIfGone(client) { frames.dismissUnlessWaiting(client, since: end) }
  }

  func linger(_ id: HubClient.ID, since end: MonotonicTime, until due: MonotonicTime) {
    at(due) { $0.requests.linger(id, since: end) }
  }
}
