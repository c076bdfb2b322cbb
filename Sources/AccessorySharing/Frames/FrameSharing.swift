// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import DequeModule

/// The sharing of one attached device by frames. The router gets the clients' bytes and the device's bytes, and decides on its own queue
/// what is sent to whom.
///
/// The router knows clients by numbers. A number is never used again, not even when the next program opens the same terminal, so results
/// for a client that is gone reach nobody else.
final class FrameSharing: HubPart {
  private struct Client {
    var id: HubClient.ID
    /// The number of bytes that were posted to the router and aren't decoded.
    var inFlight = 0
  }

  /// While this many bytes of a client are in the router, the client isn't read.
  static let clientLimit = 16_384
  /// While this many bytes of the device are in the router, the device isn't read.
  static let deviceLimit = 65_536
  /// The shortest time for which the timer is set, so that a deadline in the past can't cause a busy loop.
  private static let shortestWait = Duration.milliseconds(1)

  let router: FrameRouter
  /// The rules' counts, up to the results that were carried out last.
  private(set) var statistics = RoutingStatistics()
  /// Clients that have ended their input, with the time of that, until the router reports whether they wait for a
  /// reply.
  private(set) var asked: [HubClient.ID: MonotonicTime] = [:]
  /// Messages for which the device's queue had no room.
  private(set) var pending: Deque<[UInt8]> = []

  private unowned let attached: AttachedDevice
  private var clientNumbers: [HubClient.ID: Int] = [:]
  private var numbered: [Int: Client] = [:]
  private var lastNumber = 0
  private var deviceInFlight = 0
  private var timing: LineTiming?
  private var timer: (deadline: MonotonicTime, token: TimerToken)?
  /// Whether the timer has fired while the device wasn't read. The time counts from when it is read again, because a reply that has
  /// arrived isn't late.
  private var isTimeDue = false
  /// How the device has ended; nil while it hasn't. The router still handles the bytes from before the end.
  private var end: AccessoryError??
  /// Whether the device is gone. It isn't used any more then.
  private var isOver = false

  init(_ routing: FrameRouting, of attached: AttachedDevice, _ parts: HubParts) {
    self.attached = attached
    let hub = parts.hub
    router = FrameRouter(routing, io: hub.io, clock: hub.clock) { [weak hub] router, results in
      hub?.onThread { parts in
        guard let frames = parts.device.attached?.frames, frames.router === router else { return }
        frames.carryOut(results)
      }
    }
    super.init(parts)
  }

  /// The device is gone: unanswered requests get no reply.
  func stop() {
    isOver = true
    router.stop()
    if let timer { clock.cancel(timer.token) }
  }

  // MARK: - Clients

  /// Gives a client a new number.
  func add(_ id: HubClient.ID) {
    guard let client = clients[id] else { return }
    lastNumber += 1
    clientNumbers[id] = lastNumber
    numbered[lastNumber] = Client(id: id)
    post(.add(lastNumber, allowsWrites: client.allowsWrites))
  }

  /// Drops the requests of a client that has left.
  func forget(_ id: HubClient.ID) {
    asked[id] = nil
    guard let number = clientNumbers.removeValue(forKey: id) else { return }
    numbered[number] = nil
    post(.remove(number))
  }

  /// Passes a client's bytes to the router. Returns whether more of its bytes may follow.
  func take(_ bytes: [UInt8], from client: HubClient) -> Bool {
    guard let number = clientNumbers[client.id] else { return true }
    post(.take(bytes, from: number))
    numbered[number]?.inFlight += bytes.count
    return mayTake(from: number)
  }

  private func mayTake(from number: Int) -> Bool { (numbered[number]?.inFlight ?? 0) < Self.clientLimit }

  /// Disconnects a client that sends no more, unless it waits for a reply.
  func dismissUnlessWaiting(_ client: HubClient, since end: MonotonicTime) {
    guard let number = clientNumbers[client.id] else { return clients.dismiss(client, nil) }
    asked[client.id] = end
    post(.ask(number))
  }

  // MARK: - The device

  /// Whether the device may be read.
  var mayTakeFromDevice: Bool { end == nil && deviceInFlight < Self.deviceLimit }

