// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Decodes the traffic between a host and an HM-10, for a trace: commands, which end with silence or with a reply;
/// replies; and, while the module is connected, the bytes of both sides.
struct HM10FrameReader: FrameReader {
  private var module = FrameSide(.fromDevice, HM10LineCodec())
  /// Bytes to the module whose command hasn't ended yet; at most as many as the longest reply has.
  private var command: [UInt8] = []
  /// The last command: the reply `OK+Get:` doesn't say which setting it belongs to.
  private var asked: HM10Command?

  var silenceEndsFrames: Bool { true }
  var isText: Bool { true }

  func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool {
    direction == .toDevice ? !command.isEmpty : module.codec.hasUnfinishedFrame
  }

  mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead] {
    if direction == .toDevice { return take(bytes) }
    // A reply shows that the command before it is complete.
    var reads = endCommand()
    var start = 0
    while start < bytes.count {
      // Byte by byte, because a reply can change how the next bytes are decoded.
      let end = module.codec.isConnected ? bytes.count : start + 1
      reads += read { side, words in side.decode(bytes.span.bytes.extracting(start..<end), words) }
      start = end
    }
    return reads.withNoiseJoined
  }

  mutating func idle(_ direction: ByteDirection) -> [FrameRead] {
    direction == .toDevice ? endCommand() : read { side, words in side.idle(words) }
  }

  mutating func expire(_ direction: ByteDirection) -> [FrameRead] { idle(direction) }

  // MARK: - To the module

  private mutating func take(_ bytes: [UInt8]) -> [FrameRead] {
    var reads: [FrameRead] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(HM10Limits.reply - command.count)
      command += piece
      rest = rest.dropFirst(piece.count)
      if command.count == HM10Limits.reply { reads += endCommand() }
    }
    return reads
  }

  private mutating func endCommand() -> [FrameRead] {
    if command.isEmpty { return [] }
    let bytes = command
    command = []
    let isData = module.codec.isConnected
    if isData, bytes == Array("AT".utf8) { module.codec.disconnect() }
    var words: FrameWords
    if isData, module.codec.isConnected {
      words = HM10Words.data(bytes)
    } else if let command = try? HM10Command(decoding: bytes) {
      asked = command
      words = HM10Words.command(command, bytes)
    } else {
      words = FrameWords.line(HM10Words.name, .whole, bytes)
    }
    (words.payload, words.bytes) = (bytes, bytes)
    return [FrameRead(.toDevice, .frame(words))]
  }

  // MARK: - From the module

  private mutating func read(
    _ body: (inout FrameSide<HM10LineCodec>, FrameSide<HM10LineCodec>.Words) -> [FrameRead]
  ) -> [FrameRead] {
    let asked = asked
    var scanning: Bool?
    var dialect: HM10Dialect?
    let reads = body(&module) { part, outcome, payload in
      guard outcome == .whole else {
        return FrameWords(HM10Words.name, outcome, payload: payload)
      }
      if part == .data { return HM10Words.data(payload) }
      if HM10Dialect(answer: payload) == .clone { dialect = .clone }
      let reply = part == .lost ? HM10Reply.lost : HM10Reply(decoding: payload)
      switch reply {
      case .discovery(.began): scanning = true
      case .discovery(.ended): scanning = false
      default: break
      }
      return HM10Words.reply(reply, payload, to: asked)
    }
    if let scanning { module.codec.isScanning = scanning }
    if let dialect, !module.codec.hasUnfinishedFrame { module.codec.dialect = dialect }
    return reads
  }
}
