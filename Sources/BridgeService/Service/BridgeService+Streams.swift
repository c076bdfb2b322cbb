// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

// The calls that go on: events, what passes, and loans.

extension BridgeService {
  // MARK: - Events

  package func subscribe(
    _ call: Bridge.Subscribe, from caller: Caller, _ answers: Answers<Bridge.Event>
  ) async throws(CallError) {
    let wanted = try call.device.map { text throws(CallError) in try find(text) }
    let id = wanted?.device.id
    let (key, stream) = events.subscribe(values: call.values == true)
    defer { events.unsubscribe(key) }
    for attachment in ordered where attachment.isTold {
      guard wanted == nil || wanted === attachment else { continue }
      try await answers.send(
        Bridge.Event(.present, time: Self.wallClock, device: Bridge.Device(attachment.target)))
    }
    try await answers.send(Bridge.Event(.ready, time: Self.wallClock))
    // By identity, so that one that comes back as another attachment is still meant.
    for await entry in stream where id == nil || entry.event.device?.id == id { try await answers.send(entry.event) }
    if Task.isCancelled || isClosing { return }
    throw CallError(AccessoryError(.busy, "too many events are waiting for this client"), device: call.device)
  }

  // MARK: - What passes

  package func trace(
    _ call: Bridge.Trace, from caller: Caller, _ answers: Answers<Bridge.TracePiece>
  ) async throws(CallError) {
    let attachment = try find(call.device, asLine: true)
    let (listener, stop) = attachment.taps.listen()
    defer { stop() }
    try await answers.send(Bridge.TracePiece(TapHub.Piece(clock.now)))
    // Each waits until the client has read. Traffic is buffered in the listener meanwhile; beyond its limit it is
    // dropped and counted.
    for await _ in listener.signals {
      for piece in listener.take() { try await answers.sendWhenRead(Bridge.TracePiece(piece)) }
    }
    let lost = listener.takeLoss()
    if lost > 0 { try await answers.send(Bridge.TracePiece(TapHub.Piece(clock.now, lostBytes: lost))) }
    if Task.isCancelled || isClosing { return }
    throw CallError(.disconnected(attachment.target.address.description), device: attachment.device.id)
  }

  // MARK: - Loans

  package func open(_ call: Bridge.Open, from caller: Caller) async throws(CallError) -> OpenResult {
    var attachment = try find(call.device, asLine: true)
    // A line with several units is lent whatever one of them is doing.
    while attachment.machine.state == .opening, attachment.device.unit == nil {
      try check(attachment, call.device)
      await wait(attachment)
      attachment = attachment.latest
    }
    try check(attachment, call.device)
    let isAsked = call.write == true
    try checkBytes(of: attachment, isAsked: isAsked)
    if attachment.machine.state == .lent { throw attachment.lending.refusal(attachment) }
    let others = attachments.values.filter { $0 !== attachment && $0.sharesLine(with: attachment) }
    guard attachment.transferCount == 0 else {
      let message = "a file is on its way to or from \(attachment.target.address)"
      throw CallError(AccessoryError(.busy, message), device: attachment.device.id)
    }
    guard attachment.device.unit == nil ? attachment.machine.lend() : attachment.machine.lendLine() else {
      let problem = attachment.machine.problem ?? .disconnected(attachment.target.address.description)
      throw CallError(problem, device: attachment.device.id)
    }
    attachment.lending.begin(for: caller)
    log.notice("\(attachment.name) is lent to \(attachment.lending.holder ?? "a client")")
    attachment.changed()
    // A loan of a line covers all units on it.
    let lent = [attachment] + others.filter { $0.machine.lendLine() }
    for other in lent.dropFirst() {
      other.lending.begin(with: attachment.lending)
      perform([], on: other)
    }
    checkIdle()
    let end = clock.now + Self.answerPatience
    for one in lent { await quiet(one, until: end) }
    let keys = lent.map(\.key)
    for one in lent { close(one) }
    let key = attachment.key
    let session: AccessorySession
    do throws(AccessoryError) {
      for one in lent { await one.closing?.value }
      if attachment.device.unit != nil { await pauseSearch(attachment.device.line) }
      var opener = opener(for: attachment)
      opener.asksToWrite = isAsked
      session = try await opener.greetedSession()
    } catch {
      returned(keys, nil)
      throw CallError(error, device: attachment.device.id)
    }
    // What can't be read is gone, as the bytes will say.
    let line = try? await session.line?.status()
    let loan = attachment.lending.opened(for: caller, line: session.line) { session.transport.beginClose() }
    // It may have been let go of, or pulled, meanwhile.
    if attachments[key] !== attachment || isClosing { session.transport.beginClose() }
    if !attachment.machine.isPresent { session.transport.deviceWasRemoved() }
    let reply = Bridge.Open.Reply(
      device: Bridge.Device(attachment.target), loan: loan.secret, line: line.map { Bridge.Line($0) })
    return OpenResult(reply) { client in
      let isGone = await Relay.run(session.transport, client)
      await session.close()
      await self.returned(keys, isGone ? .disconnected(session.label) : nil)
    }
  }

  /// How long the client waits for the answers to what the accessory was asked before.
  private static let answerPatience = Duration.seconds(2)

  /// Waits, for a bounded time, until the accessory has answered earlier requests, so that no answer to them gets among
  /// the client's bytes.
  private func quiet(_ attachment: Attachment, until end: MonotonicTime) async {
    let key = attachment.key
    let timer = clock.schedule(at: end) { [weak self] in self?.post { $0.attachments[key]?.changed() } }
    defer { clock.cancel(timer) }
    while attachment.callCount > 0, clock.now < end, !Task.isCancelled, !isClosing { await wait(attachment) }
  }

  /// A client has given an accessory back, so contact is made again; or it was unplugged.
  private func returned(_ keys: [Int], _ error: AccessoryError?) {
    for key in keys {
      guard let attachment = attachments[key] else { continue }
      log.notice("\(attachment.name) is given back by \(attachment.lending.end())")
      perform(attachment.machine.returned(error, now: clock.now), on: attachment)
    }
  }
}

extension TapHub.Piece {
  /// One without bytes.
  fileprivate init(_ time: MonotonicTime, lostBytes: Int = 0) {
    self.init(time: time, direction: .toDevice, bytes: [], lostBytes: lostBytes)
  }
}

extension Bridge.TracePiece {
  fileprivate init(_ piece: TapHub.Piece) {
    self.init(
      time: Double(piece.time.nanoseconds) / 1e9, direction: piece.direction, bytes: piece.bytes,
      lost_bytes: piece.lostBytes == 0 ? nil : piece.lostBytes)
  }
}
