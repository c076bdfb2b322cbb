// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessoryFleet

/// What waits for a broker, and how long a client waits between its tries.
struct OutboxTests {
  private func message(_ topic: String, _ text: String, retained: Bool = false) -> MQTTMessage {
    MQTTMessage(topic, Array(text.utf8), isRetained: retained)
  }

  /// Of a retained topic only the latest message waits; others keep their order.
  @Test
  func onlyTheLatestRetainedMessageWaits() {
    var outbox = Outbox()
    for text in ["1", "2", "3"] {
      let isKept = outbox.add(message("state", text, retained: true), keepsLatest: false)
      let isKeptToo = outbox.add(message("event", text), keepsLatest: false)
      #expect(isKept && isKeptToo)
    }
    var texts: [String] = []
    while let next = outbox.next() { texts.append(next.topic + String(decoding: next.payload, as: UTF8.self)) }
    #expect(texts == ["state3", "event1", "event2", "event3"])
  }

  /// While there is no connection, only the latest of every topic waits.
  @Test
  func onlyTheLatestOfEachTopicWaitsWhileOffline() {
    var outbox = Outbox()
    let kept = ["1", "2", "3"].map { outbox.add(message("event", $0), keepsLatest: true) }
    #expect(kept == [true, true, true] && outbox.count == 1)
    let next = outbox.next()
    #expect(next?.payload == Array("3".utf8))
  }

  /// An accessory with an event fifty times a second, and a slow broker.
  @Test
  func eventsLeaveRoomForStates() {
    var outbox = Outbox()
    let kept = (0..<5_000).map { number in
      outbox.add(MQTTMessage("event", [UInt8(number & 255)], qos: .atMostOnce), keepsLatest: false)
    }
    #expect(kept.count { $0 } == Outbox.eventLimit)
    let (state, result) = (
      outbox.add(message("state", "alarm", retained: true), keepsLatest: false),
      outbox.add(message("result", "done"), keepsLatest: false)
    )
    #expect(state && result)
  }

  /// Its messages and bytes are bounded.
  @Test
  func theOutboxIsBounded() {
    var outbox = Outbox()
    func add(_ topic: String, _ count: Int) -> Bool {
      outbox.add(MQTTMessage(topic, Array(repeating: 0, count: count)), keepsLatest: true)
    }
    let kept = (0..<Outbox.countLimit).map { add("t\($0)", 0) }
    #expect(kept.allSatisfy { $0 })
    let (another, newer) = (add("one more", 0), add("t0", 7))
    #expect(!another && newer)
    outbox = Outbox()
    let large = Outbox.sizeLimit - 100
    let (first, same, other) = (add("large", large), add("large", large), add("other", 200))
    #expect(first && same && !other)
    let sent = outbox.next()
    let room = add("other", 200)
    #expect(sent?.topic == "large" && room && outbox.count == 1)
  }

  /// What perhaps didn't arrive is sent again first, unless there is something newer.
  @Test
  func messagesPutBackAreSentFirst() {
    var outbox = Outbox()
    _ = outbox.add(message("a", "new", retained: true), keepsLatest: true)
    outbox.putBack([message("a", "old", retained: true), message("b", "1"), message("c", "2")])
    var topics: [String] = []
    while let next = outbox.next() { topics.append(next.topic) }
    #expect(topics == ["b", "c", "a"])
  }

  /// Pauses are short for five minutes, then a minute, and begin anew after a connection that lasted.
  @Test
  func pausesGrowUntilAConnectionLasts() {
    var (backoff, now) = (Backoff(), MonotonicTime(nanoseconds: 0))
    func next(_ random: Double = 0) -> Duration { backoff.next(now: now, random: random) }
    let first = [next(), next(), next(), next(), next()]
    #expect(first == [1, 2, 4, 6, 6].map { Duration.seconds($0) })
    let (most, least) = (next(1), next(-1))
    // A fifth more or less, but for the rounding of fractions.
    let error = Duration.milliseconds(1)
    #expect(most > .seconds(7.2) - error && most < .seconds(7.2) + error)
    #expect(least > .seconds(4.8) - error && least < .seconds(4.8) + error)
    now = now + .seconds(300)
    let late = next()
    #expect(late == .seconds(60))
    backoff.connectionEnded(start: now, now: now + .seconds(59))
    let short = next()
    #expect(short == .seconds(60))
    backoff.connectionEnded(start: now, now: now + .seconds(60))
    let anew = next()
    #expect(anew == .seconds(1))
  }

  /// Commands are let through up to their rate.
  @Test
  func commandsAreLetThroughUpToTheirRate() {
    var (limit, now) = (RateLimit(atOnce: 2, perSecond: 1), MonotonicTime(nanoseconds: 0))
    func admit(_ count: Int) -> [Bool] { (0..<count).map { _ in limit.admit(now: now) } }
    let first = admit(3)
    now = now + .seconds(1)
    let second = admit(2)
    now = now + .seconds(100)
    let third = admit(3)
    #expect(first == [true, true, false] && second == [true, false] && third == [true, true, false])
  }

  /// Topics of discovery are this gateway's only, and components are read from anything.
  @Test
  func onlyOwnTopicsOfDiscoveryAreRead() throws {
    let gateway = try #require(TopicLevel(level: "attic"))
    #expect(DiscoveryTopic.accessory("ha/device/attic/SIM0001/config", "ha", gateway)?.text == "SIM0001")
    for topic in [
      "ha/device/attic/config", "ha/device/attic//config", "ha/device/cellar/A/config", "ha/device/attic/a/b/config",
    ] {
      #expect(DiscoveryTopic.accessory(topic, "ha", gateway) == nil)
    }
    #expect(
      DiscoveryTopic.components(Array(#"{"components":{"a":{"platform":"sensor"},"b":{"p":"button"},"c":1}}"#.utf8))
        == ["a": "sensor", "b": "button"])
    for text in ["", "[]", "{", #"{"components":[]}"#, "\u{0}"] {
      #expect(DiscoveryTopic.components(Array(text.utf8)).isEmpty)
    }
  }
}
