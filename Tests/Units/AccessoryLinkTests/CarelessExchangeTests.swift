// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryLink
@testable import FamilyAF1

/// Rules that forget every request, and name whatever deadline the test likes: what a beginner's exchange may do.
private struct CarelessExchange: Exchange {
  var codec = AF1Codec(maximumPayload: 16)
  var counters = LinkCounters()
  var deadline: MonotonicTime?
  /// Completes contact, and nothing else.
  var beginsWell = true
  /// Called each time that time passes.
  let calls: Watched<Int>
  /// What is written each time that time passes.
  var noise: [UInt8] = []

  mutating func setTiming(_ timing: LineTiming) {}
  mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Int, Int>) {
    if beginsWell { effects.completions.append((id, .success(0))) }
  }
  mutating func submit(_ id: RequestID, _ request: Int, now: MonotonicTime, effects: inout Effects<Int, Int>) {
    calls.update { $0 += 1_000 }
  }
  mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<Int, Int>) {}
  mutating func receive(
    _ batch: FrameBatch<AF1Header>, at index: Int, now: MonotonicTime, effects: inout Effects<Int, Int>
  ) {}
  mutating func timePassed(now: MonotonicTime, effects: inout Effects<Int, Int>) {
    calls.update { $0 += 1 }
    effects.output += noise
  }
  mutating func end(_ error: AccessoryError, effects: inout Effects<Int, Int>) {}
}

/// What a link does for rules that don't do their part.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct CarelessExchangeTests {
  private let transport = MemoryTransport(label: "gadget")
  private let calls = Watched(0)

  private func link(_ change: (inout CarelessExchange) -> Void = { _ in }) async throws -> Link<CarelessExchange> {
    var rules = CarelessExchange(calls: calls)
    change(&rules)
    return try await Link.open(AccessorySession(transport), rules: rules)
  }

  @Test func aForgottenRequestEndsWithTheAccessory() async throws {
    let link = try await link()
    let request = Task { try await link.request(1) }
    try await calls.wait { $0 == 1_000 }
    transport.unplug()
    await #expect(throws: AccessoryError.disconnected("gadget")) { try await request.value }
    await #expect(throws: AccessoryError.disconnected("gadget")) { try await link.request(2) }
  }

  @Test func aForgottenRequestEndsWhenTheLinkIsClosed() async throws {
    let link = try await link()
    let requests = (0..<10).map { number in Task { try await link.request(number) } }
    try await calls.wait { $0 == 10_000 }
    await link.close()
    for request in requests {
      await #expect(throws: AccessoryError.closed("gadget")) { try await request.value }
    }
  }

  @Test func aForgottenRequestCanBeCancelled() async throws {
    let link = try await link()
    let request = Task { try await link.request(1) }
    try await calls.wait { $0 == 1_000 }
    request.cancel()
    let error = await #expect(throws: AccessoryError.self) { try await request.value }
    #expect(error?.kind == .cancelled)
  }

  @Test func contactThatIsForgottenCanBeCancelled() async throws {
    let opening = Task { try await link { $0.beginsWell = false } }
    opening.cancel()
    let error = await #expect(throws: AccessoryError.self) { try await opening.value }
    #expect(error?.kind == .cancelled)
    try await transport.waitForClose()
  }

  /// A deadline in the past counts once, and once more when something happens.
  @Test func aPastDeadlineCountsOnce() async throws {
    let link = try await link { $0.deadline = MonotonicTime(nanoseconds: 1) }
    try await calls.wait { $0 > 0 }
    let request = Task { try await link.request(1) }
    try await calls.wait { $0 >= 1_000 }
    transport.receive(PretendedAccessory.frame(.event(.battery, number: 1), [3]))
    // The I/O thread's timers run in order: when this one has run, those before it have.
    for _ in 0..<20 { await IOThread.shared.sleep(for: .milliseconds(1)) }
    let count = calls.value - 1_000
    #expect((1...5).contains(count), "time passed \(count) times")
    await link.close()
    await #expect(throws: AccessoryError.closed("gadget")) { try await request.value }
  }

  /// Rules that write each time are held back by a pause.
  @Test func aDeadlineInThePastWithSomethingToDo() async throws {
    let clock = ManualClock()
    var rules = CarelessExchange(calls: calls)
    (rules.deadline, rules.noise) = (MonotonicTime(nanoseconds: 1), [1])
    let link = try await Link.open(AccessorySession(transport), rules: rules, clock: clock)
    for count in 1...5 {
      try await clock.waitForPending()
      clock.advanceToNext()
      try await calls.wait { $0 == count }
      let next = clock.nextDeadline
      #expect(next == nil || next! - clock.now >= .milliseconds(1))
    }
    await link.close()
  }
}
