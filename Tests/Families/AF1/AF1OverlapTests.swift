// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// Requests that may be sent while others are unanswered: the pieces of a file.
@Suite struct AF1OverlapTests {
  private func opened(
    window: UInt8, options: AF1Exchange.Options = .init(), timing: LineTiming = .instant
  ) -> AF1Harness {
    var harness = AF1Harness(options: options, timing: timing)
    harness.begin()
    harness.greet(window: window)
    return harness
  }

  private func piece(_ number: UInt8) -> AF1Request {
    AF1Request(.transferData, payload: [number], largestReply: 16, mayOverlap: true)
  }

  @Test func theWindowIsThatOfTheAccessory() {
    var harness = opened(window: 3)
    let ids = (0..<5).map { harness.submit(piece($0)) }
    let sent = harness.takeSent()
    #expect(sent.map(\.payload) == [[0], [1], [2]])
    harness.reply(sent[1], [9])
    #expect(harness.answer(ids[1]) == [9] && harness.results[ids[0]] == nil)
    #expect(harness.takeSent().map(\.payload) == [[3]])
    #expect(harness.exchange.window(overlapping: true) == 3 && harness.exchange.window() == 1)
  }

  @Test(arguments: [Pacing.window(1), .window(2), .gap(.milliseconds(10))]) func thePacingMayForbidIt(pacing: Pacing) {
    var options = AF1Exchange.Options()
    options.pacing = pacing
    var harness = opened(window: 3, options: options)
    for number in 0..<5 as Range<UInt8> { harness.submit(piece(number)) }
    #expect(harness.takeSent().count == (pacing == .window(2) ? 2 : 1))
  }

  @Test func othersComeBetweenThemAlone() {
    var harness = opened(window: 3)
    harness.submit(piece(0))
    harness.submit(piece(1))
    let battery = harness.submit(AF1Request(.battery))
    harness.submit(piece(2))
    let pieces = harness.takeSent()
    #expect(pieces.count == 2)
    harness.reply(pieces[0], [])
    #expect(harness.takeSent().isEmpty)
    harness.reply(pieces[1], [])
    let sent = harness.takeSent()
    #expect(sent.map(\.command) == [.battery, .transferData])
    harness.reply(sent[0], [1])
    #expect(harness.answer(battery) == [1])
  }

  /// They are carried out one after another, so the time of the second begins with the answer to the first.
  @Test func anAnswerGivesTheOthersTime() {
    var harness = opened(window: 3)
    let ids = (0..<3).map { harness.submit(piece($0)) }
    let sent = harness.takeSent()
    harness.advance(.milliseconds(400))
    harness.reply(sent[0], [])
    harness.advance(.milliseconds(400))
    #expect(harness.takeSent().isEmpty)
    harness.reply(sent[1], [])
    harness.advance(.milliseconds(499))
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent() == [sent[2]])
    #expect(harness.results[ids[2]] == nil)
  }

  /// On a slow line the last of them is answered when all have passed.
  @Test func timeOutsAllowForTheTimeOnTheLine() {
    var harness = opened(window: 2, timing: .serial(baudRate: 1_000))
    harness.submit(piece(0))
    harness.submit(piece(1))
    // 15 bytes there and 30 back, at 10 ms each.
    harness.advance(.milliseconds(949))
    #expect(harness.takeSent().count == 2)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent().map(\.payload) == [[0]])
    harness.advance(.milliseconds(449))
    #expect(harness.takeSent().isEmpty)
    harness.advance(.milliseconds(1))
    #expect(harness.takeSent().map(\.payload) == [[1]])
  }
}
