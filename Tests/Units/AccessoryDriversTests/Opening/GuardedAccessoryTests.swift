// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import TestSupport
import Testing

@testable import AccessoryDrivers

/// An accessory with answers of its own to everything that has a default.
private struct Complete: Accessory {
  let label = "complete"
  let missing: String? = "the rest"
  let protocolDetails: ProtocolDetails? = ProtocolDetails(name: "p", largestPayload: 7, window: 1)

  func identify() async throws(AccessoryError) -> AccessoryIdentity { AccessoryIdentity(serialNumber: "S1") }
  func status() async throws(AccessoryError) -> AccessoryStatus { AccessoryStatus(state: .busy) }
  func battery() async throws(AccessoryError) -> BatteryReading { BatteryReading(percent: 1) }
  func values() async throws(AccessoryError) -> [AccessoryValue] { [AccessoryValue("a", number: 1)] }
  func readBattery() async throws(AccessoryError) -> Read<BatteryReading> {
    Read(BatteryReading(percent: 2), age: .seconds(2))
  }
  func readStatus() async throws(AccessoryError) -> Read<AccessoryStatus> {
    Read(AccessoryStatus(state: .paused), age: .seconds(3))
  }
  func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> { Read([], age: .seconds(4)) }
  func toldTime(of part: AccessoryPoll.Part) -> MonotonicTime? {
    part == .battery ? MonotonicTime(nanoseconds: 5) : nil
  }
  func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews] { [.other] }
  func news() -> EventStream<AccessoryNews> { EventStream(AsyncThrowingStream { nil }) }
  func close() async {}
}

/// A guard for writes that left something out would answer with the default, which says that there is nothing.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct GuardedAccessoryTests {
  @Test func everyAnswerIsTheAccessorysOwn() async throws {
    let guarded: any Accessory = GuardedAccessory(base: Complete(), rules: WriteRules("complete"), isAsked: false)
    #expect(guarded.label == "complete" && guarded.missing == "the rest")
    #expect(guarded.protocolDetails?.largestPayload == 7)
    #expect(try await guarded.identify().serialNumber == "S1")
    #expect(try await guarded.status().state == .busy)
    #expect(try await guarded.battery().percent == 1)
    #expect(try await guarded.values().map(\.name) == ["a"])
    #expect(try await guarded.readBattery().age == .seconds(2))
    #expect(try await guarded.readStatus().age == .seconds(3))
    #expect(try await guarded.readValues().age == .seconds(4))
    #expect(guarded.toldTime(of: .battery) == MonotonicTime(nanoseconds: 5) && guarded.toldTime(of: .status) == nil)
    #expect(try await guarded.poll(.readings()) == [.other])
  }
}
