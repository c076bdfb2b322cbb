// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// Makes the frames of messages, as an accessory sends them: the inverse of `MessageDecoder`, with the same fields.
/// Lengths, counts and checks are calculated.
public struct MessageEncoder: Sendable {
  /// The description.
  public var description: ProtocolDescription { codec.description }
  private let codec: DescribedCodec

  /// An encoder for frames of `codec`.
  public init(_ codec: DescribedCodec) { self.codec = codec }

  /// One frame of a message.
  ///
  /// - Parameters:
  ///   - message: The index of the message in the description.
  ///   - values: Values by field name, as decoding returns them. A field without a value is sent as the number or text
  ///     that means "unknown", if it has one; otherwise as 0 or as an empty text.
  ///   - elements: The numbers of the frame's elements, by index. If a number doesn't fulfil a condition of the
  ///     message, the first number of the condition is sent.
  ///   - surplus: Bytes to append to the body that the description defines.
  /// - Throws: `FrameEncodingError` if no framing of the message has such a frame.
  public func frame(
    _ message: Int, _ values: [String: PlainValue], elements: [Int: Int] = [:], surplus: [UInt8] = []
  ) throws(FrameEncodingError) -> [UInt8] {
    let described = description.messages[message]
    var numbers = elements
    for condition in described.conditions where !condition.isNegated {
      if let number = elements[condition.element], condition.values.contains(number) { continue }
      numbers[condition.element] = condition.values.first
    }
    let body = body(message, values) + surplus
    for framing in described.framings.dropLast() {
      // Another framing may allow longer frames.
      if let frame = try? codec.frame(framing, numbers, body: body) { return frame }
    }
    return try codec.frame(described.framings.last ?? described.framing, numbers, body: body)
  }

  /// The body of a frame of the message.
  public func body(_ message: Int, _ values: [String: PlainValue]) -> [UInt8] {
    let described = description.messages[message]
    switch described.body {
    case .nothing:
      if case .layout(let plan) = codec.kinds[described.framing] { return [UInt8](repeating: 0, count: plan.fixedBody) }
      return []
    case .fields(let steps):
      var writing = BodyWriting(values: values, steps: steps)
      writing.write(steps)
      if case .layout(let plan) = codec.kinds[described.framing], plan.extent == .fixed {
        // The rest of a body of a fixed size is zeros.
        writing.pad(to: plan.fixedBody)
      } else if case .window(let window) = codec.kinds[described.framing] {
        writing.pad(to: window.pattern.count)
        return zip(writing.body, zip(window.pattern, window.mask)).map { $0 & ~$1.1 | $1.0 }
      }
      return writing.body
    case .tags(let tags):
      var writing = BodyWriting(values: values, steps: tags.keys.sorted().flatMap { tags[$0] ?? [] })
      for tag in tags.keys.sorted() {
        guard let steps = tags[tag], writing.hasValue(in: steps) else { continue }
        writing.body.append(tag)
        writing.write(steps)
      }
      return writing.body
    case .registers(let block):
      var writing = BodyWriting(values: values, steps: [])
      writing.write(block)
      return writing.body
    case .pairs(let pairs): return self.pairs(pairs, values, framing: described.framing)
    case .table(let table): return TextWriting.table(table, values)
    case .columns(let columns): return TextWriting.columns(columns, values)
    case .pattern(let pattern):
      return pattern.parts.flatMap { part in
        switch part {
        case .literal(let bytes): bytes
        case .field(let field): TextWriting.text(field, values[field.name])
        }
      }
    }
  }

  private func pairs(
    _ body: ProtocolDescription.PairsBody, _ values: [String: PlainValue], framing: Int
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    for label in body.fields.keys.sorted() {
      guard let field = body.fields[label], let value = values[field.name] else { continue }
      let line = Array(label.utf8) + body.separator + TextWriting.text(field, value)
      if let end = body.lineEnd {
        bytes += line + end
      } else if case .pairs(let block) = codec.kinds[framing] {
        bytes += block.pairs.begin + line
      }
    }
    return bytes
  }
}

extension ProtocolDescription.Field {
  /// The raw number for a value; nil if there is none: the value is no number, or the field has no number for it. `sent` are the numbers
  /// of other fields.
  func raw(for value: PlainValue?, sent: (String) -> Int? = { _ in nil }) -> Int? {
    switch value {
    case nil, .nothing?: return unknownNumbers.first
    case .flag(let flag)?: return flag ? 1 : 0
    case .text(let word)?:
      if let raw = words.first(where: { $0.value == word })?.key { return raw }
      // A number without a word. The numbers of texts are only the description's own.
      if case .word = type { return nil }
      return words.isEmpty ? nil : Int(word)
    case .list(let list)?:
      var raw = 0
      for element in list {
        guard case .text(let name) = element, let bit = flags.first(where: { $0.value == name })?.key, bit < 63 else {
          continue
        }
        raw |= 1 << bit
      }
      return raw
    case .whole(let number)?: return raw(for: Double(number), sent)
    case .number(let number)?: return raw(for: number, sent)
    case .bytes?: return nil
    }
  }

  private func raw(for number: Double, _ sent: (String) -> Int?) -> Int? {
    if let linear = formula.linear { return Int(exactly: linear.inverse(number).rounded()) }
    return formula.inverse(number, of: self, sent: sent)
  }
}
