// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Sharing by frames. The router gets the clients' bytes and the device's bytes, and decides on its own queue what is sent to whom.
extension SharingHub {
  /// The shortest time for which the timer is set, so that a deadline in the past can't cause a busy loop.
  private static let shortestWait = Duration.milliseconds(1)

  /// The router's counts since the device was opened; nil when the device is shared by bytes.
  package var routingStatistics: RoutingStatistics? { frames?.statistics }

  /// Starts routing for a device that was just opened.
  func beginRouting(_ routing: FrameRouting) {
    let router = FrameRouter(routing, io: io, clock: clock) { [weak self] router, results in
      self?.enter { $0.carryOut(results, of: router) }
    }
    frames = FrameSharing(router)
    for id in clients.keys.sorted() { addToFrames(id) }
  }

  /// Ends routing when the device is gone. Unanswered requests get no reply.
  func endRouting() {
    guard let ended = frames else { return }
    frames = nil
    ended.router.stop()
    if let timer = ended.timer { clock.cancel(timer.token) }
    for (id, end) in ended.asked where !isClosed { linger(id, since: end) }
  }

  /// The device has ended. If the router still has bytes of the device, the end waits until their frames are delivered: then this
  /// returns true, and `deviceEnded` is called later.
  func endWaitsForFrames(_ error: AccessoryError?) -> Bool {
    guard let router = frames?.router, !router.isIdle else { return false }
    frames?.end = .some(error)
    router.post(.end)
    return true
  }

  // MARK: - Clients

  func addToFrames(_ id: HubClient.ID) {
    guard let client = clients[id], let number = frames?.add(id) else { return }
    post(.add(number, allowsWrites: client.allowsWrites))
  }

  /// Passes a client's bytes to the router. Returns false when they must wait for the device.
  func sendFrames(_ bytes: [UInt8], of client: HubClient) -> Bool {
    guard isDeviceReady else {
      client.isWaitingForDevice = true
      waiting.append(client.id)
      return false
    }
    guard let number = frames?.number(of: client.id) else { return true }
    post(.take(bytes, from: number))
    // `carryOut` continues when the router has decoded bytes.
    if frames?.posted(bytes.count, from: number) == false { client.isWaitingForDevice = true }
    return true
  }

  /// Drops the requests of a client that has left. With `isBack` true the client is added again without its old requests, for the next
  /// program that opens the same terminal.
  func forgetFrames(of id: HubClient.ID, isBack: Bool) {
    guard let number = frames?.remove(id) else { return }
    post(.remove(number))
    if isBack { addToFrames(id) }
  }

  /// Disconnects a client that sends no more, unless it waits for a reply.
  func dismissUnlessWaiting(_ client: HubClient, since end: MonotonicTime) {
    guard let number = frames?.number(of: client.id) else { return dismiss(client, nil) }
    frames?.asked[client.id] = end
    post(.ask(number))
  }

  // MARK: - The device

  /// Passes bytes from the device to the router.
  func receiveFrames(_ bytes: [UInt8], messages: [Int]?) {
    frames?.postedOfDevice(bytes.count)
    post(.receive(bytes, messages: messages))
  }

  /// The device's queue has room again: sends the queued messages, and continues the waiting clients.
  func resumeFrames(_ transport: any Transport) {
    guard device === transport, isDeviceReady else { return }
    sendPending(to: transport)
    let all = waiting
    waiting = []
    for id in all {
      guard let client = clients[id] else { continue }
      client.isWaitingForDevice = false
      work(client)
    }
  }

  private func sendPending(to transport: any Transport) {
    var count = 0
    // Each message is removed before it is offered, because a device that takes it at once causes a nested call of this method.
    while isDeviceReady, let message = frames?.pending.popFirst() {
      guard offer(message, to: transport) else {
        frames?.pending.prepend(message)
        break
      }
      count += message.count
    }
    frames?.router.sent(count, isBlocked: !isDeviceReady || frames?.pending.isEmpty == false)
  }

  // MARK: - The router

  private func post(_ input: FrameRouter.Input) {
    guard let timing = device?.timing, let router = frames?.router else { return }
    if frames?.follow(timing) == true { router.post(.timing(timing)) }
    router.post(input)
  }

  /// Carries out the router's results, unless they are of a device that is gone.
  private func carryOut(_ results: FrameRouter.Results, of router: FrameRouter) {
    guard let device, frames?.router === router else { return }
    frames?.pending.append(contentsOf: results.messages)
    frames?.statistics = results.statistics
    if !results.messages.isEmpty { sendPending(to: device) }
    for (number, bytes) in results.deliveries { deliver(bytes, to: number) }
    for news in results.news { report(news) }
    arm(results.deadline)
    for (number, isWaiting) in results.waitingClients { answered(number, isWaiting) }
    resume(results.clientCounts)
    frames?.decodedOfDevice(results.deviceCount)
    router.finished(results.inputCount)
    if results.hasEnded, let end = frames?.end { return deviceEnded(end) }
    if results.deviceCount > 0 { drain(device) }
    passTimeThatIsDue()
  }

  private func deliver(_ bytes: [UInt8], to number: Int?) {
    guard let number else { return deliver(bytes) }
    // A client that made a request gets the reply even if `isListening` is still false: a terminal may report late that it was opened.
    guard let id = frames?.client(number), let client = clients[id], !client.isLeaving else { return }
    pass(client.telnet == nil ? bytes : Telnet.escaped(bytes), to: client)
  }

  private func report(_ news: RoutingNews) {
    switch news {
    case .noFrame(let number): if let client = self.client(number) { report(.notAFrame(client.name)) }
    case .noContact(let reason): report(SharingNews.noContact(reason))
    case .refused(let number, let reason):
      guard let client = self.client(number), client.refusal != reason else { return }
      client.refusal = reason
      report(.frameRefused(client.name, reason: reason))
    }
  }

  private func client(_ number: Int) -> HubClient? { frames?.client(number).flatMap { clients[$0] } }

  private func answered(_ number: Int, _ isWaiting: Bool) {
    guard let client = self.client(number), let end = frames?.asked.removeValue(forKey: client.id) else { return }
    if isWaiting { lingerAgain(client.id, since: end) } else { dismiss(client, nil) }
  }

  /// Continues the requests of clients whose bytes were decoded.
  private func resume(_ counts: [(client: Int, count: Int)]) {
    for (number, count) in counts {
      frames?.decoded(count, from: number)
      guard frames?.mayTake(from: number) == true, let client = self.client(number), client.isWaitingForDevice,
        !waiting.contains(client.id)
      else { continue }
      client.isWaitingForDevice = false
      work(client)
    }
  }

  // MARK: - Time

  private func arm(_ deadline: MonotonicTime?) {
    guard let next = deadline, frames?.isTimeDue == false else { return }
    if let timer = frames?.timer {
      if timer.deadline <= next { return }
      clock.cancel(timer.token)
    }
    let due = max(next, clock.now + Self.shortestWait)
    let token = clock.schedule(at: due) { [weak self] in self?.onThread { $0.timeIsOver(due) } }
    frames?.timer = (due, token)
  }

  private func timeIsOver(_ due: MonotonicTime) {
    guard frames?.timer?.deadline == due else { return }
    frames?.timer = nil
    frames?.isTimeDue = true
    passTimeThatIsDue()
  }

  private func passTimeThatIsDue() {
    guard frames?.isTimeDue == true, frames?.mayTakeFromDevice == true else { return }
    frames?.isTimeDue = false
    post(.timePassed(clock.now))
  }
}
