// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import AccessoryTesting
import TestSupport

@testable import AccessoryLink
@testable import FamilyAF1

/// An AF1 exchange.
struct AF1Harness: ExchangeHarness {
  /// A request as the accessory sees it.
  struct Sent: Equatable {
    var command: AF1Command
    var number: UInt16
    var payload: [UInt8]
  }

  static let firstNumber: UInt16 = 0x2A17
  static let nonce: UInt32 = 0x1234_5678

  var host: ExchangeHost<AF1Exchange>
  /// How often something was completed: each request once.
  var completions: Int { completed.count }
  private var accessory = AF1Codec(maximumPayload: 65_535)

  init(options: AF1Exchange.Options = .init(), firstNumber: UInt16 = Self.firstNumber, timing: LineTiming = .instant) {
    host = ExchangeHost(
      AF1Exchange(label: "gadget", options: options, firstNumber: firstNumber, nonce: Self.nonce),
      timing: timing)
  }

  /// An exchange that has said HELLO and was greeted.
  static func opened(options: AF1Exchange.Options = .init(), timing: LineTiming = .instant) -> AF1Harness {
    var harness = AF1Harness(options: options, timing: timing)
    harness.begin()
    harness.greet()
    return harness
  }

  // MARK: - The accessory's side

  /// What was sent since the last call.
  mutating func takeSent() -> [Sent] {
    var batch = FrameBatch<AF1Header>()
    for message in host.takeWritten() { accessory.decode(message.span.bytes, into: &batch) }
    return (0..<batch.count).map { index in
      let header = batch.header(at: index)
      return Sent(command: header.command, number: header.number, payload: batch.payloadBytes(at: index))
    }
  }

  static func frame(_ header: AF1Header, _ payload: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    try? AF1Codec(maximumPayload: 65_535).encode(header, payload: payload, into: &frame)
    return frame
  }

  mutating func reply(_ request: Sent, _ payload: [UInt8]) {
    deliver(Self.frame(AF1Header(flags: .reply, command: request.command, number: request.number), payload))
  }

  mutating func refuse(_ request: Sent, _ reason: AF1RefusalReason) {
    let header = AF1Header(flags: [.reply, .refused], command: request.command, number: request.number)
    deliver(Self.frame(header, [reason.rawValue]))
  }

  mutating func event(_ number: UInt16, _ payload: [UInt8] = [1]) {
    deliver(Self.frame(.event(.battery, number: number), payload))
  }

  /// Answers the HELLO that is outstanding.
  mutating func greet(bootID: UInt32 = 0xC0FF_EE01, largestPayload: UInt16 = 4_096, window: UInt8 = 1) {
    guard let hello = takeSent().last, hello.command == .hello else { return }
    var payload: [UInt8] = []
    AF1HelloReply(bootID: bootID, largestPayload: largestPayload, window: window).encode(into: &payload)
    reply(hello, payload)
  }
}
