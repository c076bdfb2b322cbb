// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Reads what passes between a host and an EV3: messages behind a length. A reply has only bytes, so what was asked is
/// remembered.
struct EV3FrameReader: FrameReader {
  /// Requests that wait for their reply; of more, the oldest are forgotten.
  private static let mostAsked = 64

  private var fromDevice = FrameSide(.fromDevice, EV3Limits.codec)
  private var toDevice = FrameSide(.toDevice, EV3Limits.codec)
  private var asked: [EV3Question] = []
  /// Directions in which there was a pause behind what passed last.
  private var wasSilent: Set<ByteDirection> = []

  func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool {
    (direction == .fromDevice ? fromDevice : toDevice).codec.hasUnfinishedFrame
  }

  mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead] {
    var reads: [FrameRead] = []
    // Nothing in a message tells where it begins. So a message that has begun is given up if it was not gone on with, and
    // what comes then begins like one.
    if wasSilent.remove(direction) != nil, hasUnfinishedFrame(direction), Self.beginsMessage(bytes[...]) {
      reads += expire(direction)
    }
    // On USB a report carries one message, and is filled up behind it: with zeros, or what was in the buffer before.
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

  /// What silence ends is what could not be a message, and is passed over.
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
        // A length below the shortest message's is noise.
        return outcome == .tooLong ? EV3Words.tooLong(prefix.payloadLength) : nil
      }
      // The codec lets nothing shorter through.
      guard let message = try? EV3Message(decoding: payload) else { return nil }
      return EV3Words.words(of: message, &asked)
    }
    let reads = direction == .fromDevice ? body(&fromDevice, words) : body(&toDevice, words)
    self.asked = asked.suffix(Self.mostAsked)
    return reads
  }

  /// Whether a message of a known kind begins here, as far as can be seen.
  private static func beginsMessage(_ bytes: ArraySlice<UInt8>) -> Bool {
    let bytes = Array(bytes.prefix(5))
    guard bytes.count == 5 else { return false }
    let length = Int(bytes[0]) | Int(bytes[1]) << 8
    let type = EV3MessageType(rawValue: bytes[4])
    return (3...EV3Limits.messageBehindLength + 2).contains(length) && EV3Words.isKnown(type)
  }
}

/// A direct command that is to be answered.
struct EV3Question: Sendable {
  /// Its number.
  let number: UInt16
  /// What it has the brick do.
  let instructions: [EV3Instruction]
}
