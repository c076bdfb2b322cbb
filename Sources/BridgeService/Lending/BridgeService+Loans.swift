// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

// Loans of an accessory's line to a client, and a borrower's requests to the serial line.

extension BridgeService {
  package func open(_ call: Bridge.Open, from caller: Caller) async throws(CallError) -> OpenResult {
    var attachment = try find(call.device, asLine: true)
    let isAsked = call.write == true
    try checkBytes(of: attachment, isAsked: isAsked)
    // A line with several units can be lent in any state of one unit.
    while attachment.machine.state == .opening, attachment.device.unit == nil {
      try check(attachment, call.device)
      await wait(attachment)
      attachment = attachment.latest
    }
    try check(attachment, call.device)
    let (session, keys) = try await borrow(attachment, isAsked: isAsked) { $0.begin(for: caller) }
    // If the device is already gone there is no status. Then the client finds the end of the bytes.
    let line = try? await session.line?.status()
    let loan = attachment.lending.opened(for: caller, line: session.line) { session.transport.beginClose() }
    endIfGone(attachment, session)
    let reply = Bridge.Open.Reply(
      device: attachment.target, loan: loan.secret, line: line.map { Bridge.Line($0) })
    return OpenResult(reply) { client in
      let isGone = await Relay.run(session.transport, client)
      await session.close()
      await self.returned(keys, isGone ? .disconnected(session.label) : nil)
    }
  }

  /// Lends an attachment's line to a client: makes the service close the attachment and all others on the line, and opens the device.
  /// `begin` sets the borrower's name. Call `returned` with the keys when the session is closed. Throws if the line can't be lent or
  /// the device can't be opened.
  func borrow(
    _ attachment: Attachment, isAsked: Bool, by unit: Bridge.ShareUnit = .bytes, _ begin: (inout Lending) -> Void
  ) async throws(CallError) -> (session: AccessorySession, keys: [Int]) {
    if attachment.machine.state == .lent { throw attachment.lending.refusal(attachment) }
    do throws(AccessoryError) {
      try opener(for: attachment).checkBytes()
    } catch {
      throw CallError(error, device: attachment.device.id)
    }
    let others = attachments.others(onLineOf: attachment)
    guard attachment.use.transferCount == 0 else {
      let message = "a file transfer with \(attachment.target.address) is running"
      throw CallError(AccessoryError(.busy, message), device: attachment.device.id)
    }
    guard attachment.device.unit == nil ? attachment.machine.lend() : attachment.machine.lendLine() else {
      let problem = attachment.machine.problem ?? .disconnected(attachment.target.address.description)
      throw CallError(problem, device: attachment.device.id)
    }
    begin(&attachment.lending)
    log.notice("\(attachment.name) is lent to \(attachment.lending.holder ?? "a client")")
    attachment.changed()
    alarms.countSilence(of: attachment, on: self)
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
    do throws(AccessoryError) {
      for one in lent { await one.contact.closing?.value }
      if attachment.device.unit != nil { await found.searches.pause(attachment.device.line, on: self) }
      if let adapter = adapter(connecting: attachment) {
        air.lent[attachment.key] = try await takeConnection(
          attachment.key, at: adapter, isAsked: true, within: AdapterConnections.turn)
      }
      var opener = opener(for: attachment)
      opener.asksToWrite = isAsked
      // By frames, each frame is checked before it is sent.
      let session = unit == .frames ? try await opener.unguardedGreetedSession() : try await opener.greetedSession()
      return (session, keys)
    } catch {
      returned(keys, nil)
      throw CallError(error, device: attachment.device.id)
    }
  }

  /// Closes the transport of a loan if the attachment was released, or the device unplugged, while it was opened.
  func endIfGone(_ attachment: Attachment, _ session: AccessorySession) {
    if !attachments.contains(attachment) || isClosing { session.transport.beginClose() }
    if !attachment.machine.isPresent { session.transport.deviceWasRemoved() }
  }

  /// How long a loan waits for replies to earlier requests.
  private static let answerPatience = Duration.seconds(2)

  /// Waits, for a bounded time, until the accessory has answered earlier requests, so that the client doesn't receive
  /// those replies.
  private func quiet(_ attachment: Attachment, until end: MonotonicTime) async {
    let key = attachment.key
    let timer = clock.schedule(at: end) { [weak self] in self?.post { $0.attachments[key]?.changed() } }
    defer { clock.cancel(timer) }
    while attachment.use.callCount > 0, clock.now < end, !Task.isCancelled, !isClosing { await wait(attachment) }
  }

  /// The loan is over. With `error` nil the client has returned the accessory, and contact is made again; otherwise the
  /// accessory was unplugged.
  func returned(_ keys: [Int], _ error: AccessoryError?) {
    for key in keys {
      giveBack(air.lent.removeValue(forKey: key))
      guard let attachment = attachments[key] else { continue }
      log.notice("\(attachment.name) is given back by \(attachment.lending.end())")
      perform(attachment.machine.returned(error, now: clock.now), on: attachment)
    }
  }

  package func onLine<Method: LineMethod>(
    _ call: Method, from caller: Caller
  ) async throws(CallError) -> Method.Reply {
    for attachment in attachments.ordered {
      guard let loan = attachment.lending.loan(meantBy: call.loan, from: caller) else { continue }
      let device = attachment.device.id
      do throws(AccessoryError) {
        return try await loan.withLine(at: attachment.target.address.description) { line throws(AccessoryError) in
          try await call.perform(on: line)
        }
      } catch {
        throw CallError(error, device: device)
      }
    }
    throw CallError(
      AccessoryError(.notFound, "this client doesn't have the line: its loan has ended, or another client has it"))
  }
}
