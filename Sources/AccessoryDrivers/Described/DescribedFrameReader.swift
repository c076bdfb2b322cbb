// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Decodes the frames of a described protocol in both directions, with their fields by name.
struct DescribedFrameReader: FrameReader {
  private var fromDevice, toDevice: FrameSide<DescribedCodec>
  @Boxed private var words: DescribedWords
  /// The latest raw number of each field. A reply can take a count from a field of an earlier reply.
  private var known: [String: Int] = [:]
  /// The last request. When a frame fits several messages, the reply to this request is chosen.
  private var asked: Int?

  /// Returns nil when the description's frames aren't possible. Descriptions that were read from a file are always possible.
  init?(_ description: ProtocolDescription) {
    guard let codec = try? DescribedCodec(description, wire: .either),
      let other = try? DescribedCodec(description, side: .accessory, wire: .either)
    else { return nil }
    (fromDevice, toDevice) = (FrameSide(.fromDevice, codec), FrameSide(.toDevice, other))
    words = DescribedWords(codec)
  }

  /// A reader that decodes no frames and shows bytes.
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

  /// Stores the raw numbers and the last request. Bounded by the number of fields in the description.
  private mutating func settled(_ reads: [FrameRead]) -> [FrameRead] {
    for read in reads {
      guard case .frame(let words) = read.content else { continue }
      for field in words.fields { if case .whole(let number) = field.value { known[field.name] = number } }
      if let request = self.words.request(named: words) { asked = request }
    }
    return reads.withNoiseJoined
  }
}

/// Describes the frames of a described protocol in words.
struct DescribedWords: Sendable {
  private var description: ProtocolDescription { codec.description }
  private let decoder: MessageDecoder
  /// The requests whose bytes never change, by these bytes.
  private let literals: [[UInt8]: Int]
  @Boxed private var codec: DescribedCodec

  init(_ codec: DescribedCodec) {
    self.codec = codec
    decoder = MessageDecoder(codec)
    let (writer, description) = (RequestEncoder(codec), codec.description)
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
        let unit = value.value == .nothing ? "" : value.unit.map { " \($0)" } ?? ""
        return "\(value.name) \(Self.shown(value.value))\(unit)"
      }.joined(separator: ", ") + Self.impossible(decoded.plausibility),
      fields: decoded.values.map { FrameField($0.name, $0.value) } + FrameField.battery(decoded.values))
    words.isRefusal = described.isRefusal
    return words
  }

  /// The numbers that are unknown because they can't be.
  private static func impossible(_ plausibility: Plausibility) -> String {
    guard !plausibility.implausible.isEmpty else { return "" }
    return "; can't be: " + plausibility.implausible.joined(separator: ", ")
  }

  /// A value for people. An empty list and an empty text are words, too.
  private static func shown(_ value: PlainValue) -> String {
    switch value {
    case .list([]): "none"
    case .text(""): "-"
    default: SafeText.escape(value.asExampleText, limit: 48)
    }
  }

  /// The index of the request that these words describe; nil when they describe something else.
  func request(named words: FrameWords) -> Int? {
    words.kind == "request" ? words.command.flatMap { description.request(named: $0) } : nil
  }

  /// Describes a request that was received back: adapters for RS-485 echo what is sent.
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
    }.map { $0 &- (description.units?.sentOffset ?? 0) }
    return FrameWords(
      description.name, "request", title: "request \(request.name)\(self.unit(unit, "to"))", command: request.name)
  }

  /// A unit for a title, as in " from unit 2"; empty when the protocol has no units.
  private func unit(_ unit: Int?, _ preposition: String) -> String {
    unit.map { " \(preposition) unit \($0)" } ?? ""
  }

  /// The request with this framing whose fixed elements equal the frame's. Among several, the one whose body is also equal.
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
