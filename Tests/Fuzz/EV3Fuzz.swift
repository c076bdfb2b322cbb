// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyEV3

// A target for libFuzzer: the EV3's messages, both ways. What can be read can be written again, and means the same.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  var codec = EV3Limits.codec
  var batch = FrameBatch<LengthPrefix>()
  codec.decode(bytes.span.bytes, into: &batch)
  for index in 0..<batch.count where batch.outcome(at: index) == .whole {
    // The codec lets nothing shorter through.
    guard let message = try? EV3Message(decoding: batch.payloadBytes(at: index)) else { preconditionFailure() }
    check(message)
  }
  // The bytes as each kind of body, too: few inputs are whole messages.
  for type in [EV3MessageType.directCommand, .directReply, .systemCommand, .systemReply] {
    check(EV3Message(number: 1, type: type, body: Array(bytes.prefix(1_000))))
  }
  if let entries = try? EV3FolderEntry.entries(in: bytes) {
    let listing = entries.map(\.line).joined()
    precondition((try? EV3FolderEntry.entries(in: Array(listing.utf8))) == entries, "a listing changes")
  }
  return 0
}

private func check(_ message: EV3Message) {
  if message.body.count <= 1_019, let wire = try? message.encoded() {
    precondition((try? EV3Message(decoding: Array(wire[2...]))) == message, "a message changes")
  }
  switch message.type {
  case .directCommand, .directCommandNoReply: checkCode(message.body)
  case .systemCommand, .systemCommandNoReply: checkSystem(message.body)
  case .directReply: checkReply(message.body)
  case .systemReply, .systemError:
    guard let reply = try? EV3SystemReply(decoding: message.body) else { return }
    precondition(reply.body == message.body, "a reply changes")
    if let beginning = try? reply.beginning() { precondition(beginning.data.count + 5 == reply.data.count) }
    if let piece = try? reply.piece() { precondition(piece.data.count + 1 == reply.data.count) }
    precondition(reply.openHandles.allSatisfy { $0 < reply.data.count * 8 })
  default: break
  }
}

private func checkCode(_ body: [UInt8]) {
  guard let command = try? EV3DirectCommand(decoding: body) else { return }
  precondition(command.body == body, "a command changes")
  guard let instructions = try? command.instructions() else { return }
  // A sub-command, a number or an offset may be written in more ways than one; what is written is read as the same.
  let code = instructions.code
  guard let again = try? EV3Instruction.decode(code.span.bytes) else { preconditionFailure("code can't be read") }
  precondition(again == instructions && again.code == code, "code changes")
}

private func checkSystem(_ body: [UInt8]) {
  guard let command = try? EV3SystemCommand(decoding: body) else { return }
  // What isn't UTF-8 in a path is repaired, and may become longer than a message.
  guard let written = try? command.body() else { return }
  precondition((try? EV3SystemCommand(decoding: written)) == command, "a system command changes")
}

/// As the reply to a batch that the first bytes choose.
private func checkReply(_ body: [UInt8]) {
  var batch = EV3Batch()
  do {
    let name = try batch.add(.brickName)
    let volts = try batch.add(.batteryVoltage)
    let values = try batch.add(.readyRaw(.one, count: 1 + Int(body.first ?? 0) % 8))
    let devices = try batch.add(.devices)
    let horizontal = try batch.add(.horizontalButtons)
    guard let reply = try? EV3BatchReply(decoding: body, of: batch) else {
      precondition(body.count < batch.globalByteCount, "a reply is refused")
      return
    }
    precondition(reply[name].unicodeScalars.count <= 32 && !reply[name].contains("\0"))
    precondition(reply[devices].count == 32 && reply[values].count == 1 + Int(body.first ?? 0) % 8)
    precondition((-32_768...32_767).contains(reply[horizontal]))
    _ = reply[volts]
  } catch {
    preconditionFailure("\(error)")  // five commands always fit
  }
}