  /// Passes bytes from the device to the router.
  func receive(_ bytes: [UInt8], messages: [Int]?) {
    deviceInFlight += bytes.count
    post(.receive(bytes, messages: messages))
  }

  /// The device has ended. If the router still has bytes of the device, the end waits until their frames are delivered: then this
  /// returns true, and `DeviceSide.ended` is called later.
  func endWaits(_ error: AccessoryError?) -> Bool {
    guard !router.isIdle else { return false }
    end = .some(error)
    router.post(.end)
    return true
  }

  /// Sends the queued messages, as far as the device's queue has room.
  func sendPending() {
    var count = 0
    // Each message is removed before it is offered, because a device that takes it at once causes a nested call of this method.
    while !isOver, attached.isReady, let message = pending.popFirst() {
      guard attached.offer(message, now: clock.now) else {
        pending.prepend(message)
        break
      }
      count += message.count
    }
    if !isOver { router.sent(count, isBlocked: !attached.isReady || !pending.isEmpty) }
  }

  // MARK: - The router

  private func post(_ input: FrameRouter.Input) {
    guard !isOver else { return }
    // A client may have changed the line's speed.
    let now = attached.transport.timing
    if now != timing { router.post(.timing(now)) }
    timing = now
    router.post(input)
  }

  /// Carries out the router's results.
  private func carryOut(_ results: FrameRouter.Results) {
    pending.append(contentsOf: results.messages)
    statistics = results.statistics
    if !results.messages.isEmpty { sendPending() }
    for (number, bytes) in results.deliveries { deliver(bytes, to: number) }
    for news in results.news { report(news) }
    arm(results.deadline)
    for (number, isWaiting) in results.waitingClients { answered(number, isWaiting) }
    resume(results.clientCounts)
    deviceInFlight -= results.deviceCount
    router.finished(results.inputCount)
    if results.hasEnded, let end { return device.ended(end) }
    if results.deviceCount > 0 { device.drain() }
    passTimeThatIsDue()
  }

  private func deliver(_ bytes: [UInt8], to number: Int?) {
    guard let number else { return delivery.deliver(bytes) }
    // A client that made a request gets the reply even if `isListening` is still false: a terminal may report late that it was opened.
    guard let client = client(number), !client.isLeaving else { return }
    delivery.pass(client.telnet == nil ? bytes : Telnet.escaped(bytes), to: client)
  }

  private func report(_ news: RoutingNews) {
    switch news {
    case .noFrame(let number): if let client = client(number) { report(.notAFrame(client.name)) }
    case .noContact(let reason): report(SharingNews.noContact(reason))
    case .refused(let number, let reason):
      guard let client = client(number), client.refusal != reason else { return }
      client.refusal = reason
      report(.frameRefused(client.name, reason: reason))
    }
  }

  /// The client with this number; nil if it is gone.
  private func client(_ number: Int) -> HubClient? { numbered[number].flatMap { clients[$0.id] } }

  private func answered(_ number: Int, _ isWaiting: Bool) {
    guard let client = client(number), let end = asked.removeValue(forKey: client.id) else { return }
    guard isWaiting else { return clients.dismiss(client, nil) }
    requests.linger(client.id, since: end, until: clock.now + rules.linger)
  }

  /// Continues the requests of clients whose bytes were decoded.
  private func resume(_ counts: [(client: Int, count: Int)]) {
    for (number, count) in counts {
      numbered[number]?.inFlight -= count
      guard mayTake(from: number), let client = client(number) else { continue }
      requests.routerHasRoom(for: client)
    }
  }

  // MARK: - Time

  private func arm(_ deadline: MonotonicTime?) {
    guard let next = deadline, !isTimeDue else { return }
    if let timer {
      if timer.deadline <= next { return }
      clock.cancel(timer.token)
    }
    let due = max(next, clock.now + Self.shortestWait)
    timer = (due, at(due) { $0.device.attached?.frames?.timeIsOver(due) })
  }

  private func timeIsOver(_ due: MonotonicTime) {
    guard timer?.deadline == due else { return }
    timer = nil
    isTimeDue = true
    passTimeThatIsDue()
  }

  private func passTimeThatIsDue() {
    guard isTimeDue, mayTakeFromDevice else { return }
    isTimeDue = false
    post(.timePassed(clock.now))
  }
}
