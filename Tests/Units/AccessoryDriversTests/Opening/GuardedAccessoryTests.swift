// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import TestSupport
import Testing

@testable import AccessoryDrivers

/// An accessory with answers of its own to everything that has a default.
private struct Complete: Accessory {
  let label = "complete"
  let unanswered: String? = "the rest"
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
  func readIdentity() async throws(AccessoryError) -> Read<AccessoryIdentity> {
    Read(AccessoryIdentity(), age: .seconds(1))
  }
  func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> { Read([], age: .seconds(4)) }
  func toldTime(of part: AccessoryPoll.Part) -> MonotonicTime? {
    part == .battery ? MonotonicTime(nanoseconds: 5) : nil
  }
  func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews] { [.other] }
  func commands() -> [CommandDescription] { [CommandDescription("turn", "Turns", results: [.init("angle")])] }
  func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    calls.map { CommandReply($0.command, [.whole(90)]) }
  }
  func news() -> EventStream<AccessoryNews> { EventStream(AsyncThrowingStream { nil }) }
  func close() async {}
}

/// A driver that passes on whatever came.
private struct Credulous: Accessory {
  let label = "credulous"
  var reading = BatteryReading(percent: 101, millivolts: 12_000)
  func battery() async throws(AccessoryError) -> BatteryReading { reading }
  func values() async throws(AccessoryError) -> [AccessoryValue] {
    [AccessoryValue("board", unit: .celsius, number: 3_276.7), AccessoryValue("fan", unit: .percent, number: 40)]
  }
  func news() -> EventStream<AccessoryNews> {
    let left = Locked<[AccessoryNews]>([.battery(reading), .other])
    return EventStream(AsyncThrowingStream { left.withLock { $0.isEmpty ? nil : $0.removeFirst() } })
  }
  func close() async {}
}

/// A driver that passes on whatever came, and leaves something unanswered.
private struct Partial: Accessory {
  let label = "partial"
  let reading: BatteryReading
  var unanswered: String? { "the cells" }
  func battery() async throws(AccessoryError) -> BatteryReading { reading }
  func readBattery() async throws(AccessoryError) -> Read<BatteryReading> {
    Read(reading, age: .zero).lacking(unanswered)
  }
  func news() -> EventStream<AccessoryNews> { EventStream(AsyncThrowingStream { nil }) }
  func close() async {}
}

/// A guard for writes that left something out would answer with the default, which says that there is nothing.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct GuardedAccessoryTests {
  @Test func everyAnswerIsTheAccessorysOwn() async throws {
    let guarded: any Accessory = GuardedAccessory(base: Complete(), rules: WriteRules("complete"), isAsked: false)
    #expect(guarded.label == "complete" && guarded.unanswered == "the rest")
    #expect(guarded.protocolDetails?.largestPayload == 7)
    #expect(try await guarded.identify().serialNumber == "S1")
    #expect(try await guarded.status().state == .busy)
    #expect(try await guarded.battery().percent == 1)
    #expect(try await guarded.values().map(\.name) == ["a"])
    #expect(try await guarded.readBattery().age == .seconds(2))
    #expect(try await guarded.readStatus().age == .seconds(3))
    #expect(try await guarded.readIdentity().age == .seconds(1))
    #expect(try await guarded.readValues().age == .seconds(4))
    #expect(guarded.toldTime(of: .battery) == MonotonicTime(nanoseconds: 5) && guarded.toldTime(of: .status) == nil)
    #expect(try await guarded.poll(.readings()) == [.other])
    #expect(try await guarded.commands().map(\.name) == ["turn"])
    #expect(try await guarded.perform("turn") == ["angle": .whole(90)])
  }

  /// Both say which accessory it is.
  @Test func aCommandThatCantBePerformedIsAnError() async throws {
    let unknown = await #expect(throws: AccessoryError.self) { try await Complete().perform("tern") }
    #expect(unknown?.kind == .misconfigured && unknown?.message.hasPrefix("complete: tern is not a command") == true)
    let none = await #expect(throws: AccessoryError.self) { try await Credulous().perform("turn") }
    #expect(none == AccessoryError(.unsupported, "credulous has no named commands"))
  }

  /// Whatever driver says it.
  @Test func whatCantBeIsNotTold() async throws {
    var guarded = GuardedAccessory(base: Credulous(), rules: WriteRules("credulous"), isAsked: false)
    let read = try await guarded.readBattery()
    #expect(read.percent == 100 && read.missing == nil)
    #expect(try await guarded.values().map(\.number) == [nil, 40])
    var reading = BatteryReading(percent: 40, millivolts: 12_000, milliamperes: 500)
    reading.temperatures = [.init(-273_100)]
    guarded = GuardedAccessory(base: Credulous(reading: reading), rules: WriteRules("credulous"), isAsked: false)
    #expect(try await guarded.poll(.readings()).contains(.battery(reading.bounded)))
    #expect(try await guarded.readBattery().missing == "what can't be is unknown: temperature -273.1 °C")
    let partial = GuardedAccessory(base: Partial(reading: reading), rules: WriteRules("partial"), isAsked: false)
    let missing = try await partial.readBattery().missing
    #expect(missing == "the cells; what can't be is unknown: temperature -273.1 °C")
    reading.millivolts = 6_553_500
    guarded = GuardedAccessory(base: Credulous(reading: reading), rules: WriteRules("credulous"), isAsked: false)
    let error = await #expect(throws: AccessoryError.self) { try await guarded.battery() }
    #expect(error?.kind == .badData)
    await #expect(throws: AccessoryError.self) { try await guarded.readBattery() }
    await #expect(throws: AccessoryError.self) { try await guarded.batteryAndNews().reading }
    var news: [AccessoryNews] = []
    for try await one in guarded.news() { news.append(one) }
    #expect(news == [.other])
  }
}
