// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import FamilyHM10
import FamilyMAVLink
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// Where nobody gets events none are made; they are counted all the same, and replies come as ever.
@Suite struct UnwantedEventTests {
  private static let now = MonotonicTime(nanoseconds: 0)

  /// Contact made by `answers`, then `request`, then `traffic`: what comes of it where events are wanted, or not.
  private func run<Rules: Exchange>(
    _ rules: Rules, answers: [[UInt8]] = [], asking request: Rules.Request? = nil, _ traffic: [UInt8],
    wantsEvents: Bool
  ) -> (events: Int, counted: UInt64, replies: [Rules.Reply]) {
    var rules = rules
    var effects = Effects<Rules.Reply, Rules.Event>(wantsEvents: wantsEvents)
    rules.begin(RequestID(rawValue: 1), now: Self.now, effects: &effects)
    var batch = FrameBatch<Rules.Codec.Header>()
    func deliver(_ bytes: [UInt8], isSilent: Bool) {
      rules.codec.decode(bytes.span.bytes, into: &batch)
      if isSilent { rules.codec.idle(into: &batch) }
      for index in 0..<batch.count { rules.receive(batch, at: index, now: Self.now, effects: &effects) }
      batch.removeAll()
    }
    for answer in answers { deliver(answer, isSilent: true) }
    #expect(effects.completions.count == 1, "contact is made")
    effects.completions = []
    effects.events = []
    let before = rules.counters.events
    if let request { rules.submit(RequestID(rawValue: 2), request, now: Self.now, effects: &effects) }
    deliver(traffic, isSilent: false)
    let replies = effects.completions.compactMap { try? $0.result.get() }
    return (effects.events.count, rules.counters.events - before, replies)
  }

  @Test(arguments: [true, false]) func unwantedEventsOfAF1AreCountedButNotDelivered(wantsEvents: Bool) throws {
    let codec = AF1Codec(maximumPayload: 64)
    var (hello, traffic): ([UInt8], [UInt8]) = ([], [])
    try codec.encode(
      .reply(to: .request(.hello, number: 1)), payload: [0x01, 0xEE, 0xFF, 0xC0, 0, 0x10, 1, 0], into: &hello)
    try codec.encode(.event(.battery, number: 7), payload: [1, 2], into: &traffic)
    try codec.encode(.reply(to: .request(.echo, number: 2)), payload: [5, 6], into: &traffic)
    try codec.encode(.event(.battery, number: 8), payload: [3, 4], into: &traffic)
    let result = run(
      AF1Exchange(label: "", firstNumber: 1, nonce: 1), answers: [hello], asking: AF1Request(.echo, payload: [5, 6]),
      traffic, wantsEvents: wantsEvents)
    #expect(result.events == (wantsEvents ? 2 : 0) && result.counted == 2)
    #expect(result.replies == [AF1Message(command: .echo, number: 2, payload: [5, 6])])
  }

  @Test(arguments: [true, false]) func unwantedLinesAreCountedButNotDelivered(wantsEvents: Bool) {
    let question = LineRequest([63, 10], name: "?", timeout: .seconds(1)) { $0.first == UInt8(ascii: "!") }
    let result = run(
      LineExchange(label: ""), asking: question, Array("one\ntwo\n!three\nfour\n".utf8), wantsEvents: wantsEvents)
    #expect(result.events == (wantsEvents ? 3 : 0) && result.counted == 3)
    #expect(result.replies.count == 1 && result.replies[0]?.starts(with: "!three".utf8) == true)
  }

  @Test(arguments: [true, false]) func unwantedFramesAreCountedButNotDelivered(wantsEvents: Bool) throws {
    let codec = AF1Codec(maximumPayload: 64)
    var traffic: [UInt8] = []
    for number in [4, 1, 5] as [UInt16] {
      try codec.encode(.reply(to: .request(.echo, number: number)), payload: [UInt8(number), 9], into: &traffic)
    }
    let rules = FrameExchange(codec, label: "") { frame, request in
      // What is looked at has the payload, too.
      frame.header.number == request.header.number && frame.payload.last == 9 ? .reply : .unrelated
    }
    let result = run(
      rules, asking: FrameRequest(Frame(AF1Header.request(.echo, number: 1)), name: "ECHO"), traffic,
      wantsEvents: wantsEvents)
    #expect(result.events == (wantsEvents ? 2 : 0) && result.counted == 2)
    #expect(result.replies.first??.payload == [1, 9] && result.replies.count == 1)
  }

  @Test(arguments: [true, false]) func unwantedDataOfAnHM10IsOnlyCounted(wantsEvents: Bool) {
    let result = run(
      HM10Exchange(label: ""), answers: [Array("OK".utf8), Array("OK+CONN".utf8)], Array("data".utf8),
      wantsEvents: wantsEvents)
    #expect(result.events == (wantsEvents ? 1 : 0) && result.counted == 1)
  }

  @Test(arguments: [true, false]) func unwantedMAVLinkMessagesAreCountedButNotDelivered(wantsEvents: Bool) {
    func frame(_ message: MAVLinkMessage, _ sequence: UInt8) -> [UInt8] {
      message.frame(.two, sequence: sequence, system: 1, component: 1)
    }
    let heartbeat = MAVLinkMessage.heartbeat(MAVLinkHeartbeat(type: 2, autopilot: 3, state: 4))
    let traffic =
      frame(.systemStatus(MAVLinkSystemStatus()), 1) + frame(.batteryStatus(MAVLinkBatteryStatus()), 2)
      + frame(.statusText(MAVLinkStatusText("hello")), 3)
    let result = run(
      MAVLinkExchange(label: ""), answers: [frame(heartbeat, 0)], asking: MAVLinkRequest(MAVLinkBatteryStatus.number),
      traffic, wantsEvents: wantsEvents)
    #expect(result.events == (wantsEvents ? 3 : 0) && result.counted == 3)
    #expect(result.replies == [.batteryStatus(MAVLinkBatteryStatus())])
  }

  /// A case is added to both, or to none.
  @Test func whatIsKnownIsWhatIsDecoded() {
    for number in 0..<UInt32(12_000) {
      #expect(MAVLinkMessage.isKnown(number) == (MAVLinkMessage(number, payload: RawSpan()) != nil))
    }
  }
}
