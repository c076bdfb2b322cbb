// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySharing

// Sharing an accessory by frames: the service sends the requests of all clients one after another, and each reply to the client that
// asked. The line is lent to these clients as it is to those that share bytes, but never to both kinds together.

extension BridgeService {
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
    var reply = Bridge.Open.Reply(device: Bridge.Device(attachment.target))
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

  /// The hub of the clients that share an attachment's frames. It is made for the first of them.
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

  /// The error of a client that shares another unit than those that have the line.
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
