// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// How long bytes that may begin a browser's request are held back.
private let guardPatience = Duration.milliseconds(250)

/// Receiving and carrying out the clients' requests.
extension SharingHub {
  func read(_ id: Sharer.ID) { if let sharer = sharers[id] { work(sharer) } }

  /// Carries out a client's requests, until there are no more, or one has to wait.
  func work(_ sharer: Sharer) {
    // A telnet client that doesn't read its replies gets no further request carried out. While it has suspended the data, its request
    // to resume must still be read.
    let limit = rules.bufferSize * (sharer.telnet?.isSuspended == true ? 2 : 1)
    while sharer.telnet == nil || sharer.backlog.count < limit, !sharer.isBusy, !sharer.isWaitingForDevice,
      !sharer.isLeaving, sharers[sharer.id] != nil
    {
      if let deed = sharer.deeds.first {
        guard perform(deed, of: sharer) else { return }
        if !sharer.deeds.isEmpty { sharer.deeds.removeFirst() }
        continue
      }
      guard !sharer.hasInputEnded else { return }
      switch sharer.transport.input.take(into: &sharer.buffer) {
      case .nothing: return
      case .bytes: take(sharer.buffer, of: sharer)
      case .end(let error): inputEnded(sharer, error)
      }
    }
  }

  /// Converts received bytes to requests.
  private func take(_ bytes: [UInt8], of sharer: Sharer) {
    guard var guardian = sharer.guardian else { return interpret(bytes, of: sharer) }
    let verdict = guardian.take(bytes)
    sharer.guardian = guardian
    switch verdict {
    case .pass(let all):
      sharer.guardian = nil
      interpret(all, of: sharer)
    case .refuse:
      tell(.refused(sharer.name, reason: "it began as a web browser does"))
      sharer.isLeaving = true
      remove(sharer)
    case .hold:
      _ = clock.schedule(at: clock.now + guardPatience) { [weak self, id = sharer.id] in
        self?.onThread { $0.passHeld(id) }
      }
    }
  }

  private func interpret(_ bytes: [UInt8], of sharer: Sharer) {
    guard sharer.telnet == nil else { return takeTelnet(bytes, of: sharer) }
    lookAtSettings(of: sharer)
    sharer.deeds.append(.send(bytes))
  }

  private func passHeld(_ id: Sharer.ID) {
    guard let sharer = sharers[id], let held = sharer.guardian?.giveUp(), !held.isEmpty else { return }
    sharer.guardian = nil
    interpret(held, of: sharer)
    work(sharer)
  }

  /// Carries out a request. Returns false when the request must wait; `work` is called again later.
  private func perform(_ deed: SharerDeed, of sharer: Sharer) -> Bool {
    switch deed {
    case .send(let bytes):
      guard mayWrite(sharer) else { return true }
      guard device != nil || !hasHadDevice else { return true }
      if waitsForReset(sharer) { return false }
      if frames != nil { return sendFrames(bytes, of: sharer) }
      // While other clients wait for the device, this client goes to the end of their queue.
      if waiting.isEmpty, isDeviceReady, let device, offer(bytes, to: device) { return true }
      sharer.isWaitingForDevice = true
      waiting.append(sharer.id)
      return false
    case .line(let request):
      // `isBusy` makes the next requests wait; this one is removed from the queue here.
      if mayChange(sharer) { begin(request, of: sharer) }
      return true
    case .port(let message):
      _ = answer(message, of: sharer)
      return true
    }
  }

  /// Offers bytes to the device's queue. Returns false when there is no room for them.
  func offer(_ bytes: [UInt8], to transport: any Transport) -> Bool {
    if transport.output.offer(bytes) == .full { return false }
    if transport.line != nil { lineBusyUntil = max(lineBusyUntil, clock.now) + transport.timing.time(of: bytes.count) }
    return true
  }

  private func mayWrite(_ sharer: Sharer) -> Bool {
    switch rules.writers {
    case .many: return true
    case .one:
      if writer == nil { writer = sharer.id }
      if writer == sharer.id { return true }
    case .none: break
    }
    if !sharer.isUnheard { tell(.unheard(sharer.name)) }
    sharer.isUnheard = true
    return false
  }

  /// The device's queue has room again. The waiting clients get one turn each, in the order in which they began to wait.
  func deviceHasSpace(_ transport: any Transport) {
    guard frames == nil else { return resumeFrames(transport) }
    while device === transport, isDeviceReady, let id = waiting.first {
      guard let sharer = sharers[id], case .send(let bytes)? = sharer.deeds.first else {
        waiting.removeFirst()
        if let sharer = sharers[id] {
          sharer.isWaitingForDevice = false
          work(sharer)
        }
        continue
      }
      guard offer(bytes, to: transport) else { return }
      waiting.removeFirst()
      sharer.deeds.removeFirst()
      sharer.isWaitingForDevice = false
      work(sharer)
    }
  }

  /// The client sends no more. It stays connected until it is unlikely to receive more replies; see `SharingRules.linger`.
  private func inputEnded(_ sharer: Sharer, _ error: AccessoryError?) {
    sharer.hasInputEnded = true
    guard error == nil else { return remove(sharer) }
    if writer == sharer.id { writer = nil }
    passHeld(sharer.id)
    linger(sharer.id, since: clock.now)
  }

  /// Disconnects a client that sends no more when `SharingRules.linger` has passed.
  func linger(_ id: Sharer.ID, since end: MonotonicTime) {
    guard let sharer = sharers[id] else { return }
    // By frames, later frames from the device are for other clients.
    let due = (frames == nil ? max(lastArrival, end) : end) + rules.linger
    guard due <= clock.now else { return linger(id, since: end, until: due) }
    // A request of this client may still wait behind theirs.
    if frames != nil { dismissUnlessOwed(sharer, since: end) } else { dismiss(sharer, nil) }
  }

  func lingerAgain(_ id: Sharer.ID, since end: MonotonicTime) {
    linger(id, since: end, until: clock.now + rules.linger)
  }

  private func linger(_ id: Sharer.ID, since end: MonotonicTime, until due: MonotonicTime) {
    _ = clock.schedule(at: due) { [weak self] in self?.onThread { $0.linger(id, since: end) } }
  }
}
