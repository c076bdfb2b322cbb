// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// How long bytes that may begin a browser's request are held back.
private let guardPatience = Duration.milliseconds(250)

/// Receiving and carrying out the clients' requests.
extension SharingHub {
  func read(_ id: HubClient.ID) { if let client = clients[id] { work(client) } }

  /// Carries out a client's requests, until there are no more, or one has to wait.
  func work(_ client: HubClient) {
    // A telnet client that doesn't read its replies gets no further request carried out. While it has suspended the data, its request
    // to resume must still be read.
    let limit = rules.bufferSize * (client.telnet?.isSuspended == true ? 2 : 1)
    while client.telnet == nil || client.backlog.count < limit, !client.isBusy, !client.isWaitingForDevice,
      !client.isLeaving, clients[client.id] != nil
    {
      if let action = client.actions.first {
        guard perform(action, of: client) else { return }
        if !client.actions.isEmpty { client.actions.removeFirst() }
        continue
      }
      guard !client.hasInputEnded else { return }
      switch client.transport.input.take(into: &client.buffer) {
      case .nothing: return
      case .bytes: take(client.buffer, of: client)
      case .end(let error): inputEnded(client, error)
      }
    }
  }

  /// Converts received bytes to requests.
  private func take(_ bytes: [UInt8], of client: HubClient) {
    guard var guardian = client.guardian else { return interpret(bytes, of: client) }
    let verdict = guardian.take(bytes)
    client.guardian = guardian
    switch verdict {
    case .pass(let all):
      client.guardian = nil
      interpret(all, of: client)
    case .refuse:
      report(.refused(client.name, reason: "it began as a web browser does"))
      client.isLeaving = true
      remove(client)
    case .hold:
      _ = clock.schedule(at: clock.now + guardPatience) { [weak self, id = client.id] in
        self?.onThread { $0.passHeld(id) }
      }
    }
  }

  private func interpret(_ bytes: [UInt8], of client: HubClient) {
    guard client.telnet == nil else { return takeTelnet(bytes, of: client) }
    lookAtSettings(of: client)
    client.actions.append(.send(bytes))
  }

  private func passHeld(_ id: HubClient.ID) {
    guard let client = clients[id], let held = client.guardian?.giveUp(), !held.isEmpty else { return }
    client.guardian = nil
    interpret(held, of: client)
    work(client)
  }

  /// Carries out a request. Returns false when the request must wait; `work` is called again later.
  private func perform(_ action: ClientAction, of client: HubClient) -> Bool {
    switch action {
    case .send(let bytes):
      guard mayWrite(client) else { return true }
      guard device != nil || !hasHadDevice else { return true }
      if waitsForReset(client) { return false }
      if frames != nil { return sendFrames(bytes, of: client) }
      // While other clients wait for the device, this client goes to the end of their queue.
      if waiting.isEmpty, isDeviceReady, let device, offer(bytes, to: device) { return true }
      client.isWaitingForDevice = true
      waiting.append(client.id)
      return false
    case .line(let request):
      // `isBusy` makes the next requests wait; this one is removed from the queue here.
      if mayChange(client) { begin(request, of: client) }
      return true
    case .port(let message):
      _ = answer(message, of: client)
      return true
    }
  }

  /// Offers bytes to the device's queue. Returns false when there is no room for them.
  func offer(_ bytes: [UInt8], to transport: any Transport) -> Bool {
    if transport.output.offer(bytes) == .full { return false }
    if transport.line != nil { lineBusyUntil = max(lineBusyUntil, clock.now) + transport.timing.time(of: bytes.count) }
    return true
  }

  private func mayWrite(_ client: HubClient) -> Bool {
    switch writers {
    case .many: return true
    case .one:
      if writer == nil { writer = client.id }
      if writer == client.id { return true }
    case .none: break
    }
    if !client.isRefusalReported { report(.unheard(client.name)) }
    client.isRefusalReported = true
    return false
  }

  /// The device's queue has room again. The waiting clients get one turn each, in the order in which they began to wait.
  func deviceHasSpace(_ transport: any Transport) {
    guard frames == nil else { return resumeFrames(transport) }
    while device === transport, isDeviceReady, let id = waiting.first {
      // What a client sent before a device came that takes no bytes is discarded by `work`.
      guard writers != .none, let client = clients[id], case .send(let bytes)? = client.actions.first else {
        waiting.removeFirst()
        if let client = clients[id] {
          client.isWaitingForDevice = false
          work(client)
        }
        continue
      }
      guard offer(bytes, to: transport) else { return }
      waiting.removeFirst()
      client.actions.removeFirst()
      client.isWaitingForDevice = false
      work(client)
    }
  }

  /// The client sends no more. It stays connected until it is unlikely to receive more replies; see `SharingRules.linger`.
  private func inputEnded(_ client: HubClient, _ error: AccessoryError?) {
    client.hasInputEnded = true
    guard error == nil else { return remove(client) }
    if writer == client.id { writer = nil }
    passHeld(client.id)
    dismissIfGone(client, since: clock.now)
    linger(client.id, since: clock.now)
  }

  /// Disconnects a client that sends no more when `SharingRules.linger` has passed.
  func linger(_ id: HubClient.ID, since end: MonotonicTime) {
    guard let client = clients[id] else { return }
    // By frames, later frames from the device are for other clients.
    let due = (frames == nil ? max(lastArrival, end) : end) + rules.linger
    guard due <= clock.now else { return linger(id, since: end, until: due) }
    // A request of this client may still wait behind theirs.
    guard frames != nil else { return dismiss(client, nil) }
    dismissIfGone(client, since: end)
    dismissUnlessWaiting(client, since: end)
  }

  func lingerAgain(_ id: HubClient.ID, since end: MonotonicTime) {
    linger(id, since: end, until: clock.now + rules.linger)
  }

  private func linger(_ id: HubClient.ID, since end: MonotonicTime, until due: MonotonicTime) {
    _ = clock.schedule(at: due) { [weak self] in self?.onThread { $0.linger(id, since: end) } }
  }
}
