// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessorySharing

// Sharing a line among several clients. Readers get the accessory's bytes while the service keeps using the accessory. Writers send
// bytes too: the service lends the line to all writers together. By frames, the service sends the requests of all clients one after
// another, and each reply to the client that asked; the line is never lent to both kinds together.

extension BridgeService {
  package func share(_ call: Bridge.Share, from caller: Caller) async throws(CallError) -> OpenResult {
    switch (call.access, call.by ?? .bytes) {
    case (.read, .bytes): try await shareForReading(call, caller)
    case (.write, .bytes): try await shareForWriting(call, caller)
    case (.write, .frames): try await shareByFrames(call, caller)
    case (.read, .frames):
      throw CallError(
        AccessoryError(
          .misconfigured,
          "sharing frames needs the access write, since clients send requests: to read only, share bytes"),
        device: call.device)
    }
  }

  // MARK: - Reading

  private func shareForReading(_ call: Bridge.Share, _ caller: Caller) async throws(CallError) -> OpenResult {
    let attachment = try await opened(call.device, asLine: true)
    let sharing = sharing(of: attachment)
    sharing.readerCount += 1
    let readers = if let known = sharing.readers { known } else { hub(.none, of: attachment) }
    sharing.readers = readers
    let (name, key) = (Lending.name(of: caller), attachment.key)
    return OpenResult(Bridge.Open.Reply(device: attachment.target)) { client in
      await readers.serve(client, name: name)
      await self.readerLeft(key)
    }
  }

  private func readerLeft(_ key: Int) {
    guard let attachment = attachments[key] else { return }
    attachment.sharing?.readerCount -= 1
    if attachment.machine.state == .attached { noteWork(attachment) }
  }

  // MARK: - Writing

  private func shareForWriting(_ call: Bridge.Share, _ caller: Caller) async throws(CallError) -> OpenResult {
    let name = Lending.name(of: caller)
    let (attachment, writer) = try await addWriter(
      try find(call.device, asLine: true), name, isAsked: call.write == true, text: call.device)
    let sharing = sharing(of: attachment)
    let writers = if let known = sharing.writers { known } else { hub(.many, of: attachment) }
    sharing.writers = writers
    let session = sharing.lent?.session
    let line = try? await session?.line?.status()
    let loan = Loan(to: caller, line: session?.line)
    attachment.lending.add(loan)
    let (key, secret) = (attachment.key, loan.secret)
    let reply = Bridge.Open.Reply(
      device: attachment.target, loan: secret, line: line.map { Bridge.Line($0) })
    return OpenResult(reply) { client in
      await writers.serve(client, name: name)
      await self.writerLeft(key, writer, secret)
    }
  }

  func writerLeft(_ key: Int, _ writer: Int, _ secret: String) {
    attachments[key]?.lending.removeLoan(secret)
    removeWriter(key, writer)
  }

  /// Adds a writer, and lends the line to the writers if it isn't lent to them already. Returns the attachment that owns the loan, and
  /// the writer's number for `removeWriter`. On a line with several units, the owner may be another attachment than `found`.
  func addWriter(
    _ found: Attachment, _ name: String, isAsked: Bool, by unit: Bridge.ShareUnit = .bytes, text: String?
  ) async throws(CallError) -> (attachment: Attachment, key: Int) {
    var attachment = found
    while true {
      attachment = owner(of: attachment.latest)
      try check(attachment, text)
      switch unit {
      case .bytes: try checkBytes(of: attachment, isAsked: isAsked)
      case .frames: try checkFrames(of: attachment, isAsked: isAsked)
      }
      let sharing = sharing(of: attachment)
      switch attachment.machine.state {
      case .lent where sharing.isChanging: await wait(attachment)
      case .lent where sharing.lent != nil && sharing.unit != unit:
        throw refusal(attachment, unit, sharing)
      case .lent where sharing.lent != nil:
        let key = sharing.add(name)
        attachment.lending.begin(sharedBy: sharing.holder ?? name)
        return (attachment, key)
      case .lent: throw attachment.lending.refusal(attachment)
      case .opening where attachment.device.unit == nil: await wait(attachment)
      case .opening, .attached, .waiting, .failed:
        return (attachment, try await lend(attachment, name, isAsked, unit))
      }
    }
  }

  /// Returns the attachment that owns the loan if this attachment was lent together with it; otherwise this attachment.
  private func owner(of attachment: Attachment) -> Attachment {
    guard attachment.machine.state == .lent, attachment.sharing?.lent == nil else { return attachment }
    return attachments.ordered.first { $0.sharing?.lent?.keys.contains(attachment.key) ?? false }
      ?? attachment
  }

