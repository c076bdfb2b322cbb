// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

/// One rule with a clock that is moved by hand.
private struct Watched {
  var state: AlarmState
  var now = MonotonicTime(nanoseconds: 1_000_000_000)
  var changes: [AlarmChange] = []

  init(_ rule: String) throws { state = AlarmState(try AlarmRule(rule), now: now) }

  /// Moves the clock, and calls the state at its deadlines.
  mutating func wait(_ time: Duration) {
    let end = now + time
    while let deadline = state.deadline, deadline <= end {
      now = max(now, deadline)
      guard let change = state.timePassed(now: now) else { break }
      changes.append(change)
    }
    now = end
  }

  mutating func take(_ readings: AlarmReadings) {
    if let change = state.take(readings, now: now) { changes.append(change) }
  }

  mutating func take(percent: Int?) { take(AlarmReadings(battery: BatteryReading(percent: percent))) }

  mutating func take(_ name: String, _ number: Double?, _ unit: MeasurementUnit? = nil) {
    let value = AccessoryValue(name, unit: unit, number: number)
    take(AlarmReadings(values: ValuesReading([value], at: now)))
  }

  mutating func hear() { if let change = state.heard(now: now) { changes.append(change) } }
}

@Suite struct AlarmStateTests {
  // MARK: - Limits

  @Test func aLimitIsOverBeyondItsHysteresis() throws {
    var watched = try Watched("battery < 20 %")
    for percent in [50, 20, 19, 20, 22] { watched.take(percent: percent) }
    #expect(watched.changes == [.raised])
    #expect(watched.state.value?.text == "22 %")
    watched.take(percent: 23)
    #expect(watched.changes == [.raised, .cleared])
    #expect(watched.state.deadline == nil)
  }

  @Test(arguments: [
    ("battery < 20 % hysteresis 10", 29, 30), ("battery < 20 % hysteresis 0", 19, 20), ("battery <= 20 %", 22, 23),
    ("battery < 98 %", 99, 100), ("battery > 80 %", 78, 77), ("battery >= 2 %", 2, 1),
  ])
  func whenALimitIsOver(rule: String, stays: Int, clears: Int) throws {
    var watched = try Watched(rule)
    watched.take(percent: rule.contains(">") ? 100 : 0)
    watched.take(percent: stays)
    #expect(watched.changes == [.raised])
    watched.take(percent: clears)
    #expect(watched.changes == [.raised, .cleared])
  }

  @Test func anAlarmWithADelayWaitsForIt() throws {
    var watched = try Watched("battery < 20 % for 2 min")
    watched.take(percent: 19)
    #expect(watched.state.deadline == watched.now + .seconds(120))
    watched.wait(.seconds(119))
    watched.take(percent: 30)
    #expect(watched.state.deadline == nil)
    watched.take(percent: 19)
    watched.wait(.seconds(120))
    #expect(watched.changes == [.raised])
    watched.take(percent: 30)
    watched.wait(.seconds(119))
    watched.take(percent: 10)
    watched.wait(.seconds(3_600))
    #expect(watched.changes == [.raised])
    watched.take(percent: 30)
    watched.wait(.seconds(120))
    #expect(watched.changes == [.raised, .cleared])
  }

  @Test func anUnknownReadingChangesNothing() throws {
    var watched = try Watched("battery < 20 %")
    watched.take(percent: nil)
    watched.take(percent: 19)
    watched.take(percent: nil)
    watched.take(AlarmReadings())
    #expect(watched.changes == [.raised] && watched.state.value?.text == "19 %")

    var delayed = try Watched("battery < 20 % for 2 min")
    delayed.take(percent: 19)
    delayed.take(percent: nil)
    delayed.wait(.seconds(3_600))
    #expect(delayed.changes == [])
    delayed.take(percent: 19)
    #expect(delayed.changes == [.raised])
  }

  // MARK: - Readings that flap

  /// A reading that flaps around its limit for an hour, by the number of the reading.
  private static let shapes: [(name: String, percent: @Sendable (Int) -> Double)] = [
    ("between two numbers", { $0.isMultiple(of: 2) ? 19 : 21 }),
    ("saw", { 18.5 + Double($0 % 8) * 0.5 }),
    ("slow triangle", { 20 + Double(abs($0 % 40 - 20) - 10) / 5 }),
    ("random", { 17.2 + Double(($0 &* 7_919 &+ 13) % 101) / 101 * 5.6 }),
    ("exactly the limit", { $0.isMultiple(of: 3) ? 19.999 : 20 }),
    ("now and then unknown", { $0.isMultiple(of: 5) ? .nan : $0.isMultiple(of: 2) ? 19.5 : 20.5 }),
  ]

