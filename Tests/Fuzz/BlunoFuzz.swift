// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// A target for libFuzzer: what a Bluno is sent, as a remote control and in AT mode, and what it answers. The first byte
// chooses the keys.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let (choice, bytes) = input(data, count) else { return 0 }
  var keys = BlunoKeyMap()
  if choice % 2 == 1 { do { try keys.set(.up, to: "8") } catch { preconditionFailure("\(error)") } }
  checkMessages(bytes, keys, choice)
  check(BlunoReply.codec, bytes, choice: choice, mostKept: BlunoLimits.reply) { $0.unfinishedByteCount }

  let reply = BlunoReply(decoding: bytes)
  precondition(BlunoReply(decoding: reply.encoded) == reply, "a reply changes")
  _ = reply.address
  for parameter in BlunoParameter.allCases { _ = reply.number(of: parameter) }

  for line in [bytes, Array("AT+".utf8) + bytes] {
    guard let command = try? BlunoCommand(decoding: line) else { continue }
    guard let wire = try? command.encoded() else { preconditionFailure("a command can't be written") }
    precondition((try? BlunoCommand(decoding: wire)) == command, "a command changes")
  }
  return 0
}

private func checkMessages(_ bytes: [UInt8], _ keys: BlunoKeyMap, _ choice: Int) {
  var whole = BlunoDecoder(keys: keys)
  let expected = whole.decode(bytes) + whole.finish()
  var chance = Chance(state: UInt64(choice))
  var cut = BlunoDecoder(keys: keys)
  var messages: [BlunoMessage] = []
  var start = 0
  while start < bytes.count {
    let end = min(bytes.count, start + 1 + chance.next(below: 5))
    messages += cut.decode(Array(bytes[start..<end]))
    precondition(cut.unfinishedByteCount <= 11, "more is kept than may be")
    start = end
  }
  precondition(messages + cut.finish() == expected, "cuts matter")
  for message in expected.prefix(50) {
    guard let wire = try? message.encoded(keys: keys) else { preconditionFailure("a message can't be written") }
    var again = BlunoDecoder(keys: keys)
    let read = again.decode(wire) + again.finish()
    // A speed that never ended, or half a character, comes apart otherwise than it came.
    if case .text = message { continue }
    precondition(read == [message], "a message changes")
  }
  let line = BlunoMessage(line: bytes, keys: keys)
  guard let wire = try? line.encoded(keys: keys, endingLine: true) else {
    preconditionFailure("a line can't be written")
  }
  precondition(BlunoMessage(line: wire, keys: keys) == line, "a line changes")
}
