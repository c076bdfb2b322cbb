// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessoryTesting
import TestSupport

@testable import AccessoryLink

/// What a frame says in the tests' protocol: a request `?`, a reply `=`, a refusal `!` or an event `*`, a number, and a
/// text whose first word is what it is about.
struct Said: Equatable, CustomStringConvertible {
  var kind: Character
  var number: UInt32
  var text: String

  init(_ kind: Character, _ number: UInt32, _ text: String) {
    (self.kind, self.number, self.text) = (kind, number, text)
  }

  var topic: Substring { text.prefix { $0 != " " } }
  var description: String { "\(kind)\(number) \(text)" }
}

/// The tests' protocol in one framing.
protocol FrameDialect: SendableMetatype {
  associatedtype Codec: FrameCodec
  static func codec() -> Codec
  static func frame(_ said: Said) -> Frame<Codec.Header>
  static func said(_ frame: Frame<Codec.Header>) -> Said?
}

extension FrameDialect {
  typealias Exchange = FrameExchange<Codec>

  static func exchange(
    _ options: Exchange.Options, isNumbered: Bool, numbers: ClosedRange<UInt32> = 1...255, firstNumber: UInt32 = 1,
    opening: FrameRequest<Codec.Header>? = nil
  ) -> Exchange {
    let numberer: Exchange.NumberWriter = { frame, number in
      if var said = said(frame) {
        said.number = number
        frame = Self.frame(said)
      }
    }
    return FrameExchange(
      codec(), label: "gadget", options: options, opening: opening, numbers: numbers, firstNumber: firstNumber,
      number: isNumbered ? numberer : nil
    ) { arrived, request in
      guard let arrived = said(arrived), let request = said(request), arrived.number == request.number,
        arrived.topic == request.topic
      else { return .unrelated }
      return switch arrived.kind {
      case "=": .reply
      case "!": .refusal(7, "it is tired")
      default: .unrelated
      }
    }
  }

  static func request(
    _ text: String, isAnswered: Bool = true, isIdempotent: Bool = true, timeout: Duration? = nil
  ) -> FrameRequest<Codec.Header> {
    FrameRequest(
      frame(Said("?", 0, text)), name: text.uppercased(), isAnswered: isAnswered, isIdempotent: isIdempotent,
      timeout: timeout)
  }

  static func encoded(_ said: Said) -> [UInt8] {
    let frame = frame(said)
    var bytes: [UInt8] = []
    try? codec().encode(frame.header, payload: frame.payload, into: &bytes)
    return bytes
  }
}

/// A5, length, kind, number, text, CRC-8.
enum BinaryDialect: FrameDialect {
  static func codec() -> HeaderCodec {
    let format = HeaderFormat(
      sync: [0xA5], headerByteCount: 4, length: .init(offset: 1, byteCount: 1),
      payloadChecksum: .init(.crc(.crc8SMBUS), coveredHeader: 1..<4))
    do { return try HeaderCodec(format, maximumPayload: 40) } catch { preconditionFailure("\(error)") }
  }

  static func frame(_ said: Said) -> Frame<HeaderBytes> {
    var header = HeaderBytes(said.kind.asciiValue ?? 0, at: 2)
    header[3] = UInt8(truncatingIfNeeded: said.number)
    return Frame(header, payload: Array(said.text.utf8))
  }

  static func said(_ frame: Frame<HeaderBytes>) -> Said? {
    Said(
      Character(UnicodeScalar(frame.header[2])), UInt32(frame.header[3]), String(decoding: frame.payload, as: UTF8.self)
    )
  }
}

/// Lines such as `?12 battery`.
enum LineDialect: FrameDialect {
  static func codec() -> DelimitedCodec {
    do { return try DelimitedCodec(.lineFeed, maximumPayload: 40) } catch { preconditionFailure("\(error)") }
  }

  static func frame(_ said: Said) -> Frame<NoHeader> { Frame(payload: Array(said.description.utf8)) }

  static func said(_ frame: Frame<NoHeader>) -> Said? {
    let line = String(decoding: frame.payload, as: UTF8.self)
    let words = line.dropFirst().split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard let kind = line.first, words.count == 2, let number = UInt32(words[0]) else { return nil }
    return Said(kind, number, String(words[1]))
  }
}

/// An exchange of the tests' protocol.
struct FrameHarness<Dialect: FrameDialect>: ExchangeHarness {
  var host: ExchangeHost<FrameExchange<Dialect.Codec>>

  init(_ exchange: FrameExchange<Dialect.Codec>) { host = ExchangeHost(exchange) }

  /// An exchange that has made contact.
  init(
    _ dialect: Dialect.Type, isNumbered: Bool = false, numbers: ClosedRange<UInt32> = 1...255, firstNumber: UInt32 = 1,
    _ change: (inout FrameExchange<Dialect.Codec>.Options) -> Void = { _ in }
  ) {
    var options = FrameExchange<Dialect.Codec>.Options()
    change(&options)
    self.init(Dialect.exchange(options, isNumbered: isNumbered, numbers: numbers, firstNumber: firstNumber))
    begin()
    host.completed = []
    host.results = [:]
  }

  @discardableResult
  mutating func ask(
    _ text: String, isAnswered: Bool = true, isIdempotent: Bool = true, timeout: Duration? = nil
  ) -> RequestID {
    submit(Dialect.request(text, isAnswered: isAnswered, isIdempotent: isIdempotent, timeout: timeout))
  }

  /// The transport takes nothing, or something again.
  mutating func block(_ isBlocked: Bool) {
    if isBlocked { host.block() } else { host.unblock() }
  }

  /// What was sent since the last call.
  mutating func takeSent() -> [String] {
    var codec = Dialect.codec()
    var batch = FrameBatch<Dialect.Codec.Header>()
    for message in host.takeWritten() { codec.decode(message.span.bytes, into: &batch) }
    return (0..<batch.count).map { index in
      let frame = Frame(batch.header(at: index), payload: batch.payloadBytes(at: index))
      return Dialect.said(frame)?.description ?? "nothing that can be read"
    }
  }

  mutating func say(_ kind: Character, _ number: UInt32, _ text: String) {
    deliver(Dialect.encoded(Said(kind, number, text)))
  }

  /// What a request was answered; nil when it wasn't, or without a reply.
  func reply(_ id: RequestID) -> String? {
    guard case .success(let reply?)? = results[id] else { return nil }
    return Dialect.said(reply)?.text
  }

  var told: [String] { events.compactMap { Dialect.said($0)?.description } }
  var counters: LinkCounters { exchange.counters }
}
