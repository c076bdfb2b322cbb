// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

@Suite struct AF1OpeningTests {
  @Test func helloIsTheFirstRequestAndHasTheFormOfTheSpecification() {
    var harness = AF1Harness()
    let id = harness.begin()
    // The specification's vector: HELLO #2A17, nonce 12345678.
    #expect(
      harness.takeSent() == [.init(command: .hello, number: 0x2A17, payload: [0x78, 0x56, 0x34, 0x12])])
    #expect(harness.results[id] == nil)
    harness.deliver(
      [0x0F, 0xF0, 0x12, 0x00, 0x17, 0x2A, 0x08, 0x00, 0x84, 0xD4, 0x01, 0xEE, 0xFF, 0xC0]
        + [0x00, 0x10, 0x01, 0x00, 0x9B, 0xD3, 0xFB, 0xF2])
    #expect(throws: Never.self) { try harness.results[id]?.get() }
    #expect(harness.exchange.hello?.bootID == 0xC0FF_EE01)
    #expect(harness.exchange.largestPayload == 4_096)
  }

  @Test func numbersAndNoncesDifferFromOpeningToOpening() {
    let exchanges = (0..<20).map { _ in AF1Exchange(label: "gadget") }
    #expect(Set(exchanges.map(\.nonce)).count > 15)
    #expect(Set(exchanges.map(\.nextNumber)).count > 15)
  }

  @Test func silenceFailsAfterThreeTriesWithTheSameNumber() throws {
    var harness = AF1Harness()
    let id = harness.begin()
    harness.advance(.milliseconds(1_499))
    #expect(harness.results[id] == nil)
    harness.advance(.milliseconds(1))
    let sent = harness.takeSent()
    #expect(sent.count == 3)
    #expect(Set(sent.map(\.number)) == [0x2A17])
    #expect(harness.error(id)?.kind == .timedOut)
    #expect(harness.exchange.deadline == nil)
  }

  @Test func anAccessoryWithoutHelloIsServed() {
    var harness = AF1Harness()
    let id = harness.begin()
    harness.refuse(harness.takeSent()[0], .unknownCommand)
    #expect(throws: Never.self) { try harness.results[id]?.get() }
    #expect(harness.exchange.hello == nil)
    #expect(harness.exchange.largestPayload == 256)
    let long = harness.submit(AF1Request(.echo, payload: [UInt8](repeating: 0, count: 257)))
    #expect(harness.error(long)?.kind == .misconfigured)
    // Only idempotent commands are repeated: nothing tells whether the accessory restarted.
    let idempotent = harness.submit(AF1Request(.echo))
    harness.advance(.seconds(2))
    #expect(harness.takeSent().count == 3)
    #expect(harness.error(idempotent)?.kind == .timedOut)
    let other = harness.submit(AF1Request(AF1Command(rawValue: 0x40)))
    harness.advance(.seconds(2))
    #expect(harness.takeSent().count == 1)
    #expect(harness.error(other)?.kind == .timedOut)
  }

  @Test func aRefusalForAnotherReasonFails() {
    var harness = AF1Harness()
    let id = harness.begin()
    harness.refuse(harness.takeSent()[0], .badArgument)
    #expect(harness.error(id)?.kind == .refused)
    #expect(harness.error(id)?.code == .refusal(6))
  }

  @Test func anotherVersionIsToldApartFromSilence() {
    var harness = AF1Harness()
    let id = harness.begin()
    let hello = harness.takeSent()[0]
    harness.deliver(
      AF1Harness.frame(
        AF1Header(version: 2, flags: [.reply, .refused], command: .hello, number: hello.number), [7]))
    #expect(harness.error(id)?.kind == .unsupported)
    #expect(harness.error(id)?.message.contains("version 2") == true)
  }

  @Test func aSenselessGreetingFails() {
    var harness = AF1Harness()
    let id = harness.begin()
    harness.reply(harness.takeSent()[0], [1, 2, 3])
    #expect(harness.error(id)?.kind == .badData)
  }

  @Test func timeLimitsIncludeTheTimeOnTheWire() {
    // 9,600 baud: HELLO and the largest reply allowed for it, (14 + 4) + (14 + 16) bytes of 10 bits, take 50 ms.
    var harness = AF1Harness(timing: .serial(baudRate: 9_600))
    harness.begin()
    let wire = LineTiming.serial(baudRate: 9_600).time(of: 48)
    #expect(wire > .milliseconds(49) && wire < .milliseconds(51))
    harness.advance(.milliseconds(500) + wire - .milliseconds(1))
    #expect(harness.takeSent().count == 1)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent().count == 1)
  }
}

extension AF1Harness {
  /// The payload with which a request was answered.
  func answer(_ id: RequestID) -> [UInt8]? {
    if case .success(let message)? = results[id] { message.payload } else { nil }
  }
}
