// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Reads the frames of a described protocol both ways, with their fields by name.
struct DescribedFrameReader: FrameReader {
  private var fromDevice, toDevice: FrameSide<DescribedCodec>
  private let words: DescribedWords
  /// Raw numbers that were read, by their fields: counts in replies refer to earlier ones.
  private var known: [String: Int] = [:]
  /// The request that was sent last: of several messages that a frame can be, it is the one that answers that.
  private var asked: Int?

  /// Nil if there can be no such frames, which a description that was read from a file never has.
  init?(_ description: ProtocolDescription) {
    guard let codec = try? DescribedCodec(description, wire: .either),
      let other = try? DescribedCodec(description, side: .accessory, wire: .either)
    else { return nil }
    (fromDevice, toDevice) = (FrameSide(.fromDevice, codec), FrameSide(.toDevice, other))
    words = DescribedWords(codec)
  }

  /// A reader that finds no frames, only bytes.
  static func none(_ name: String) -> any FrameReader { CodecFrameReader(LineExchange.lines, name: name) }

  mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead] {
    let (words, numbers, asked) = (words, known, asked)
    return settled(
      direction == .fromDevice
        ? fromDevice.decode(bytes.span.bytes) { words.words($0, $1, $2, direction, known: numbers, asked: asked) }
        : toDevice.decode(bytes.span.bytes) { words.words($0, $1, $2, direction, known: numbers, asked: asked) })
  }

  mutating func idle(_ direction: ByteDirection) -> [FrameRead] {
    let (words, numbers, asked) = (words, known, asked)
    return settled(
      direction == .fromDevice
        ? fromDevice.idle { words.words($0, $1, $2, direction, known: numbers, asked: asked) }
        : toDevice.idle { words.words($0, $1, $2, direction, known: numbers, asked: asked) })
  }

  mutating func expire(_ direction: ByteDirection) -> [FrameRead] {
    let (words, numbers, asked) = (words, known, asked)
    return settled(
      direction == .fromDevice
        ? fromDevice.expire { words.words($0, $1, $2, direction, known: numbers, asked: asked) }
        : toDevice.expire { words.words($0, $1, $2, direction, known: numbers, asked: asked) })
  }

  func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool {
    direction == .fromDevice ? fromDevice.codec.hasUnfinishedFrame : toDevice.codec.hasUnfinishedFrame
  }

  /// Remembers the counts that were read. There are as many names as the description has fields.
  private mutating func settled(_ reads: [FrameRead]) -> [FrameRead] {
    for read in reads {
      guard case .frame(let words) = read.content else { continue }
      for field in words.fields { if case .whole(let number) = field.value { known[field.name] = number } }
      if let request = self.words.request(named: words) { asked = request }
    }
    return reads.withNoiseJoined
  }
}

/// The words of a described protocol's frames.
struct DescribedWords: Sendable {
  private let description: ProtocolDescription
  private let decoder: MessageDecoder
  /// Literal requests by their bytes.
  private let literals: [[UInt8]: Int]
  private let codec: DescribedCodec

  init(_ codec: DescribedCodec) {
    (self.codec, description) = (codec, codec.description)
    decoder = MessageDecoder(codec)
    let writer = RequestWriter(codec)
    var literals: [[UInt8]: Int] = [:]
    for index in description.requests.indices {
      if let bytes = try? writer.bytes(index).bytes, literals[bytes] == nil { literals[bytes] = index }
    }
    self.literals = literals
  }

  func words(
    _ header: DescribedHeader, _ outcome: FrameOutcome, _ payload: [UInt8], _ direction: ByteDirection,
    known: [String: Int], asked: Int? = nil
  ) -> FrameWords? {
    guard outcome == .whole else { return FrameWords(description.name, outcome, payload: payload) }
    if direction == .toDevice { return request(header, payload) }
    let expected = asked.flatMap { description.requests[$0].reply }
    guard let message = decoder.message(header, payload.span.bytes, expected: expected) else {
      if description.modbus != nil, let echo = echo(header, payload) { return echo }
      return FrameWords(description.name, outcome, payload: payload)
    }
    let described = description.messages[message]
    let decoded = decoder.decode(message, header, payload.span.bytes, known: known)
    let kind = described.isRefusal ? "refusal" : described.isPushed ? "event" : "reply"
    let shown = decoded.values.filter { !$0.isHidden }
    var words = FrameWords(
      description.name, kind, title: "\(kind) \(described.name)\(unit(decoded.unit, "from"))", command: described.name,
      summary: shown.map { value in
        let unit = value.unit.map { " \($0)" } ?? ""
        return "\(value.name) \(SafeText.escape(value.value.asExampleText, limit: 48))\(unit)"
      }.joined(separator: ", "),
      fields: decoded.values.map { FrameField($0.name, $0.value) })
    words.isRefusal = described.isRefusal
    return words
  }

  /// The request that these words are of, by its place; nil where they aren't a request's.
  func request(named words: FrameWords) -> Int? {
    words.kind == "request" ? words.command.flatMap { description.request(named: $0) } : nil
  }

  /// A request that the line has given back, as adapters for RS-485 do.
  private func echo(_ header: DescribedHeader, _ payload: [UInt8]) -> FrameWords? {
    guard let name = request(header, payload).command else { return nil }
    return FrameWords(description.name, "echo", title: "echo of \(name)", command: name)
  }

  private func request(_ header: DescribedHeader, _ payload: [UInt8]) -> FrameWords {
    var bytes: [UInt8] = []
    try? codec.encode(header, payload: payload, into: &bytes)
    guard let index = literals[bytes] ?? likeliest(header, payload) else {
      return FrameWords(description.name, .whole, payload: payload)
    }
    let request = description.requests[index]
    let unit = description.unitElement(of: header.framing).flatMap {
      decoder.number($0, header, payload.span.bytes)
    }.map { $0 &- (description.units?.sent ?? 0) }
    return FrameWords(
      description.name, "request", title: "request \(request.name)\(self.unit(unit, "to"))", command: request.name)
  }

  /// " from unit 2"; nothing where the protocol has no units.
  private func unit(_ unit: Int?, _ preposition: String) -> String {
    unit.map { " \(preposition) unit \($0)" } ?? ""
  }

  /// The request of this framing whose fixed elements are those of the frame; of several the one that has its body, too.
  private func likeliest(_ header: DescribedHeader, _ payload: [UInt8]) -> Int? {
    let fitting = description.requests.indices.filter { index in
      guard case .frame(header.framing, let elements, _) = description.requests[index].sends else { return false }
      return elements.allSatisfy { decoder.number($0.key, header, payload.span.bytes) == $0.value }
    }
    guard fitting.count > 1, header.body.upperBound <= payload.count else { return fitting.first }
    return fitting.first { index in
      guard case .frame(_, _, let parts) = description.requests[index].sends else { return false }
      let body = parts.flatMap { if case .bytes(let bytes) = $0 { bytes } else { [] as [UInt8] } }
      return body.elementsEqual(payload[header.body])
    } ?? fitting.first
  }
}
