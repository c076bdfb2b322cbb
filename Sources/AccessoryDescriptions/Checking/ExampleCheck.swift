// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Runs the examples of a description: checks that requests are encoded as the examples say, and that received bytes
/// decode to the expected values.
public struct ExampleCheck: Sendable {
  /// An example that fails.
  public struct Problem: Sendable, Hashable {
    /// The index of the example in the description.
    public var example: Int
    /// The line of the example in its file, from 1; 0 when it isn't from a file.
    public var line: Int
    /// What was expected and what was found, for people.
    public var message: String
  }

  private var description: ProtocolDescription { codec.description }
  @Boxed private var codec: DescribedCodec
  private let decoder: MessageDecoder
  private let writer: RequestEncoder

  /// A check of this description. Throws `FramingParameterError` if a framing's parameters don't fit together.
  public init(_ description: ProtocolDescription) throws(FramingParameterError) {
    let codec = try DescribedCodec(description)
    self.codec = codec
    decoder = MessageDecoder(codec)
    writer = RequestEncoder(codec)
  }

  /// All failures, in the order of the examples; at most three for each example.
  public func problems() -> [Problem] {
    description.examples.indices.flatMap { index in
      problems(description.examples[index]).prefix(3).map {
        Problem(example: index, line: description.examples[index].line, message: $0)
      }
    }
  }

  /// The values in an example's received bytes, by name; simulators reply with them. Nil if there is no message in the
  /// bytes.
  public func values(_ example: Int) -> (message: Int, values: [String: PlainValue], elements: [Int: Int])? {
    var known = description.examples[example].given
    let read = read(description.examples[example], known: &known)
    guard let first = read.frames.first else { return nil }
    return (first.message, read.values.mapValues(\.value), first.elements)
  }

  // MARK: - One example

  /// Examples are independent: an example knows only the earlier values that it lists as `given`.
  private func problems(_ example: ProtocolDescription.Example) -> [String] {
    var known = example.given
    var problems: [String] = []
    var sentElements: [Int: Int] = [:]
    if let request = example.request {
      do throws(FrameEncodingError) {
        let writer =
          example.parameters.isEmpty ? writer : RequestEncoder(codec, parameters: example.parameters)
        let (bytes, elements) = try writer.bytes(request, example.arguments, unit: example.unit)
        sentElements = elements
        if let sent = example.sent, sent != bytes {
          problems.append(
            "\(description.requests[request].name) sends \(Hexadecimal.string(bytes)), not \(Hexadecimal.string(sent))")
        }
      } catch {
        problems.append("\(description.requests[request].name) can't be sent: \(error)")
      }
    }
    let read = read(example, known: &known)
    let unit = example.unit ?? description.units?.defaultUnit
    let answers = read.frames.filter { frame in
      guard frame.unit == unit || example.request == nil && example.unit == nil else { return false }
      guard let request = example.request else { return true }
      let described = description.requests[request]
      return described.reply == frame.message
        && described.echoes.allSatisfy { frame.elements[$0.reply] == sentElements[$0.request] ?? 0 }
    }
    if example.isRefused {
      if let answer = answers.first(where: { !description.messages[$0.message].isRefusal }) {
        problems.append("it was read as \(description.messages[answer.message].name), but should have been refused")
      }
      return problems
    }
    if answers.isEmpty, !example.received.isEmpty {
      let others = read.frames.map { description.messages[$0.message].name }
      // An example without a request and without expected values only needs a frame; the frame may have no meaning.
      if read.frameCount > 0, example.request == nil, example.expected.isEmpty { return problems }
      let wanted = example.request.flatMap { description.requests[$0].reply }.map { description.messages[$0].name }
      if read.frameCount == 0 {
        problems.append(
          "it has no frame of this protocol: "
            + (read.mismatch.map(\.description) ?? "the beginning, the length or the check doesn't match the framings"))
      } else if let unit, let other = read.frames.compactMap(\.unit).first(where: { $0 != unit }) {
        problems.append("it comes from unit \(other), not from unit \(unit)")
      } else if let disbelief = read.disbelief {
        problems.append(disbelief.message)
      } else if others.isEmpty {
        problems.append("no message matches its frame")
      } else {
        problems.append("it was read as \(others.joined(separator: ", ")), not as \(wanted ?? "a message")")
      }
      return problems
    }
    var values = read.values.mapValues(\.value)
    let raws = read.values
    for derived in description.setting(example.parameters).derivedValues(
      from: { values[$0] }, raw: { raws[$0]?.raw })
    {
      values[derived.name] = derived.value
    }
    for (name, expected) in example.expected.sorted(by: { $0.key < $1.key }) {
      guard let value = values[name] else {
        if expected == "unknown" { continue }
        problems.append(
          "it has no value \(name): its values are \(values.keys.sorted().prefix(12).joined(separator: ", "))")
        continue
      }
      if !Self.isSame(value, expected) {
        problems.append("\(name) is \(value.asExampleText), not \(expected)")
      }
    }
    return problems
  }