  @Test(arguments: ["battery_x < 20 %", "battery_x < 20 % for 30 s", "battery_x < 20 % for 5 min", "battery_x <= 20 %"])
  func aReadingThatFlapsForAnHourFiresOnce(rule: String) throws {
    for (name, percent) in Self.shapes {
      for period in [1, 10, 60] {
        var watched = try Watched(rule)
        for number in 0..<3_600 / period {
          watched.take("battery_x", percent(number), .percent)
          watched.wait(.seconds(period))
        }
        #expect(watched.changes == [.raised], "\(rule), \(name), every \(period) s")
        watched.take("battery_x", 40, .percent)
        watched.wait(.seconds(600))
        #expect(watched.changes == [.raised, .cleared], "\(rule), \(name), every \(period) s")
      }
    }
  }

  /// With a delay, single wrong readings neither raise nor clear.
  @Test func aReadingWithOutliersFiresOnce() throws {
    var watched = try Watched("temperature > 45 for 30 s")
    for number in 0..<360 {
      let isOutlier = number % 17 == 16
      let degrees = number < 30 ? (isOutlier ? 90 : 20) : (isOutlier ? 0 : 46)
      var battery = BatteryReading()
      battery.temperatures = [.init(degrees * 1_000)]
      watched.take(AlarmReadings(battery: battery))
      watched.wait(.seconds(10))
    }
    #expect(watched.changes == [.raised])
  }

  /// What has no hysteresis is cleared after a minute.
  @Test(arguments: ["fault", "fault over-heat", "mode = fault", "heat_watts > 0 W"])
  func aFaultThatComesAndGoesFiresOnce(rule: String) throws {
    var watched = try Watched(rule)
    for number in 0..<360 {
      let isWrong = number.isMultiple(of: 2)
      var battery = BatteryReading()
      battery.faults = isWrong ? ["Over-Heat"] : []
      let values = [
        AccessoryValue("mode", content: .choice(word: isWrong ? "Fault" : "on", number: 1)),
        AccessoryValue("heat_watts", unit: .watt, number: isWrong ? 0.1 : -0.1),
      ]
      watched.take(AlarmReadings(battery: battery, values: ValuesReading(values, at: watched.now)))
      watched.wait(.seconds(10))
    }
    #expect(watched.changes == [.raised])
    watched.wait(.seconds(60))
    #expect(watched.changes == [.raised, .cleared])
  }

  // MARK: - What is observed

