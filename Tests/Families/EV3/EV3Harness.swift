// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessoryTesting
import TestSupport

@testable import AccessoryLink
@testable import FamilyEV3

/// An EV3 exchange.
struct EV3Harness: ExchangeHarness {
  static let firstNumber: UInt16 = 0x002A
  static let markerCode: UInt8 = 0x9D

  var host: ExchangeHost<EV3Exchange>
  /// The transport takes nothing.
  var isBlocked: Bool { host.isBlocked }

  init(options: EV3Exchange.Options = .init(), firstNumber: UInt16 = Self.firstNumber) {
    host = ExchangeHost(EV3Exchange(label: "brick", options: options, firstNumber: firstNumber))
  }

  /// An exchange that has made contact.
  static func opened(options: EV3Exchange.Options = .init()) -> EV3Harness {
    var harness = EV3Harness(options: options)
    harness.begin()
    harness.answerMarkers()
    return harness
  }

  // MARK: - The host's side

  /// A direct command of `count` NOPs.
  @discardableResult
  mutating func direct(_ count: Int = 1, wantsReply: Bool = true, timeout: Duration? = nil) -> RequestID {
    let body = [0, 0] + [UInt8](repeating: 1, count: count)
    return submit(EV3Request(wantsReply ? .directCommand : .directCommandNoReply, body: body, timeout: timeout))
  }

  @discardableResult
  mutating func system(_ command: EV3SystemCommand) throws -> RequestID { submit(try EV3Request(command)) }

  /// The transport takes something again.
  mutating func unblock() {
    host.unblock()
  }

  func reply(_ id: RequestID) -> EV3Message? { if case .success(let message)? = results[id] { message } else { nil } }

  // MARK: - The brick's side

  /// What was sent since the last call.
  mutating func takeSent() -> [EV3Message] {
    var codec = EV3Limits.codec
    var batch = FrameBatch<LengthPrefix>()
    for message in host.takeWritten() { codec.decode(message.span.bytes, into: &batch) }
    return (0..<batch.count).compactMap { try? EV3Message(decoding: batch.payloadBytes(at: $0)) }
  }

  /// A report of a HID interface.
  mutating func deliver(report: [UInt8]) {
    host.deliver(message: report)
  }

  mutating func answer(_ message: EV3Message, _ type: EV3MessageType, _ body: [UInt8] = []) {
    deliver((try? EV3Message(number: message.number, type: type, body: body).encoded()) ?? [])
  }

  /// Answers what asks for the open handles, and gives back the rest.
  @discardableResult
  mutating func answerMarkers() -> [EV3Message] {
    var rest: [EV3Message] = []
    var messages = takeSent()
    while !messages.isEmpty {
      for message in messages {
        if message.type == .systemCommand, message.body.first == Self.markerCode {
          answer(message, .systemReply, [Self.markerCode, 0, 0])
        } else {
          rest.append(message)
        }
      }
      messages = takeSent()
    }
    return rest
  }
}