  private static func isSame(_ value: PlainValue, _ expected: String) -> Bool {
    if value.asExampleText == expected { return true }
    // 12.30 equals 12.3.
    if let number = value.asNumber, let wanted = Double(expected) { return number == wanted }
    guard case .list(let list) = value, !list.isEmpty else { return false }
    let wanted = expected.split(separator: ", ", omittingEmptySubsequences: false)
    return wanted.count == list.count && zip(list, wanted).allSatisfy { isSame($0, String($1)) }
  }

  /// The message that a frame is for the sender of `request`: a refusal, its reply, or any other message.
  private func message(
    _ header: DescribedHeader, _ content: [UInt8], for request: ProtocolDescription.Request?
  ) -> Int? {
    let span = content.span.bytes
    guard let request else { return decoder.message(header, span) }
    let refusals =
      request.refusals.isEmpty
      ? description.messages.indices.filter { description.messages[$0].isRefusal } : request.refusals
    return refusals.first { decoder.fits($0, header, span) } ?? decoder.message(header, span, expected: request.reply)
  }

  private struct Frame {
    var message: Int
    var unit: Int?
    var elements: [Int: Int]
  }

  /// Decodes all frames of an example. Lists of several frames are joined where the message comes in pieces.
  private func read(
    _ example: ProtocolDescription.Example, known: inout [String: Int]
  ) -> (
    frames: [Frame], frameCount: Int, values: [String: DescribedValue], mismatch: CheckMismatch?,
    disbelief: AccessoryError?
  ) {
    let request = example.request.map { description.requests[$0] }
    let sent =
      example.sent ?? example.request.flatMap { try? writer.bytes($0, example.arguments, unit: example.unit).bytes }
    var codec = codec
    var batch = FrameBatch<DescribedHeader>()
    codec.decode(example.received.span.bytes, into: &batch)
    codec.idle(into: &batch)
    var (frames, values): ([Frame], [String: DescribedValue]) = ([], [:])
    var disbelief: AccessoryError?
    // Replies that come in pieces, by the index of their message.
    var joined: [Int: DecodedMessage] = [:]
    for index in 0..<batch.count {
      var header = batch.header(at: index)
      let content = batch.payloadBytes(at: index)
      if request?.isEchoed == true, let sent, content[header.body].starts(with: sent) {
        header.body = (header.body.lowerBound + sent.count)..<header.body.upperBound
      }
      guard let message = message(header, content, for: request) else { continue }
      var decoded = decoder.decode(message, header, content.span.bytes, known: known)
      // A message that makes no sense is none.
      if let refusal = decoded.plausibility.disbelief(in: "its message \(description.messages[message].name)") {
        disbelief = refusal
        continue
      }
      var elements: [Int: Int] = [:]
      for element in 0..<64 { elements[element] = decoder.number(element, header, content.span.bytes) }
      frames.append(Frame(message: message, unit: decoder.unit(header, content.span.bytes), elements: elements))
      for value in decoded.values { if let raw = value.raw { known[value.name] = raw } }
      if let pieces = description.messages[message].pieces {
        joined[message, default: DecodedMessage(message: message)].join(decoded)
        if let things = pieces.count.flatMap({ known[$0] }) { joined[message]?.cutLists(to: things) }
        decoded = joined[message] ?? decoded
      }
      for value in decoded.values { values[value.name] = value }
    }
    return (frames, batch.count, values, codec.mismatch, disbelief)
  }
}
