// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import AccessoryTesting
import TestSupport
import Testing

@testable import BridgeService

/// What the service asks by itself, and how old what it keeps is: with a clock that the test moves.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct PollTests {
  private static func profile(_ change: (inout PollPolicy) -> Void) -> Profile {
    var profile = Profile.af1
    change(&profile.polls)
    return profile
  }

  /// An accessory that answers as long as it is awake.
  private static func accessory(_ isAwake: Watched<Bool>) -> ScriptedAccessory {
    ScriptedAccessory { request in
      guard isAwake.value || request.command == .hello else { return .silence }
      return switch request.command {
      case .identify: .reply(Array("m\0n\0o\0S1\0f\0h\0".utf8))
      case .status: .reply([0, 0, 0, 0xFF])
      case .battery: .reply([2, 57])
      default: .silence
      }
    }
  }

  /// Runs a test with an accessory that was asked for everything once.
  private static func with(
    _ profile: Profile, _ change: (inout ServiceConfiguration) -> Void = { _ in },
    _ body: (ServiceHarness, ManualClock, ScriptedAccessory, PseudoTerminal, Watched<Bool>) async throws -> Void
  ) async throws {
    let (clock, isAwake) = (ManualClock(), Watched(true))
    let accessory = accessory(isAwake)
    let terminal = try await accessory.onPseudoTerminal()
    try await ServiceHarness.with(profiles: [profile], clock: clock, change) { harness in
      let file = try harness.announce(terminal.path, serial: "S1")
      try await harness.attached("S1")
      try await eventually("the first poll to be scheduled") { await harness.service.hasBegunPolls("S1") }
      try await body(harness, clock, accessory, terminal, isAwake)
      file.remove()
    }
    await terminal.transport.close()
  }

  private static func asked(_ accessory: ScriptedAccessory) -> Int {
    accessory.requests.value.count { $0.command == .battery }
  }

  @Test func pollsFollowTheProfile() async throws {
    try await Self.with(Self.profile { $0.all = .every(.seconds(30)) }) { harness, clock, accessory, _, _ in
      #expect(Self.asked(accessory) == 1)
      for count in 2...4 {
        clock.advance(by: .milliseconds(29_999))
        await harness.service.proveLife()
        #expect(Self.asked(accessory) == count - 1)
        clock.advance(by: .milliseconds(1))
        try await accessory.requests.wait { $0.count { $0.command == .battery } == count }
        try await eventually("the next poll to be scheduled") { await harness.service.hasScheduledPoll("S1") }
      }
    }
  }

  /// AF1 accessories tell what changes: nothing is asked, and no timer runs; also where the user turns polls off.
  @Test(arguments: [PollPolicy.Interval.off, nil])
  func whatReportsByItselfIsNotPolled(_ interval: PollPolicy.Interval?) async throws {
    let profile = interval == nil ? Profile.af1 : Self.profile { $0.all = .every(.seconds(1)) }
    try await Self.with(profile, { $0.poll = interval }) { harness, clock, accessory, _, _ in
      #expect(await !harness.service.hasScheduledPoll("S1"))
      clock.advance(by: .seconds(86_400))
      await harness.service.proveLife()
      #expect(Self.asked(accessory) == 1)
    }
  }

  /// The user's word goes before the profile's.
  @Test func theUsersPollsGoBeforeTheProfiles() async throws {
    try await Self.with(Self.profile { $0.all = .off }, { $0.poll = .every(.seconds(5)) }) {
      _, clock, accessory, _, _ in
      clock.advance(by: .seconds(5))
      try await accessory.requests.wait { $0.count { $0.command == .battery } == 2 }
    }
  }

  /// One that keeps silent is asked no more until it speaks, or answers somebody.
  @Test func aSleepingAccessoryIsNotPolled() async throws {
    let profile = Self.profile {
      $0.all = .every(.seconds(30))
      $0.letsSleep = true
    }
    try await Self.with(profile) { harness, clock, accessory, terminal, isAwake in
      isAwake.update { $0 = false }
      clock.advance(by: .seconds(30))
      // Retries and time-outs are the clock's, too.
      try await clock.pass("the accessory to sleep", step: .seconds(20)) { await harness.service.isAsleep("S1") }
      // What was sent, and sent again, is on its way yet.
      try await accessory.requests.wait { all in
        [.status, .battery].allSatisfy { command in all.count { $0.command == command } == 4 }
      }
      let count = accessory.requests.value.count
      isAwake.update { $0 = true }
      clock.advance(by: .seconds(86_400))
      await harness.service.proveLife()
      #expect(accessory.requests.value.count == count)
      // What it says of its own accord wakes nobody up but the polls.
      _ = terminal.transport.output.offer(ScriptedAccessory.event(.battery, number: 1, [2, 56]))
      try await eventually("the polls to go on") { await harness.service.hasScheduledPoll("S1") }
      #expect(accessory.requests.value.count == count)
      clock.advance(by: .seconds(30))
      try await accessory.requests.wait { $0.count > count }
    }
  }

  /// One that is there and silent is closed and opened again; each step is in the log, and an event.
  @Test func aSilentAccessoryIsOpenedAgainUntilItAnswers() async throws {
    var profile = Self.profile { $0.all = .every(.seconds(30)) }
    var recovery = RecoveryPolicy()
    recovery.polls = 1
    profile.policies.recovery = recovery
    try await Self.with(profile) { harness, clock, _, _, isAwake in
      isAwake.update { $0 = false }
      func pass(until text: String) async throws {
        try await clock.pass(text, step: .seconds(40)) { harness.log.value.contains { $0.contains(text) } }
      }
      try await pass(until: "it is closed and opened again (1 since it answered); try 1 in 5 s")
      try await pass(until: "it is closed and opened again (2 since it answered); try 1 in 10 s")
      isAwake.update { $0 = true }
      try await pass(until: "answers again, after 2 recoveries")
      // Nothing is there that could be reset.
      #expect(!harness.log.value.contains { $0.contains("reset on its bus") })
    }
  }

  /// A machine that slept has old readings, though its timers stood still; a clock that goes back makes none negative.
  @Test func agesCountTheMachinesSleep() async throws {
    try await Self.with(Self.profile { $0.all = .every(.seconds(30)) }) { harness, clock, _, _, _ in
      let client = try await harness.client()
      let (_, transport) = try await harness.client().upgrade(Bridge.Open(device: "S1"))
      clock.advance(by: .seconds(10))
      clock.suspend(for: .seconds(79))
      var reply = try await client.call(Bridge.GetBattery())
      #expect(reply.age_ms == 89_000 && reply.stale == nil)
      var held = try #require(try await client.call(Bridge.List()).accessories.first)
      #expect(held.readings_age_ms == 89_000 && held.stale == nil)
      clock.suspend(for: .milliseconds(1_001))
      reply = try await client.call(Bridge.GetBattery())
      #expect(reply.age_ms == 90_001 && reply.stale == true)
      #expect(try await client.call(Bridge.GetStatus()).stale == true)
      held = try #require(try await client.call(Bridge.List()).accessories.first)
      #expect(held.stale == true)
      clock.suspend(for: .seconds(-1_000))
      reply = try await client.call(Bridge.GetBattery())
      #expect(reply.age_ms == 0 && reply.stale == nil)
      await transport.close()
    }
  }

  /// What nothing asks for again and again is as old as it is, and never stale.
  @Test func whatIsntPolledIsNotStale() async throws {
    try await Self.with(.af1) { harness, clock, _, _, _ in
      let (_, transport) = try await harness.client().upgrade(Bridge.Open(device: "S1"))
      clock.suspend(for: .seconds(1_000_000))
      let reply = try await harness.client().call(Bridge.GetBattery())
      #expect(reply.age_ms == 1_000_000_000 && reply.stale == nil)
      await transport.close()
    }
  }
}

extension BridgeService {
  /// Whether what is asked when it is attached is answered.
  fileprivate func hasBegunPolls(_ id: String) -> Bool {
    attachments.ordered.contains { $0.device.id == id && $0.use.callCount == 0 } && hasReadings(id)
  }

  func hasScheduledPoll(_ id: String) -> Bool {
    attachments.ordered.contains { $0.device.id == id && $0.contact.pollTimer.deadline != nil }
  }

  fileprivate func isAsleep(_ id: String) -> Bool {
    attachments.ordered.contains { $0.device.id == id && $0.readings.polls.isAsleep }
  }
}