  @Test(arguments: [
    ("voltage < 3.4 V", true, "3.3 V"), ("voltage < 3300 mV", false, nil), ("voltage <= 3300 mV", true, "3300 mV"),
    ("current < -20 A", true, "-20.5 A"), ("cell spread > 50 mV", true, "60 mV"), ("cell spread > 0.06 V", false, nil),
    ("cell voltage < 3.3 V", true, "3.29 V"), ("cell voltage > 3.3 V", true, "3.35 V"),
    ("temperature > 45", true, "51.5 °C"), ("temperature < 0", true, "-2 °C"),
    ("temperature > 318.15 K", true, "324.65 K"),
    ("time to empty < 30 min", true, "20 min"), ("capacity < 10 Ah", true, "5 Ah"), ("capacity < 5000 mAh", false, nil),
    ("health < 80 %", true, "75 %"), ("cycles > 500", true, "612"), ("progress > 5", false, nil),
    ("battery level <= low", true, "critical"), ("battery level > critical", false, nil),
    ("charge = discharging", true, "discharging"),
    ("state = fault", true, "fault"), ("fault", true, "over-heat, 17, door_open"),
    ("fault over-heat", true, "over-heat"),
    ("fault 17", true, "17"), ("fault door_open", true, "door_open"), ("fault other", false, nil),
    ("warning", true, "old"), ("pv_power < 5 W", true, "4.5 W"), ("pv_power < 0.0045 kW", false, nil),
    ("pv_power < 5", true, "4.5 W"), ("pv_power < 5 V", false, nil), ("nothing < 5", false, nil),
    ("mode < 5", true, "3"),
    ("mode = Float", true, "float"), ("mode != float", false, nil), ("door_open = yes", true, "yes"),
    ("door_open = off", false, nil), ("firmware = 1.2", false, nil), ("firmware = \"1.2\"", true, "1.2"),
    ("power > 100 W", true, "120 W"), ("value voltage > 200 V", true, "230 V"),
  ])
  func everyReadingCanRaiseAnAlarm(rule: String, isRaised: Bool, value: String?) throws {
    var battery = BatteryReading(percent: 3, millivolts: 3_300, milliamperes: -20_500, charge: .discharging)
    battery.cellMillivolts = [3_290, nil, 3_350]
    battery.temperatures = [.init(51_500), .init(nil), .init(-2_000)]
    (battery.timeToEmpty, battery.remainingMilliampereHours) = (.seconds(1_200), 5_000)
    (battery.healthPercent, battery.cycles) = (75, 612)
    (battery.faults, battery.warnings) = (["over-heat"], ["old"])
    let values: [AccessoryValue] = [
      .init("pv_power", quantity: .power, unit: .watt, number: 4.5),
      .init("mode", quantity: .state, content: .choice(word: "float", number: 3)),
      .init("door_open", quantity: .problem, content: .flag(true)), .init("firmware", content: .text("1.2")),
      .init("power", quantity: .power, unit: .watt, number: 120),
      .init("voltage", quantity: .voltage, unit: .volt, number: 230),
    ]
    var watched = try Watched(rule)
    watched.take(
      AlarmReadings(
        battery: battery, status: AccessoryStatus(state: .fault, faultCode: 17),
        values: ValuesReading(values, at: watched.now)))
    #expect(watched.state.isRaised == isRaised)
    if isRaised { #expect(watched.state.value?.text == value) }
  }

  /// A status in which nothing is known ends no alarm, and one without a fault does.
  @Test func anUnknownStatusEndsNoAlarm() throws {
    var watched = try Watched("fault")
    watched.take(AlarmReadings(status: AccessoryStatus(state: .fault, faultCode: 24)))
    #expect(watched.state.isRaised && watched.state.value?.text == "24")
    watched.take(AlarmReadings(status: AccessoryStatus()))
    #expect(watched.state.isRaised)
    watched.wait(AlarmRule.settling)
    #expect(watched.state.isRaised)
    watched.take(AlarmReadings(status: AccessoryStatus(reportsFaults: true)))
    watched.wait(AlarmRule.settling)
    #expect(!watched.state.isRaised)
  }

  /// Without a battery, a single word is the name of a value.
  @Test func aSingleWordWithoutABatteryNamesAValue() throws {
    var watched = try Watched("temperature > 45")
    watched.take("temperature", 50, .celsius)
    #expect(watched.changes == [.raised])
    var other = try Watched("temperature > 45")
    other.take("temperature", 50, .volt)
    #expect(other.changes == [])
  }

  // MARK: - Silence

  @Test func silenceRaisesAnAlarmAndReadingsClearIt() throws {
    var watched = try Watched("silent for 5 min")
    for _ in 0..<100 {
      watched.wait(.seconds(299))
      watched.hear()
    }
    #expect(watched.changes == [])
    watched.wait(.seconds(300))
    #expect(watched.changes == [.raised])
    watched.wait(.seconds(86_400))
    #expect(watched.changes == [.raised] && watched.state.deadline == nil)
    for _ in 0..<4 {
      watched.hear()
      watched.wait(.seconds(10))
    }
    #expect(watched.changes == [.raised, .cleared])
    watched.wait(.seconds(299))
    #expect(watched.changes == [.raised, .cleared, .raised])
  }

  /// Pauses about as long as the time of the rule are one alarm, also where two readings come together.
  @Test(arguments: [1, 2])
  func silenceThatFlapsForAnHourFiresOnce(readings: Int) throws {
    var watched = try Watched("silent for 5 min")
    for number in 0..<12 {
      watched.wait(.seconds(number.isMultiple(of: 2) ? 310 : 290))
      for _ in 0..<readings { watched.hear() }
    }
    #expect(watched.changes == [.raised])
  }

  @Test func silenceIsNotCountedWhileAnotherProgramUsesTheAccessory() throws {
    var watched = try Watched("silent for 5 min")
    watched.state.pauseSilence()
    #expect(watched.state.deadline == nil)
    watched.wait(.seconds(3_600))
    watched.hear()
    watched.state.resumeSilence(now: watched.now)
    watched.wait(.seconds(299))
    #expect(watched.changes == [])
    watched.wait(.seconds(1))
    #expect(watched.changes == [.raised])
  }

  @Test func timesAtTheEndOfTheClock() throws {
    var watched = try Watched("battery < 20 % for 7 d")
    watched.now = MonotonicTime(nanoseconds: .max - 5)
    watched.take(percent: 1)
    #expect(watched.state.deadline == MonotonicTime(nanoseconds: .max))
    var silent = try Watched("silent for 30 d")
    silent.now = MonotonicTime(nanoseconds: .max)
    silent.hear()
    #expect(silent.state.deadline == MonotonicTime(nanoseconds: .max))
  }
}
