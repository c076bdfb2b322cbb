// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

// Calls for an accessory's files.

extension BridgeService {
  package func listFolder(
    _ call: Bridge.ListFolder, from caller: Caller
  ) async throws(CallError) -> Bridge.ListFolder.Reply {
    let (held, entries) = try await work(call.device) { _, accessory throws(AccessoryError) in
      try await accessory.requireFiles().entries(of: call.path)
    }
    return Bridge.ListFolder.Reply(
      device: held.target, entries: entries)
  }

  package func makeFolder(
    _ call: Bridge.MakeFolder, from caller: Caller
  ) async throws(CallError) -> Bridge.MakeFolder.Reply {
    let (held, _) = try await work(call.device) { _, accessory throws(AccessoryError) in
      try await accessory.requireFiles().makeFolder(call.path)
    }
    return Bridge.MakeFolder.Reply(device: held.target)
  }

  package func remove(_ call: Bridge.Remove, from caller: Caller) async throws(CallError) -> Bridge.Remove.Reply {
    let (held, _) = try await work(call.device) { _, accessory throws(AccessoryError) in
      try await accessory.requireFiles().remove(call.path)
    }
    return Bridge.Remove.Reply(device: held.target)
  }

  // MARK: - Transfers

  /// The greatest size of a transferred file, in bytes.
  private static let fileLimit = Int(clamping: UInt32.max)
  /// The longest time that a transfer waits for an unplugged accessory.
  private static let longestPatience = Duration.seconds(3_600)

  package func getFile(
    _ call: Bridge.GetFile, from caller: Caller, _ answers: ReplySender<Bridge.GetFile.Reply>
  ) async throws(CallError) -> Bridge.GetFile.Reply {
    let limit = max(0, min(call.limit_bytes ?? Self.fileLimit, Self.fileLimit))
    let (held, transfer) = try await carry(call.device, patience: call.patience_ms, caller) {
      accessory throws(AccessoryError) in
      try accessory.requireFiles().makeGetTransfer(call.path, limit: limit, into: AnsweredFile(answers: answers))
    } progress: { _, _ in
    } interrupted: { () throws(CallError) in
      try await answers.send(Bridge.GetFile.Reply(.interrupted))
    }
    var reply = Bridge.GetFile.Reply(.done, size_bytes: transfer.size)
    (reply.device, reply.resumptions, reply.md5) = (held.target, transfer.resumptions, transfer.md5)
    return reply
  }

  package func sendFile(
    _ call: Bridge.SendFile, from caller: Caller, _ answers: ReplySender<Bridge.SendFile.Reply>
  ) async throws(CallError) -> Bridge.SendFile.Reply {
    guard (0...Self.fileLimit).contains(call.size_bytes) else { throw .invalidParameter("size_bytes") }
    let crc32 = try call.crc32.map { text throws(CallError) in
      guard text.utf8.count == 8, let sum = UInt32(text, radix: 16) else { throw .invalidParameter("crc32") }
      return sum
    }
    // A random name, so that no other client can supply bytes for this transfer.
    let name = String(UInt64.random(in: .min ... .max), radix: 16)
    let file = SuppliedFile(count: call.size_bytes, crc32: crc32, name: name, answers: answers, clock: clock)
    clients.supplies[name] = file
    defer { clients.supplies[name] = nil }
    let (held, transfer) = try await carry(call.device, patience: call.patience_ms, caller) {
      accessory throws(AccessoryError) in
      try accessory.requireFiles().makeSendTransfer(
        file, to: call.path, as: call.kind.flatMap { FileKind(rawValue: $0.rawValue) })
    } progress: { done, _ in
      file.note(done: done)
    } interrupted: { () throws(CallError) in
      try await answers.send(Bridge.SendFile.Reply(.interrupted))
    }
    var reply = Bridge.SendFile.Reply(.done)
    (reply.device, reply.resumptions) = (held.target, transfer.resumptions)
    reply.done_bytes = call.size_bytes
    reply.crc32 = transfer.crc32.map { Hexadecimal.string($0) }
    return reply
  }

  package func supplyFile(
    _ call: Bridge.SupplyFile, from caller: Caller
  ) async throws(CallError) -> Bridge.SupplyFile.Reply {
    guard let file = clients.supplies[call.transfer] else { throw .invalidParameter("transfer") }
    try file.supply(call.bytes ?? [], at: call.offset)
    return Bridge.SupplyFile.Reply()
  }

  /// Transfers a file. When the accessory is unplugged, waits for it and resumes the transfer.
  private func carry(
    _ text: String?, patience milliseconds: Int?, _ caller: Caller,
    _ make: (any Accessory) throws(AccessoryError) -> any FileTransfer, progress: @escaping FileProgress,
    interrupted: () async throws(CallError) -> Void
  ) async throws(CallError) -> (Attachment, any FileTransfer) {
    let patience = min(.milliseconds(max(0, min(milliseconds ?? 0, 1 << 40))), Self.longestPatience)
    var (attachment, open) = try await contact(text)
    var begun: (any FileTransfer)?
    while true {
      let generation = attachment.generation
      guard let accessory = open.accessory else { throw unsupported(attachment) }
      var transfer: any FileTransfer
      do throws(AccessoryError) {
        if let begun { transfer = begun } else { transfer = try make(accessory) }
      } catch {
        throw CallError(error, device: attachment.device.id)
      }
      let failure: AccessoryError
      attachment.beginTransfer()
      do throws(AccessoryError) {
        defer { endTransfer(attachment) }
        try await transfer.run(on: accessory, progress: progress)
        return (attachment, transfer)
      } catch {
        failure = error
      }
      begun = transfer
      guard failure.kind == .disconnected, patience > .zero, !Task.isCancelled, !isClosing else {
        throw CallError(failure, device: attachment.device.id)
      }
      log.info("\(attachment.name) was disconnected during a file transfer; the transfer waits until it is back")
      try await interrupted()
      (attachment, open) = try await contactAgain(
        SameAgain(attachment.device), after: (attachment.key, generation), until: clock.now + patience, failure)
    }
  }

  private func endTransfer(_ attachment: Attachment) {
    attachment.endTransfer()
    endWork(attachment)
  }

  /// The same accessory, when it is attached again after the generation `old`.
  private func contactAgain(
    _ again: SameAgain, after old: (key: Int, generation: Int), until end: MonotonicTime, _ failure: AccessoryError
  ) async throws(CallError) -> (Attachment, OpenAccessory) {
    while true {
      // Subscribed before looking, so that no event is missed.
      let (key, stream) = clients.events.subscribe()
      defer { clients.events.unsubscribe(key) }
      let timer = clock.schedule(at: end) { [weak self] in self?.post { $0.clients.events.unsubscribe(key) } }
      defer { clock.cancel(timer) }
      let found = attachments.ordered.first {
        $0.machine.state == .attached && ($0.key, $0.generation) != old && again.fits($0.device)
      }
      if let found, let open = found.open { return (found, open) }
      waiting: for await entry in stream where entry.event.event == .connected {
        if let device = entry.event.device, again.fits(device) { break waiting }
      }
      if Task.isCancelled || isClosing {
        throw CallError(AccessoryError(.cancelled, "the call was cancelled"), device: again.name)
      }
      if clock.now >= end { throw CallError(failure, device: again.name) }
    }
  }
}
