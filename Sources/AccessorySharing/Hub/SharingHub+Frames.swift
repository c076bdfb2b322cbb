// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Sharing by frames. The router gets the clients' bytes and the device's bytes, and decides what is sent to whom.
extension SharingHub {
  /// The shortest time for which the timer is set, so that a deadline in the past can't cause a busy loop.
  private static let shortestWait = Duration.milliseconds(1)

  /// The router's counts since the device was opened; nil when the device is shared by bytes.
  package var routingStatistics: RoutingStatistics? { router?.rules.statistics }

  /// Starts routing for a device that was just opened.
  func beginRouting(_ routing: FrameRouting, _ transport: any Transport) {
    router = FrameRouter(routing, transport.timing)
    for id in sharers.keys.sorted() { router?.rules.add(id) }
  }

  /// Ends routing when the device is gone. Unanswered requests get no reply.
  func endRouting() {
    if let timer = router?.timer { clock.cancel(timer.token) }
    router = nil
  }

  /// Passes a client's bytes to the router. Returns false when they must wait for the device.
  func sendFrames(_ bytes: [UInt8], of sharer: Sharer) -> Bool {
    guard isDeviceReady else {
      sharer.isWaitingForDevice = true
      waiting.append(sharer.id)
      return false
    }
    route { $0.take(bytes, from: sharer.id, now: $1, effects: &$2) }
    // The queue of requests is full. `resume` continues when there is room.
    if router?.rules.mayTake(from: sharer.id) == false { sharer.isWaitingForDevice = true }
    return true
  }

  /// Passes bytes from the device to the router.
  func receiveFrames(_ bytes: [UInt8], messages: [Int]?) {
    route { $0.receive(bytes, messages: messages, now: $1, effects: &$2) }
  }

  /// The device's queue has room again: sends the queued messages, and continues the waiting clients.
  func resumeFrames(_ transport: any Transport) {
    guard device === transport, isDeviceReady else { return }
    sendPending(to: transport)
    if router?.pending.isEmpty == true { route { $0.timePassed(now: $1, effects: &$2) } }
    let all = waiting
    waiting = []
    for id in all {
      guard let sharer = sharers[id] else { continue }
      sharer.isWaitingForDevice = false
      work(sharer)
    }
  }

  /// Drops the requests of a client that has left. With `isBack` true the client is added again without its old requests, for the next
  /// program that opens the same terminal.
  func forgetFrames(of id: Sharer.ID, isBack: Bool) {
    guard router != nil else { return }
    route { $0.remove(id, now: $1, effects: &$2) }
    if isBack { router?.rules.add(id) }
  }

  // MARK: - Calling the router

  private func route(_ body: (inout any Routing, MonotonicTime, inout RoutingEffects) -> Void) {
    guard router != nil, let device else { return }
    router?.follow(device.timing)
    var effects = RoutingEffects(isBlocked: router?.pending.isEmpty == false || !isDeviceReady)
    if router != nil { body(&router!.rules, clock.now, &effects) }
    router?.pending.append(contentsOf: effects.messages)
    sendPending(to: device)
    for (client, bytes) in effects.deliveries { deliver(bytes, to: client) }
    for news in effects.news { report(news) }
    arm()
    resume(effects.resumed)
  }

  private func sendPending(to transport: any Transport) {
    // Each message is removed before it is offered, because a device that replies at once causes a nested call of this method.
    while isDeviceReady, let message = router?.pending.popFirst() {
      guard !offer(message, to: transport) else { continue }
      router?.pending.prepend(message)
      return
    }
  }

  private func deliver(_ bytes: [UInt8], to client: Sharer.ID?) {
    guard let client else { return deliver(bytes) }
    // A client that made a request gets the reply even if `isListening` is still false: a terminal may report late that it was opened.
    guard let sharer = sharers[client], !sharer.isLeaving else { return }
    pass(sharer.telnet == nil ? bytes : Telnet.escaped(bytes), to: sharer)
  }

  private func report(_ news: RoutingNews) {
    switch news {
    case .noFrame(let client): if let sharer = sharers[client] { tell(.notAFrame(sharer.name)) }
    case .noContact(let reason): tell(SharingNews.noContact(reason))
    case .refused(let client, let reason):
      guard let sharer = sharers[client], sharer.refusal != reason else { return }
      sharer.refusal = reason
      tell(.frameRefused(sharer.name, reason: reason))
    }
  }

  /// Continues the requests of clients that had to wait for the router.
  private func resume(_ clients: [Sharer.ID]) {
    router?.resumed += clients
    // `work` may call this method again. A nested call only adds to `resumed`, so the depth of calls stays bounded.
    guard router?.isResuming == false else { return }
    router?.isResuming = true
    while let id = router?.resumed.popLast() {
      guard let sharer = sharers[id], sharer.isWaitingForDevice, !waiting.contains(id) else { continue }
      sharer.isWaitingForDevice = false
      work(sharer)
    }
    router?.isResuming = false
  }

  private func arm() {
    guard let next = router?.rules.deadline else { return }
    if let timer = router?.timer {
      if timer.deadline <= next { return }
      clock.cancel(timer.token)
    }
    let due = max(next, clock.now + Self.shortestWait)
    let token = clock.schedule(at: due) { [weak self] in self?.onThread { $0.timeIsOver(due) } }
    router?.timer = (due, token)
  }

  private func timeIsOver(_ due: MonotonicTime) {
    guard router?.timer?.deadline == due else { return }
    router?.timer = nil
    route { $0.timePassed(now: $1, effects: &$2) }
  }
}
