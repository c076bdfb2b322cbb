// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryTesting
import TestSupport
import Testing

@testable import BridgeService

/// A battery that answers as much as a test lets it.
private struct Half: LinkedAccessory {
  /// What it answers, and what it says of the rest.
  struct Answers: Sendable {
    var battery: Result<BatteryReading, AccessoryError> = .success(BatteryReading(percent: 57))
    var status: Result<AccessoryStatus, AccessoryError> = .success(AccessoryStatus(state: .idle))
    var unanswered: String?
  }

  let link: Link<LineExchange>
  let answers: Watched<Answers>
  var unanswered: String? { answers.value.unanswered }

  func identify() async throws(AccessoryError) -> AccessoryIdentity { AccessoryIdentity(model: "Half") }
  func battery() async throws(AccessoryError) -> BatteryReading { try answers.value.battery.get() }
  func readBattery() async throws(AccessoryError) -> Read<BatteryReading> {
    var read = Read(try await battery(), age: .zero)
    read.missing = unanswered
    return read
  }
  func status() async throws(AccessoryError) -> AccessoryStatus { try answers.value.status.get() }

  static func driver(_ answers: Watched<Answers>) -> Driver {
    Driver(name: "half", polls: [.readings(every: .seconds(10))], rawBytes: .harmless) {
      session, _, _ throws(AccessoryError) in
      Half(link: try await Link.open(session, rules: LineExchange(label: session.label)), answers: answers)
    }
  }
}

/// What a service tells of an accessory that leaves something unanswered.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct MissingTests {
  private static let silence = "half does not answer cells"
  private static let failure = AccessoryError(.timedOut, "half does not answer state, which was sent 3 times")

  private static func with(
    _ answers: Half.Answers,
    _ body: (ServiceHarness, ManualClock, Watched<Half.Answers>, AsyncStream<Bridge.Event>) async throws -> Void
  ) async throws {
    let (clock, answers) = (ManualClock(), Watched(answers))
    let terminal = try await PseudoTerminal.open()
    let profile = Profile(name: "half", rules: [DeviceRule(driver: "half")], driver: "half")
    let (events, continuation) = AsyncStream<Bridge.Event>.makeStream()
    try await ServiceHarness.with(
      profiles: [profile], drivers: DriverLibrary([Half.driver(answers)]), clock: clock, events: continuation
    ) { harness in
      let file = try harness.announce(terminal.path, serial: "S1", driver: "half")
      try await harness.said("S1 is attached at")
      try await eventually("the first poll to be scheduled") { await harness.service.hasScheduledPoll("S1") }
      try await body(harness, clock, answers, events)
      file.remove()
    }
    await terminal.transport.close()
  }

  private static func poll(_ harness: ServiceHarness, _ clock: ManualClock) async throws {
    clock.advance(by: .seconds(10))
    try await eventually("the next poll to be scheduled") { await harness.service.hasScheduledPoll("S1") }
  }

  private static func lines(_ harness: ServiceHarness) -> [String] {
    harness.log.value.filter { $0.contains("does not answer cells") || $0.contains("answers everything again") }
  }

  private static func facts(_ harness: ServiceHarness) async throws -> Bridge.Accessory {
    let client = try await harness.client()
    let reply = try await client.call(Bridge.List())
    client.close()
    return try #require(reply.accessories.first)
  }

  /// What came is told in the list and the answers, with what didn't; the log has a line for the beginning and one for the end.
  @Test func whatIsMissingIsToldWithWhatCame() async throws {
    try await Self.with(Half.Answers(unanswered: Self.silence)) { harness, clock, answers, _ in
      #expect(try await Self.facts(harness).missing == Self.silence)
      let client = try await harness.client()
      let battery = try await client.call(Bridge.GetBattery(device: "S1"))
      #expect(battery.battery.percent == 57 && battery.missing == Self.silence)
      for _ in 1...3 { try await Self.poll(harness, clock) }
      #expect(Self.lines(harness) == ["notice S1: \(Self.silence)"])
      answers.update { $0.unanswered = nil }
      try await Self.poll(harness, clock)
      #expect(Self.lines(harness) == ["notice S1: \(Self.silence)", "notice S1 answers everything again"])
      #expect(try await Self.facts(harness).missing == nil)
      client.close()
    }
  }

  /// Who follows the service is told when it begins, and when it ends, although no reading has changed.
  @Test func eventsTellWhatIsMissing() async throws {
    try await Self.with(Half.Answers()) { harness, clock, answers, events in
      var iterator = events.makeAsyncIterator()
      for missing in [Self.silence, nil] {
        answers.update { $0.unanswered = missing }
        try await Self.poll(harness, clock)
        var event = await iterator.next()
        while let one = event, one.event != .battery || one.missing != missing { event = await iterator.next() }
        #expect(event?.battery?.percent == 57)
      }
    }
  }

  /// An accessory that never answered a reading is told to be silent, instead of having none.
  @Test func anAccessoryWithoutAnyReadingIsSaidToBeSilent() async throws {
    let silent = Half.Answers(battery: .failure(Self.failure), status: .failure(Self.failure))
    try await Self.with(silent) { harness, clock, answers, _ in
      try await Self.poll(harness, clock)
      let missing = try #require(try await Self.facts(harness).missing)
      #expect(missing.hasSuffix(" does not answer"))
      answers.update { $0 = Half.Answers() }
      try await Self.poll(harness, clock)
      #expect(try await Self.facts(harness).missing == nil)
    }
  }

  /// A status that isn't answered hides neither the battery nor the identity.
  @Test func oneUnansweredPartHidesNoOther() async throws {
    try await Self.with(Half.Answers(status: .failure(Self.failure))) { harness, clock, _, _ in
      let client = try await harness.client()
      let status = try await client.call(Bridge.GetStatus(device: "S1"))
      #expect(status.identity.model == "Half" && status.status == AccessoryStatus())
      #expect(status.missing == Self.failure.message)
      #expect(try await client.call(Bridge.GetBattery(device: "S1")).battery.percent == 57)
      for _ in 1...3 { try await Self.poll(harness, clock) }
      #expect(try await client.call(Bridge.GetBattery(device: "S1")).stale == nil)
      client.close()
    }
  }
}