  private func lend(
    _ attachment: Attachment, _ name: String, _ isAsked: Bool, _ unit: Bridge.ShareUnit
  ) async throws(CallError) -> Int {
    let sharing = sharing(of: attachment)
    sharing.unit = unit
    let writer = sharing.add(name)
    sharing.isChanging = true
    let holder = sharing.holder ?? name
    do throws(CallError) {
      let (session, keys) = try await borrow(attachment, isAsked: isAsked, by: unit) { $0.begin(sharedBy: holder) }
      sharing.lent = (session, keys)
      attachment.lending.opened { session.transport.beginClose() }
      let key = attachment.key
      await sharing.line.begin(session.transport) { [weak self] error in
        self?.post { $0.lineEnded(key, session, keys, error) }
      }
      await sharing.onLoan?(session.line)
      await sharing.line.flow()
      sharing.isChanging = false
      endIfGone(attachment, session)
      attachment.changed()
      return writer
    } catch {
      sharing.remove(writer)
      sharing.isChanging = false
      attachment.changed()
      throw error
    }
  }

  /// Removes a writer. After the last one the service takes the line back.
  func removeWriter(_ key: Int, _ writer: Int) {
    guard let attachment = attachments[key], let sharing = attachment.sharing else { return }
    sharing.remove(writer)
    guard sharing.lent != nil else { return }
    if let holder = sharing.holder { return attachment.lending.begin(sharedBy: holder) }
    guard !sharing.isChanging else { return }
    sharing.isChanging = true
    let line = sharing.line
    run { await self.takeBack(key, line) }
  }

  /// How long taking the line back waits for the last bytes to be sent.
  private static let lastBytes = Duration.seconds(2)

  private func takeBack(_ key: Int, _ line: SharedLine) async {
    await line.flush(clock: clock, within: Self.lastBytes)
    // The device may have ended while the bytes were being sent.
    guard let sharing = attachments[key]?.sharing, let (session, keys) = sharing.lent else { return }
    sharing.lent = nil
    sharing.endFrames()
    // If they were sent later, nobody would expect that write, and the next writer would get the replies.
    await line.discardOutput()
    await line.end()
    await sharing.onLoan?(nil)
    await session.close()
    attachments[key]?.sharing?.isChanging = false
    returned(keys, nil)
  }

  /// The device has ended while it was lent. `error` is the reason if it was unplugged, and nil if the service has closed it.
  private func lineEnded(_ key: Int, _ session: AccessorySession, _ keys: [Int], _ error: AccessoryError?) {
    let sharing = attachments[key]?.sharing
    if sharing?.lent?.session === session { sharing?.lent = nil }
    sharing?.isChanging = true
    sharing?.end(error)
    run {
      await session.close()
      await self.lineClosed(key, keys, error)
    }
  }

  private func lineClosed(_ key: Int, _ keys: [Int], _ error: AccessoryError?) {
    attachments[key]?.sharing?.isChanging = false
    returned(keys, error)
  }

  // MARK: - Hubs

  /// Whether a client reads the accessory's bytes, over the control socket or at an endpoint of the profile.
  func isHeard(_ attachment: Attachment) -> Bool {
    (attachment.sharing.map { $0.readerCount > 0 } ?? false) || endpoints.areHeard(of: attachment.key)
  }

  func sharing(of attachment: Attachment) -> Sharing {
    if let sharing = attachment.sharing { return sharing }
    let sharing = Sharing(taps: attachment.contact.taps, io: io)
    attachment.sharing = sharing
    return sharing
  }

  /// Creates a hub for the control socket's clients that share an attachment's line, until the device is gone. The hub disconnects its
  /// clients when the device is unplugged, and a client that reads too slowly.
  private func hub(_ writers: SharingRules.Writers, of attachment: Attachment) -> Sharing.Hub {
    var rules = SharingRules()
    rules.writers = writers
    rules.waitsForOnlyReader = false
    rules.bufferSize = Sharing.bufferSize
    let hub = SharingHub(rules, io: io)
    return Sharing.Hub(hub: hub, connecting: Task { await connect(hub, to: attachment, line: nil) })
  }

