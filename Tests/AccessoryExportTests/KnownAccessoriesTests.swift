// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@testable import AccessoryExport

/// What is known of accessories, by events and lists.
struct KnownAccessoriesTests {
  private var known = KnownAccessories()
  private let now = MonotonicTime(nanoseconds: 100_000_000_000)

  init() { known.note(service: "s", isUp: true) }

  private mutating func take(_ event: BridgeEvent) -> Bridge.Device? { known.take(event, from: "s", now: now) }

  private mutating func arrive(_ id: String, at path: String) {
    let device = Bridge.Device.sample(id, path: path)
    #expect(take(.connected(device)) == device)
    var first = FirstReadings()
    first.battery = BatteryReading(percent: 50)
    known.take(first, of: device, from: "s", now: now)
  }

  private func freshness(_ name: String) -> ReadingsSnapshot.Freshness? {
    let snapshot = known.snapshot
    return snapshot.accessories.first { $0.name == name }.map { snapshot.freshness(of: $0) }
  }

  @Test mutating func comingAndGoing() {
    let device = Bridge.Device.sample("A", path: "/1")
    _ = take(.present(device))
    #expect(freshness("A") == .stale)
    arrive("A", at: "/1")
    #expect(freshness("A") == .fresh)
    _ = take(.disconnected(device, .disconnected("/1")))
    #expect(freshness("A") == .gone)
    #expect(known.snapshot.accessories[0].battery == nil)
    // It comes back at another port, and keeps its name.
    arrive("A", at: "/2")
    #expect(known.snapshot.accessories.map(\.name) == ["A"])
    #expect(known.snapshot.accessories[0].disconnectCount == 1)
    known.lose(service: "s")
    #expect(freshness("A") == .stale)
  }

  @Test mutating func eventsAreTheLatest() {
    arrive("A", at: "/1")
    let device = Bridge.Device.sample("A", path: "/1")
    _ = take(.battery(device, BatteryReading(percent: 40)))
    _ = take(.values(device, [AccessoryValue("a", number: 1), AccessoryValue("b", number: 2)]))
    _ = take(.values(device, [AccessoryValue("b", number: 3)]))
    _ = take(.status(device, AccessoryStatus(state: .busy)))
    _ = take(.requestFailed(device, AccessoryError(.refused, "no")))
    let accessory = known.snapshot.accessories[0]
    #expect(accessory.battery?.percent == 40)
    #expect(accessory.values.values.map(\.number) == [1, 3])
    #expect(accessory.status?.state == .busy)
    #expect(accessory.requestFailureCount == 1)
    // Of what nobody has told of, nothing is kept.
    _ = take(.battery(.sample("B", path: "/9"), BatteryReading(percent: 40)))
    #expect(known.snapshot.accessories.count == 1)
  }

  /// Alarms stay over a disconnect, until they are cleared or the service is gone.
  @Test mutating func alarms() {
    arrive("A", at: "/1")
    let device = Bridge.Device.sample("A", path: "/1")
    for name in ["low", "hot", "low"] {
      _ = take(.alarm(device, .init(name: name, rule: "fault", since: 1), .raised))
    }
    #expect(known.snapshot.accessories[0].alarms.map(\.name) == ["hot", "low"])
    _ = take(.disconnected(device, .disconnected("A")))
    _ = take(.alarm(device, .init(name: "hot", rule: "fault", since: 1), .cleared))
    #expect(known.snapshot.accessories[0].alarms.map(\.name) == ["low"])
    known.lose(service: "s")
    #expect(known.snapshot.accessories[0].alarms == [])
  }

  @Test mutating func equalIdsAndNames() {
    arrive("A", at: "/1")
    arrive("A", at: "/2")
    arrive("B@1", at: "/3")
    arrive("B#1", at: "/4")
    #expect(known.snapshot.accessories.map(\.name) == ["A", "A_2", "B_1", "B_1_2"])
    #expect(known.snapshot.accessories.map(\.id) == ["A", "A#2", "B@1", "B#1"])
    // Another device at the place of one that isn't told to be gone.
    arrive("C", at: "/1")
    #expect(freshness("A") == .gone)
    #expect(freshness("C") == .fresh)
  }

  @Test mutating func lists() {
    arrive("A", at: "/1")
    arrive("B", at: "/2")
    var a = Bridge.Accessory(device: .sample("A", path: "/1"), state: .attached, driver: "jbd")
    (a.readings_age_ms, a.stale) = (2_000, true)
    let c = Bridge.Accessory(device: .sample("C", path: "/3"), state: .opening)
    known.take([a, c], from: "s", now: now)
    #expect(freshness("A") == .stale)
    #expect(freshness("B") == .gone)
    #expect(freshness("C") == nil)
    #expect(known.snapshot.accessories[0].readTime == now + .seconds(-2))
    #expect(known.snapshot.accessories[0].driver == "jbd")
    a.stale = nil
    known.take([a], from: "s", now: now)
    #expect(freshness("A") == .fresh)
    a.state = .waiting
    a.tries = 2
    known.take([a], from: "s", now: now)
    #expect(freshness("A") == .gone)
  }

  @Test mutating func theFirstQuestions() {
    let device = Bridge.Device.sample("A", path: "/1")
    _ = take(.connected(device))
    var failed = FirstReadings()
    failed.failureCount = 3
    known.take(failed, of: device, from: "s", now: now)
    #expect(freshness("A") == .stale)
    #expect(known.snapshot.accessories[0].readingFailureCount == 3)
    // An accessory without any readings is as it should be.
    _ = take(.connected(device))
    known.take(FirstReadings(), of: device, from: "s", now: now)
    #expect(freshness("A") == .fresh)
  }

  @Test mutating func boundedInNumber() {
    for number in 0..<KnownAccessories.limit { arrive("A\(number)", at: "/\(number)") }
    #expect(take(.connected(.sample("new", path: "/new"))) == nil)
    _ = take(.disconnected(.sample("A5", path: "/5"), .disconnected("")))
    #expect(take(.connected(.sample("new", path: "/new"))) != nil)
    #expect(known.snapshot.accessories.count == KnownAccessories.limit)
    #expect(freshness("A5") == nil)
  }
}
