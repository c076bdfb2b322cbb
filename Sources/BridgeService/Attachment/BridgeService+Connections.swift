// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// An adapter has only some connections. Where there are more Bluetooth accessories than that, those that are asked now and then take turns.

extension BridgeService {
  /// The adapter of which an attachment needs a connection; nil where it needs none.
  func adapter(connecting attachment: Attachment) -> String? {
    guard attachment.target.address.bluetooth != nil, attachment.driver?.channel != .advertisements else { return nil }
    return attachment.device.bluetooth?.adapter ?? attachment.claim.adapter?.description
      ?? attachment.profile?.transport.bluetoothAdapter?.description ?? "the adapter"
  }

  /// Waits until an attachment may be connected. Give the ticket back with `giveBack`. Throws `cancelled`.
  func takeConnection(
    _ key: Int, at adapter: String, isAsked: Bool, within limit: Duration? = nil
  ) async throws(AccessoryError) -> Int {
    let connections = configuration.bluetoothConnections.limit(of: adapter)
    let (ticket, given) = air.enter(key, adapter, limit: connections, isAsked: isAsked, now: clock.now)
    if given.current == nil {
      tellTurns(adapter, connections)
      attachments[key]?.changed()
      renewConnections(at: adapter)
    }
    let timer = limit.map { limit in clock.schedule(at: clock.now + limit) { given.finish(false) } }
    defer { if let timer { clock.cancel(timer) } }
    if await given.value(whenCancelled: false) { return ticket }
    giveBack(ticket)
    if Task.isCancelled || isClosing { throw AccessoryError(.cancelled, "waiting for a connection was cancelled") }
    throw AccessoryError(.busy, "\(Self.connections(connections, of: adapter)) are all in use")
  }

  /// Gives a connection back when its device is closed, or isn't waited for any longer.
  func giveBack(_ ticket: Int?) {
    guard let ticket, let adapter = air.leave(ticket) else { return }
    renewConnections(at: adapter)
  }

  private func tellTurns(_ adapter: String, _ limit: Int) {
    guard air.told.insert(adapter).inserted else { return }
    log.notice(
      """
      more Bluetooth accessories than \(Self.connections(limit, of: adapter)): those that are asked now and then are \
      connected in turns (bluetooth_connections)
      """)
  }

  private static func connections(_ limit: Int, of adapter: String) -> String {
    "the \(Amount.of(limit, "connection")) of \(SafeText.escape(adapter))"
  }

  /// Why an attachment isn't connected yet, if that is because others have all connections.
  func problemOfTurns(_ attachment: Attachment) -> AccessoryError? {
    guard attachment.machine.state == .opening, let adapter = air.isWaiting(attachment.key) else { return nil }
    let limit = configuration.bluetoothConnections.limit(of: adapter)
    return AccessoryError(
      .busy, "it waits for its turn: others have \(Self.connections(limit, of: adapter)) (bluetooth_connections)")
  }

  /// A client waits for an accessory that is being opened, so its turn comes before that of others. Throws when clients have all
  /// connections.
  func hasten(_ attachment: Attachment) throws(CallError) {
    guard let problem = problemOfTurns(attachment), let adapter = air.isWaiting(attachment.key) else { return }
    air.ask(attachment.key)
    let all = air.adapters[adapter]?.holding ?? []
    guard !all.isEmpty, all.allSatisfy({ air.holders[$0].map { use(of: $0.key) } ?? .kept == .kept }) else { return }
    throw CallError(problem, device: attachment.device.id)
  }

  /// Closes accessories that are to give their connection to others.
  func renewConnections(at adapter: String) {
    guard !isClosing else { return }
    let now = clock.now
    let (keys, again) = air.dismiss(at: adapter, { use(of: $0) }, now: now)
    for key in keys {
      guard let attachment = attachments[key] else { continue }
      log.debug("\(attachment.name) gives its connection to others until its next reading")
      attachment.contact.takesTurns = true
      perform(attachment.machine.rest(until: nextTurn(of: attachment)), on: attachment)
    }
    air.timers[adapter, default: DeadlineTimer()].set(again, on: clock) { [weak self] in
      self?.post { service in
        service.air.timers[adapter]?.ended()
        service.renewConnections(at: adapter)
      }
    }
  }

  /// An accessory was read, or a client has ended its use: it may have to give its connection to others.
  func renewConnections(of attachment: Attachment) {
    guard attachment.contact.ticket != nil, let adapter = adapter(connecting: attachment),
      air.adapters[adapter]?.isAwaited == true
    else { return }
    renewConnections(at: adapter)
  }

  private func use(of key: Int) -> AdapterConnections.Use {
    guard let attachment = attachments[key], attachment.machine.state != .lent, !isHeard(attachment) else {
      return .kept
    }
    guard !isSending(attachment) else {
      guard attachment.use.callCount == 0, attachment.machine.state == .attached else { return .kept }
      return .sends(since: attachment.contact.connected ?? clock.now)
    }
    let polls = attachment.readings.polls
    guard attachment.machine.state == .attached, attachment.use.callCount == 0, attachment.contact.isRead,
      polls.isDone(now: clock.now)
    else { return .brief }
    return .read(next: polls.nextDue)
  }

  /// Whether an accessory must stay connected, because it may send by itself: only those that are asked and say nothing else don't.
  private func isSending(_ attachment: Attachment) -> Bool {
    guard let driver = attachment.driver, driver.freshness == nil else { return true }
    return !driver.polls.contains { interval(of: $0, attachment.profile) != nil }
  }

  /// When an accessory that gives its connection to others asks for one again: at once, if it sends by itself, or as long before its next
  /// reading as the last one took.
  private func nextTurn(of attachment: Attachment) -> MonotonicTime? {
    guard !isSending(attachment) else { return clock.now }
    let next = attachment.readings.polls.nextDue ?? clock.now + AdapterConnections.turn
    let lead = min(attachment.contact.readingTime, Self.longestLead)
    return max(clock.now, next + (.zero - lead))
  }

  /// The longest time before a reading at which a connection for it is asked for.
  private static let longestLead = Duration.seconds(10)
}