  /// Attaches a feed of an attachment's line to a hub as its device. The feed ends when the device is gone. If the hub has no writers,
  /// the feed gets all bytes from the device; otherwise only the bytes that arrive while the line is lent.
  @discardableResult
  func connect(
    _ hub: SharingHub, to attachment: Attachment, line: SharedLineControl?, isReadOnly: Bool = false,
    onWaiting: (@Sendable () -> Void)? = nil
  ) async -> ShareFeed {
    let feed = ShareFeed(
      label: attachment.target.address.description, timing: line?.timing ?? .instant, line: line,
      hearsAlways: isReadOnly || hub.rules.writers == .none)
    await sharing(of: attachment).line.add(feed, onWaiting: onWaiting)
    var shared = SharedDevice(feed)
    shared.isReadOnly = isReadOnly
    await hub.attach(shared) { _ in }
    // The device may be gone by now. Then the other feeds were ended before this one was added.
    let isThere =
      attachments.contains(attachment) && (attachment.contact.isTold || attachment.machine.state == .lent)
    if !isThere { feed.end(nil) }
    return feed
  }

  // MARK: - Frames

  func shareByFrames(_ call: Bridge.Share, _ caller: Caller) async throws(CallError) -> OpenResult {
    let name = Lending.name(of: caller)
    let isAsked = call.write == true
    let (attachment, writer) = try await addWriter(
      try find(call.device, asLine: true), name, isAsked: isAsked, by: .frames, text: call.device)
    let (key, session) = (attachment.key, sharing(of: attachment).lent?.session)
    let frames: FramesHub
    do throws(AccessoryError) {
      guard let session else { throw .disconnected(attachment.target.address.description) }
      frames = try framesHub(of: attachment, session.transport)
    } catch {
      removeWriter(key, writer)
      throw CallError(error, device: attachment.device.id)
    }
    var reply = Bridge.Open.Reply(device: attachment.target)
    var secret = ""
    let hasWrites = opener(for: attachment).writeRules.hasWrites
    let allowsWrites = isAsked || !hasWrites
    // The modem lines of a cable may change something in the accessory, too.
    if allowsWrites, let session {
      let loan = Loan(to: caller, line: session.line)
      attachment.lending.add(loan)
      secret = loan.secret
      let line = try? await session.line?.status()
      (reply.loan, reply.line) = (secret, line.map { Bridge.Line($0) })
    }
    let serve = frames.server(name, allowsWrites: allowsWrites)
    return OpenResult(reply) { [secret] client in
      await serve(client)
      await self.writerLeft(key, writer, secret)
    }
  }

  /// The hub of the clients that share an attachment's frames. It is created for the first client.
  private func framesHub(
    of attachment: Attachment, _ transport: any Transport
  ) throws(AccessoryError) -> FramesHub {
    let sharing = sharing(of: attachment)
    if let frames = sharing.frames { return frames }
    let opener = opener(for: attachment)
    let writes = opener.writeRules
    guard
      let routing = try opener.driver?.routing?(
        transport, opener.profile, !writes.hasWrites || writes.allowsWrites)
    else { throw withoutFrames(attachment) }
    var rules = SharingRules()
    rules.waitsForOnlyReader = false
    rules.bufferSize = Sharing.bufferSize
    let feed = ShareFeed(
      label: transport.label, timing: transport.timing, line: nil, hearsAlways: false, decoding: transport)
    let line = sharing.line
    let frames = FramesHub(
      SharingHub(rules, io: io), feed, routing, log: log, name: attachment.name, connect: { await line.add(feed) })
    sharing.frames = frames
    return frames
  }

  /// Throws `unsupported` when the accessory can't be shared by frames, and `permissionDenied` when a client asks for writes that aren't
  /// allowed, or when the frames of another protocol than the accessory's own could be writes.
  func checkFrames(of attachment: Attachment, isAsked: Bool) throws(CallError) {
    let opener = opener(for: attachment)
    do throws(AccessoryError) {
      guard let driver = opener.driver, driver.routing != nil else { throw withoutFrames(attachment) }
      let rules = opener.writeRules
      guard rules.hasWrites, isAsked || !rules.names(driver.name) else { return }
      try rules.checkBytes(isAsked: isAsked)
    } catch {
      throw CallError(error, device: attachment.device.id)
    }
  }

  private func withoutFrames(_ attachment: Attachment) -> AccessoryError {
    let reason =
      attachment.driver.map { "requests of \($0.name) accessories can't be told apart" }
      ?? "its protocol isn't known to the service"
    return AccessoryError(
      .unsupported, "\(attachment.target.address) can't be shared by frames, because \(reason): share its bytes")
  }

  /// The error for a client that wants to share another unit (bytes or frames) than the line's current writers.
  func refusal(_ attachment: Attachment, _ unit: Bridge.ShareUnit, _ sharing: Sharing) -> CallError {
    let holder = sharing.holder ?? "other clients"
    return CallError(
      AccessoryError(
        .busy,
        "\(attachment.target.address) is in use: its \(sharing.unit.rawValue) are shared with \(holder), so its "
          + "\(unit.rawValue) can't be"),
      device: attachment.device.id, holder: holder)
  }
}
