// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

/// Routes AF1 frames: gives each client's request a new number, and answers a client's HELLO from the accessory's own HELLO reply.
///
/// The accessory sees one host, which repeats requests and detects a restart of the accessory, as `AF1Exchange` does. Each client sees
/// what looks like the accessory, including the stored replies to requests that must not run twice.
struct AF1Routing: RoutedProtocol {
  /// A reply to a request that must not run twice. It is stored in case the client repeats the request.
  struct KeptReply: Sendable {
    var number: UInt16
    var command: AF1Command
    var payload: [UInt8]
    /// Nil if no reply came. Then it is unknown whether the accessory has carried out the request.
    var reply: [UInt8]?
    var end: MonotonicTime
  }

  struct Memory: Sendable {
    /// The nonce of the client's last HELLO; nil before the first.
    var nonce: UInt32?
    /// The stored replies, oldest first.
    var kept: [KeptReply] = []
  }

  var rules: AF1Exchange
  let needsContact = true
  let halfFramePatience: Duration? = .seconds(1)
  let newMemory = Memory()

  /// How long a reply is stored: as long as the AF1 specification requires of an accessory.
  private static let memoryTime = Duration.seconds(10)
  /// The most replies stored for one client, even if the accessory's window is larger.
  private static let memoryLimit = 8

  init(label: String, options: AF1Exchange.Options) { rules = AF1Exchange(label: label, options: options) }

  func makeCodec() -> AF1Codec { AF1Codec(maximumPayload: Int(UInt16.max), silence: .onlyLast) }

  func window(for request: AF1Request) -> Int { rules.window(overlapping: request.mayOverlap) }

  func read(_ batch: FrameBatch<AF1Header>, at index: Int, allowsWrites: Bool) -> ClientFrame<AF1Request> {
    let header = batch.header(at: index)
    guard !header.flags.contains(.reply), !header.flags.contains(.event) else {
      return .refuse("it sent a reply or an event, which only the accessory does", answer: nil)
    }
    let request = AF1Request(
      header.command, payload: batch.payloadBytes(at: index), mayOverlap: header.command.isIdempotent)
    guard header.flags.contains(.replyWanted) else { return .report(request) }
    return header.command == .hello
      ? .open(request, number: header.number) : .ask(request, number: header.number)
  }

  func answer(toBroken header: AF1Header, _ outcome: FrameOutcome) -> [UInt8]? {
    guard !header.flags.contains(.reply), !header.flags.contains(.event) else { return nil }
    switch outcome {
    case .payloadDamaged: return refusal(header.command, header.number, .payloadDamaged)
    case .tooLong: return refusal(header.command, header.number, .tooLong)
    case .otherVersion: return refusal(header.command, header.number, .unsupportedVersion)
    case .whole, .malformed: return nil
    }
  }

  func isRepeat(_ one: RoutedRequest<AF1Request>, of other: RoutedRequest<AF1Request>) -> Bool {
    one.number == other.number && one.request == other.request
  }

  mutating func message(_ request: AF1Request) -> [UInt8] {
    let header = AF1Header(flags: [], command: request.command, number: rules.nextNumber)
    rules.nextNumber &+= 1
    return frame(header, request.payload)
  }

  // MARK: - Openings

  func opening(_ request: RoutedRequest<AF1Request>, _ memory: inout Memory) -> (answer: [UInt8], isNew: Bool) {
    let hello: AF1HelloRequest
    do throws(AF1PayloadError) {
      hello = try AF1HelloRequest(decoding: request.request.payload)
    } catch {
      return (refusal(.hello, request.number, .badArgument), false)
    }
    // An accessory that doesn't support HELLO would refuse it.
    guard let known = rules.hello else { return (refusal(.hello, request.number, .unknownCommand), false) }
    let isNew = memory.nonce != hello.nonce
    if isNew { memory = Memory(nonce: hello.nonce) }
    var payload: [UInt8] = []
    known.encode(into: &payload)
    return (frame(AF1Header(flags: .reply, command: .hello, number: request.number), payload), isNew)
  }

  func known(_ request: RoutedRequest<AF1Request>, _ memory: Memory, now: MonotonicTime) -> [UInt8]? {
    guard !request.request.isIdempotent else { return nil }
    let kept = memory.kept.last {
      $0.number == request.number && $0.command == request.request.command && $0.payload == request.request.payload
        && $0.end > now
    }
    return kept.map { $0.reply ?? [] }
  }

  func remember(
    _ reply: [UInt8]?, to request: RoutedRequest<AF1Request>, _ memory: inout Memory, now: MonotonicTime
  ) {
    guard !request.request.isIdempotent else { return }
    memory.kept.removeAll { $0.end <= now }
    let window = Int((rules.hello ?? .assumedWithoutHello).window)
    if memory.kept.count >= min(max(window, 1), Self.memoryLimit) { memory.kept.removeFirst() }
    memory.kept.append(
      KeptReply(
        number: request.number, command: request.request.command, payload: request.request.payload, reply: reply,
        end: now + Self.memoryTime))
  }

  // MARK: - Replies

  func reply(
    to request: RoutedRequest<AF1Request>, _ result: Result<AF1Message, AccessoryError>,
    frame: (batch: FrameBatch<AF1Header>, index: Int)?
  ) -> [UInt8]? {
    let command = request.request.command
    switch result {
    case .success(let message):
      return self.frame(AF1Header(flags: .reply, command: command, number: request.number), message.payload)
    case .failure(let error):
      switch (error.kind, error.code) {
      case (.refused, .refusal(let reason)?):
        return refusal(command, request.number, AF1RefusalReason(rawValue: reason))
      case (.misconfigured, _): return refusal(command, request.number, .tooLong)
      case (.busy, _): return refusal(command, request.number, .busy)
      default: return nil
      }
    }
  }

  private func refusal(_ command: AF1Command, _ number: UInt16, _ reason: AF1RefusalReason) -> [UInt8] {
    frame(AF1Header(flags: [.reply, .refused], command: command, number: number), [reason.rawValue])
  }

  private func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    // Each payload was received in a frame, or is one byte long, so it fits into a frame.
    try? rules.codec.encode(header, payload: payload, into: &bytes)
    return bytes
  }
}

extension FrameRouting {
  /// Routes AF1. HELLO is sent once, before the first client's first request. The hub answers the clients' own HELLOs. `label` is the
  /// accessory's name in error messages.
  public static func af1(label: String, options: AF1Exchange.Options = AF1Exchange.Options()) -> FrameRouting {
    FrameRouting(AF1Routing(label: label, options: options))
  }
}
