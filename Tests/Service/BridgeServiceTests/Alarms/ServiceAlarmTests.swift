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

/// Alarms of a service with simulated accessories.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ServiceAlarmTests {
  private static func rules(_ texts: [String]) throws -> AlarmRules {
    AlarmRules(typed: try texts.map { try AlarmRule($0) })
  }

  /// The next alarm of a subscription, as text.
  private static func next(
    _ events: inout ReplyStream<Bridge.Subscribe>.Iterator
  ) async throws -> String? {
    while let event = try await events.next() {
      if event.event == .ready { return "ready" }
      guard event.event == .alarm, let alarm = event.alarm, let state = event.state else { continue }
      return "\(event.device?.id ?? "") \(state.rawValue) \(alarm.name) \(alarm.value ?? "-")"
    }
    return nil
  }

  private static func subscription(
    _ harness: ServiceHarness, readings: Bool = false
  ) async throws -> ReplyStream<Bridge.Subscribe>.Iterator {
    let client = try await (readings ? harness.reader() : harness.client())
    return try client.stream(Bridge.Subscribe(alarms: true)).makeAsyncIterator()
  }

  @Test func alarmsAreToldAndShown() async throws {
    let rules = try Self.rules(["low: battery < 20 %", "fault"])
    try await ServiceHarness.with({ $0.alarmRules = rules }) { harness in
      var events = try await Self.subscription(harness)
      #expect(try await Self.next(&events) == "ready")
      let simulator = try await harness.simulate("A1") { $0.device.battery.percent = 12 }
      #expect(try await Self.next(&events) == "A1 raised low 12 %")
      try await harness.attached("A1")
      // Whoever comes later is told of it first, also where one may only read.
      for isReader in [false, true] {
        var others = try await Self.subscription(harness, readings: isReader)
        #expect(try await Self.next(&others) == "A1 raised low 12 %")
        #expect(try await Self.next(&others) == "ready")
      }
      let client = try await harness.client()
      let listed = try await client.call(Bridge.List()).accessories.first?.alarms
      #expect(listed?.map(\.name) == ["low"] && listed?.first?.number == 12 && listed?.first?.unit == "%")
      #expect(try await client.call(Bridge.GetBattery(device: "A1")).alarms?.map(\.rule) == ["battery < 20 %"])
      #expect(try await client.call(Bridge.GetStatus(device: "A1")).alarms?.count == 1)
      try await harness.said("warning A1: alarm: low, 12 %")
      // It stays when the accessory goes, until that is forgotten.
      await simulator.stop()
      try await harness.said("A1 is no longer attached")
      _ = try await client.call(Bridge.Forget(device: "A1"))
      #expect(try await Self.next(&events) == "A1 cleared low 12 %")
    }
  }

  /// Who doesn't ask for alarms isn't told: older clients don't know the event.
  @Test func onlyWhoAsksIsTold() async throws {
    let rules = try Self.rules(["battery < 20 %"])
    try await ServiceHarness.with({ $0.alarmRules = rules }) { harness in
      let events = try await harness.client().stream(Bridge.Subscribe(values: true))
      try await harness.simulate("A1") { $0.device.battery.percent = 12 }
      for try await event in events {
        #expect(event.event != .alarm)
        if event.event == .battery { break }
      }
      try await harness.said("warning A1: alarm: battery < 20 %, 12 %")
    }
  }

  @Test func changedRulesClearTheirAlarms() async throws {
    let (before, after) = (try Self.rules(["battery < 20 %", "battery < 30 %"]), try Self.rules(["battery < 30 %"]))
    try await ServiceHarness.with({ $0.alarmRules = before }) { harness in
      try await harness.simulate("A1") { $0.device.battery.percent = 12 }
      try await harness.said("alarm: battery < 30 %")
      await harness.service.use(after)
      try await harness.said("notice A1: alarm cleared: battery < 20 %")
      let client = try await harness.client()
      #expect(try await client.call(Bridge.List()).accessories.first?.alarms?.map(\.name) == ["battery < 30 %"])
      await harness.service.use(AlarmRules())
      #expect(try await client.call(Bridge.List()).accessories.first?.alarms == [])
    }
  }

  @Test func aProfilesRulesRaiseAlarms() async throws {
    var profile = Profile.af1
    profile.alarms = [try AlarmRule("battery < 50 %")]
    try await ServiceHarness.with(profiles: [profile]) { harness in
      try await harness.simulate("A1") { $0.device.battery.percent = 12 }
      try await harness.said("alarm: battery < 50 %")
    }
  }

  /// One timer for delays and silence; without rules that wait there is none.
  @Test func delaysAndSilenceHaveOneTimer() async throws {
    let clock = ManualClock()
    let rules = try Self.rules(["battery < 20 % for 1 min", "silent for 5 min", "fault"])
    try await ServiceHarness.with(clock: clock, { $0.alarmRules = rules }) { harness in
      try await harness.simulate("A1") { $0.device.battery.percent = 12 }
      try await harness.attached("A1")
      #expect(await harness.service.hasAlarmTimer)
      clock.advance(by: .seconds(60))
      try await harness.said("warning A1: alarm: battery < 20 %, 12 %")
      #expect(await harness.service.hasAlarmTimer)
      clock.advance(by: .seconds(240))
      try await harness.said("warning A1: alarm: silent for 5 min")
      #expect(await !harness.service.hasAlarmTimer)
    }
    try await ServiceHarness.with(clock: clock) { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      #expect(await !harness.service.hasAlarmTimer)
    }
  }

  /// A limit that can't be compared with what is read is reported.
  @Test func aRuleThatNeverFitsIsReported() async throws {
    let rules = try Self.rules(["boot: boot_id > 3"])
    try await ServiceHarness.with({ $0.alarmRules = rules }) { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let client = try await harness.client()
      _ = try await client.call(Bridge.GetValues(device: "A1"))
      try await harness.said("warning A1: the rule boot: boot_id > 3 never raises an alarm: boot_id is no number")
      let listed = try await client.call(Bridge.List()).accessories.first
      #expect(listed?.unfit_alarms?.map(\.name) == ["boot"] && listed?.alarms?.isEmpty == true)
      let status = try await client.call(Bridge.GetStatus(device: "A1"))
      #expect(status.unfit_alarms?.first?.reason == "boot_id is no number")
    }
  }

  /// The silence of an accessory that went counts, also when the service has given it up.
  @Test func anUnpluggedAccessoryIsSilent() async throws {
    let clock = ManualClock()
    let rules = try Self.rules(["battery < 20 %", "silent for 5 min"])
    try await ServiceHarness.with(
      clock: clock,
      {
        $0.alarmRules = rules
        $0.reconnect.tries = .off
      }
    ) { harness in
      let simulator = try await harness.simulate("A1") { $0.device.battery.percent = 12 }
      try await harness.attached("A1")
      await simulator.stop()
      try await harness.said("A1 is no longer attached")
      #expect(try await harness.state("A1") == nil)
      clock.advance(by: .seconds(300))
      try await harness.said("warning A1: alarm: silent for 5 min")
      var events = try await Self.subscription(harness)
      #expect(try await Self.next(&events) == "A1 raised battery < 20 % 12 %")
      #expect(try await Self.next(&events) == "A1 raised silent for 5 min -")
    }
  }

  /// While another program has the accessory, nothing is heard of it, and that is no silence.
  @Test func aLentAccessoryIsNotSilent() async throws {
    let clock = ManualClock()
    let rules = try Self.rules(["silent for 5 min"])
    try await ServiceHarness.with(clock: clock, { $0.alarmRules = rules }) { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      let client = try await BridgeClient.connect(to: harness.path, replyTimeout: .seconds(60))
      let (_, transport) = try await client.device("A1").open()
      clock.advance(by: .seconds(3_600))
      await harness.service.proveLife()
      #expect(!harness.log.value.contains { $0.contains("alarm: silent") })
      await transport.close()
      try await eventually("it to be given back") { try await harness.state("A1") == .attached }
      clock.advance(by: .seconds(300))
      try await harness.said("warning A1: alarm: silent for 5 min")
    }
  }
}

extension BridgeService {
  fileprivate var hasAlarmTimer: Bool { alarms.timer.deadline != nil }
}
