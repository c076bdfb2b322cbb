// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: the HM-10's commands and replies, both ways, and what a scan makes of them. The first byte
// chooses the dialect.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  let dialect = HM10Dialect.allCases[choice % 2]
  check(dialect.codec, bytes, choice: choice, mostKept: HM10Limits.reply) { $0.unfinishedByteCount }

  var codec = dialect.codec
  var batch = FrameBatch<ReplyEnd>()
  codec.decode(bytes.span.bytes, into: &batch)
  codec.idle(into: &batch)
  var scan = HM10Scan(limit: 10)
  for index in 0..<batch.count {
    let reply = checkReply(batch.payloadBytes(at: index))
    if let neighbour = scan.take(reply) { precondition(scan.neighbours.contains(neighbour)) }
    precondition(scan.neighbours.count <= 10 && scan.strongestFirst.count == scan.neighbours.count)
  }
  _ = checkReply(bytes)
  let garbled = HM10Reply.replies(inGarbled: bytes)
  precondition(!garbled.isEmpty && garbled.count <= bytes.count)
  for reply in garbled { precondition(HM10Reply(decoding: reply.encoded) == reply, "a reply changes") }

  for line in [bytes, Array("AT+".utf8) + bytes, Array("AT+CON".utf8) + bytes] {
    guard let command = try? HM10Command(decoding: line) else { continue }
    for dialect in HM10Dialect.allCases {
      guard let wire = try? command.encoded(for: dialect) else { preconditionFailure("a command can't be written") }
      precondition((try? HM10Command(decoding: wire)) == command, "a command changes")
    }
  }
  return 0
}

/// What a reply says is the same when it is written and read again.
private func checkReply(_ bytes: [UInt8]) -> HM10Reply {
  let reply = HM10Reply(decoding: bytes)
  precondition(HM10Reply(decoding: reply.encoded) == reply, "a reply changes")
  if let percent = reply.batteryPercent { precondition((0...100).contains(percent)) }
  for setting in HM10Setting.allCases {
    if let value = setting.value(of: reply) { precondition(setting.range.contains(value)) }
  }
  return reply
}
