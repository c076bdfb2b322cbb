// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import Testing

@testable import BridgeService

/// What is kept of what an accessory says, and what of it is news.
@Suite struct ReadingsTests {
  private func time(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

  @Test func aBatteryIsNewsWhenItIsAnother() {
    var readings = Readings()
    #expect(readings.note(BatteryReading(percent: 50), at: time(1)).isNew)
    #expect(!readings.note(BatteryReading(percent: 50), at: time(5)).isNew)
    #expect(readings.battery?.time == time(5), "it was read again all the same")
    #expect(readings.note(BatteryReading(percent: 49), at: time(6)).isNew)
    #expect(readings.battery?.value.percent == 49)
  }

  @Test func whatIsToldIsNewsAndWhatIsPolledWhereItHasChanged() {
    var readings = Readings()
    let (u, i) = (AccessoryValue("u", number: 1), AccessoryValue("i", number: 2))
    #expect(readings.note([u, i], .reported, at: time(1)) == ["u", "i"])
    #expect(readings.note([u], .reported, at: time(2)) == ["u"], "as it was, but it said so")
    #expect(readings.note([u, AccessoryValue("i", number: 3)], .polled, at: time(3)) == ["i"])
    #expect(readings.values?.values.map(\.name) == ["u", "i"])
  }

  @Test func whatItWasAskedForIsAllThereIs() {
    var readings = Readings()
    let (u, i) = (AccessoryValue("u", number: 1), AccessoryValue("i", number: 2))
    _ = readings.note([u, i], .reported, at: time(1))
    #expect(readings.note([u], .asked, at: time(2)).isEmpty)
    #expect(readings.values?.values == [u])
    #expect(readings.note([i], .polled, at: time(3)) == ["i"], "it is new again")
  }

  @Test func valuesBeyondTheLimitAreNoNews() {
    var readings = Readings()
    let many = (0..<ReadingLimits.values + 5).map { AccessoryValue("v\($0)", number: Double($0)) }
    #expect(readings.note(many, .reported, at: time(1)).count == ReadingLimits.values)
    #expect(readings.note([AccessoryValue("more", number: 1)], .reported, at: time(2)).isEmpty)
  }

  @Test func newsWaitsForItsTimeAndIsForgotten() {
    var readings = Readings()
    let names = readings.note([AccessoryValue("u", number: 1)], .reported, at: time(1))
    #expect(readings.newsDeadline == nil)
    readings.tell(names, now: time(10))
    #expect(readings.newsDeadline == time(10))
    #expect(readings.takeNews(now: time(10)).map(\.value.name) == ["u"])
    readings.tell(names, now: time(10))
    #expect(readings.newsDeadline == time(11) && readings.takeNews(now: time(10)).isEmpty)
    readings.forgetNews()
    #expect(readings.newsDeadline == nil && readings.takeNews(now: time(20)).isEmpty)
  }

  @Test func theAgeIsThatOfTheOlder() {
    var readings = Readings()
    #expect(readings.age(now: time(9)) == nil)
    _ = readings.note(BatteryReading(percent: 5), at: time(1))
    _ = readings.note(AccessoryStatus(state: .idle), at: time(4))
    #expect(readings.age(now: time(9))?.oldest == .seconds(8))
    #expect(readings.age(now: time(9))?.isStale == false)
    #expect(readings.age(now: time(0))?.oldest == .zero, "never negative")
    let silence = AccessoryError(.timedOut, "")
    readings.freshness = Freshness(
      Driver(name: "p", freshness: .seconds(5), rawBytes: .harmless) { _, _, _ throws(AccessoryError) in throw silence
      },
      interval: \.interval)
    #expect(readings.age(now: time(6))?.isStale == false)
    #expect(readings.age(now: time(7))?.isStale == true)
    #expect(readings.isStale(.battery, time(1), now: time(7)) && !readings.isStale(.status, time(4), now: time(7)))
  }

  /// An accessory that has nothing but values is as current as its newest value.
  @Test func valuesAloneAreAsOldAsTheNewest() {
    var readings = Readings()
    let silence = AccessoryError(.timedOut, "")
    readings.freshness = Freshness(
      Driver(name: "p", freshness: .seconds(5), rawBytes: .harmless) { _, _, _ throws(AccessoryError) in throw silence
      },
      interval: \.interval)
    _ = readings.note([AccessoryValue("rare", content: .flag(true))], .reported, at: time(1))
    _ = readings.note([AccessoryValue("frequent", content: .flag(true))], .reported, at: time(4))
    #expect(readings.age(now: time(9))?.oldest == .seconds(5) && readings.age(now: time(9))?.isStale == false)
    #expect(readings.age(now: time(10))?.isStale == true)
    _ = readings.note(BatteryReading(percent: 5), at: time(10))
    #expect(readings.age(now: time(12))?.oldest == .seconds(2), "with a battery only that counts")
  }

  /// An accessory that sends its status again and again, and always the same, is as current as what it sends.
  @Test func readingsToldAgainAreAsOldAsTold() {
    let silence = AccessoryError(.timedOut, "")
    var driver = Driver(name: "p", freshness: .seconds(10), rawBytes: .harmless) {
      _, _, _ throws(AccessoryError) in throw silence
    }
    let told = Locked<MonotonicTime?>(nil)
    var readings = Readings()
    readings.toldTime = { part in part == .values ? nil : told.withLock { $0 } }
    readings.freshness = Freshness(driver, interval: \.interval)
    told.withLock { $0 = time(1) }
    _ = readings.note(AccessoryStatus(state: .idle), at: time(1))
    _ = readings.note(BatteryReading(percent: 5), at: time(1))
    told.withLock { $0 = time(60) }
    _ = readings.note(BatteryReading(percent: 6), at: time(60))
    #expect(readings.age(now: time(63))?.oldest == .seconds(3))
    #expect(readings.age(now: time(63))?.isStale == false && readings.age(now: time(63))?.fresh == .seconds(7))
    // Who asks now gets what was told then: that doesn't make it new.
    _ = readings.note(BatteryReading(percent: 6), at: time(68))
    #expect(readings.battery?.time == time(60))
    #expect(readings.age(now: time(71))?.isStale == true && readings.age(now: time(71))?.fresh == nil)
    // A status that it never sends by itself isn't judged by what it sends.
    driver.repeatedParts = [.battery]
    readings = Readings()
    readings.freshness = Freshness(driver, interval: \.interval)
    _ = readings.note(AccessoryStatus(state: .idle), at: time(1))
    _ = readings.note(BatteryReading(percent: 5), at: time(60))
    #expect(readings.age(now: time(63))?.oldest == .seconds(3) && readings.age(now: time(63))?.isStale == false)
  }
}
