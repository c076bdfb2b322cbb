// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Decodes the traffic between a host and an EV3, for a trace: messages with a length in front. A reply has only bytes,
/// so their meaning comes from the request, which is stored until then.
struct EV3FrameReader: FrameReader {
  /// The most requests that are stored until their replies. Beyond that the oldest are dropped.
  private static let mostAsked = 64

  private var fromDevice = FrameSide(.fromDevice, EV3Limits.codec)
  private var toDevice = FrameSide(.toDevice, EV3Limits.codec)
  private var asked: [EV3Question] = []
  /// The directions that were silent after their last bytes.
  private var wasSilent: Set<ByteDirection> = []

  func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool {
    (direction == .fromDevice ? fromDevice : toDevice).codec.hasUnfinishedFrame
  }

  mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead] {
    var reads: [FrameRead] = []
    // A message has no start marker. So when bytes after a pause look like the beginning of a message, an unfinished
    // message before the pause is dropped.
    if wasSilent.remove(direction) != nil, hasUnfinishedFrame(direction), Self.beginsMessage(bytes[...]) {
      reads += expire(direction)
    }
    // On USB a report holds one message and is padded, with zeros or with older contents of the buffer.
    let isReport = bytes.count == 64 || bytes.count == EV3Limits.message
    let content = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
    var start = 0
    var hasMessage = false
    while start < bytes.count {
      let side = direction == .fromDevice ? fromDevice : toDevice
      if hasMessage, !side.codec.hasUnfinishedFrame,
        start >= content || isReport && !Self.beginsMessage(bytes[start...])
      {
        break
      }
      let end = min(start + max(1, side.codec.missingByteCount ?? 1), bytes.count)
      let piece = bytes.span.bytes.extracting(start..<end)
      let found = read(direction) { side, words in side.decode(piece, words) }
      hasMessage = hasMessage || found.contains { if case .frame = $0.content { true } else { false } }
      reads += found
      start = end
    }
    return reads.withNoiseJoined
  }

  /// Silence ends only bytes that can't be a message, which are skipped.
  mutating func idle(_ direction: ByteDirection) -> [FrameRead] {
    wasSilent.insert(direction)
    let side = direction == .fromDevice ? fromDevice : toDevice
    return side.codec.isSkipping ? expire(direction) : []
  }

  mutating func expire(_ direction: ByteDirection) -> [FrameRead] {
    read(direction) { side, words in side.expire(words) }
  }

  private mutating func read(
    _ direction: ByteDirection,
    _ body: (inout FrameSide<LengthPrefixedCodec>, FrameSide<LengthPrefixedCodec>.Words) -> [FrameRead]
  ) -> [FrameRead] {
    var asked = asked
    let words: FrameSide<LengthPrefixedCodec>.Words = { prefix, outcome, payload in
      guard outcome == .whole else {
        // A length shorter than the shortest message is noise.
        return outcome == .tooLong ? EV3Words.tooLong(prefix.payloadLength) : nil
      }
      // Can't fail: the codec yields no shorter messages.
      guard let message = try? EV3Message(decoding: payload) else { return nil }
      return EV3Words.words(of: message, &asked)
    }
    let reads = direction == .fromDevice ? body(&fromDevice, words) : body(&toDevice, words)
    self.asked = asked.suffix(Self.mostAsked)
    return reads
  }

  /// Whether the bytes look like the beginning of a message of a known type.
  private static func beginsMessage(_ bytes: ArraySlice<UInt8>) -> Bool {
    let bytes = Array(bytes.prefix(5))
    guard bytes.count == 5 else { return false }
    let length = Int(bytes[0]) | Int(bytes[1]) << 8
    let type = EV3MessageType(rawValue: bytes[4])
    return (3...EV3Limits.messageBehindLength + 2).contains(length) && EV3Words.isKnown(type)
  }
}

/// A direct command that awaits its reply.
struct EV3Question: Sendable {
  /// The message's number.
  let number: UInt16
  /// The instructions in the command.
  let instructions: [EV3Instruction]
}
