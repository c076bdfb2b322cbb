// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import Testing

@testable import AccessorySimulator
@testable import FamilyAF1
@testable import FamilyAF1Simulator

/// The pretended accessory's inside, with the test as host and clock.
@Suite struct AF1DeviceTests {
  typealias Answer = (header: AF1Header, payload: [UInt8])

  private var device = AF1Device(AF1Device.Configuration(), bootID: 0xC0FF_EE01)
  private var now = MonotonicTime(nanoseconds: 0)

  private mutating func ask(
    _ command: AF1Command, _ number: UInt16 = 1, _ payload: [UInt8] = [], outcome: FrameOutcome = .whole
  ) -> Answer? {
    device.answer(.request(command, number: number), outcome, payload: payload, now: now)
  }

  private mutating func hello(_ nonce: UInt8, number: UInt16 = 900) -> Answer? {
    ask(.hello, number, [nonce, 0, 0, 0])
  }

  private mutating func count(_ number: UInt16) -> UInt8? { ask(AF1Device.count, number)?.payload.first }

  private mutating func refusal(
    _ command: AF1Command, _ payload: [UInt8] = [], outcome: FrameOutcome = .whole
  ) -> [UInt8]? {
    guard let answer = ask(command, 5, payload, outcome: outcome) else { return nil }
    return answer.header == .refusal(of: .request(command, number: 5)) ? answer.payload : nil
  }

  // MARK: - Answers

  @Test mutating func aGreetingIsAnsweredWithTheBootID() throws {
    let answer = try #require(hello(1))
    #expect(answer.header == .reply(to: .request(.hello, number: 900)))
    #expect(answer.payload == [1, 0xEE, 0xFF, 0xC0, 0x00, 0x10, 1, 0])
  }

  @Test mutating func everyCommandOfAF1IsAnswered() throws {
    device.configuration.identity.serialNumber = "S"
    device.configuration.battery = AF1BatteryReply(
      level: .normal, percent: 57, millivolts: 3_712, charge: .discharging)
    device.configuration.status = AF1StatusReply(state: .fault, faultCode: 0x0102, progress: 40)
    #expect(ask(.identify)?.payload == Array("Accessory Bridge\0Simulated accessory\0AF1-SIM\0S\01.0.0\0A\0".utf8))
    #expect(ask(.status)?.payload == [3, 2, 1, 40])
    #expect(ask(.battery)?.payload == [2, 57, 0x80, 0x0E, 2])
    #expect(ask(.echo, 1, [9, 8, 7])?.payload == [9, 8, 7])
    #expect(ask(.echo, 2)?.payload == [])
    #expect(ask(.echo, 0xBEEF)?.header == .reply(to: .request(.echo, number: 0xBEEF)))
  }

  @Test mutating func aBatteryPayloadIsSentAsItIs() {
    device.configuration.batteryPayload = [7]
    #expect(ask(.battery)?.payload == [7])
    #expect(device.batteryEvent().payload == [7])
  }

  @Test mutating func aWrongRequestIsRefusedWithItsReason() {
    #expect(refusal(AF1Command(rawValue: 0x55)) == [3])
    #expect(refusal(.transferBegin) == [6])
    #expect(refusal(.battery, [0]) == [6])
    #expect(refusal(.hello, [1, 2, 3]) == [6])
    #expect(refusal(.echo, outcome: .payloadDamaged) == [2])
    #expect(refusal(.echo, outcome: .tooLong) == [4])
    #expect(refusal(.echo, outcome: .otherVersion) == [7])
  }

  /// What arrived damaged was not run, and its refusal isn't kept: the repeat is run.
  @Test mutating func aDamagedRequestIsNotRun() {
    #expect(ask(AF1Device.count, 1, outcome: .payloadDamaged)?.payload == [2])
    #expect(device.runs == 0)
    #expect(count(1) == 1)
  }

  @Test mutating func aRequestWithoutReplyIsRunOnce() {
    let header = AF1Header(flags: [], command: AF1Device.count, number: 1)
    #expect(device.answer(header, .whole, payload: [], now: now) == nil)
    #expect(device.runs == 1)
    // A repeat of it is still a repeat.
    #expect(device.answer(header, .whole, payload: [], now: now) == nil)
    #expect(device.runs == 1)
  }

  /// Answers and events are a host's business, not an accessory's.
  @Test(arguments: [.reply, .event, [.reply, .replyWanted], [.event, .replyWanted]] as [AF1Header.Flags])
  mutating func framesThatAskNothingAreNotAnswered(flags: AF1Header.Flags) {
    let header = AF1Header(flags: flags, command: AF1Device.count, number: 1)
    #expect(device.answer(header, .whole, payload: [], now: now) == nil)
    #expect(device.runs == 0)
  }

  // MARK: - Kept replies

  @Test mutating func aRepeatIsAnsweredAndNotRun() {
    #expect(count(1) == 1)
    #expect(count(1) == 1)
    #expect(device.runs == 1)
    #expect(count(2) == 2)
  }

  /// Number, command and payload make the repeat; if one differs, it is another request.
  @Test mutating func aRequestThatDiffersIsNoRepeat() {
    #expect(ask(.echo, 1, [1])?.payload == [1])
    #expect(ask(.echo, 1, [2])?.payload == [2])
    #expect(ask(AF1Device.count, 1, [2])?.payload.first == 1)
    #expect(ask(AF1Device.count, 1, [3])?.payload.first == 2)
  }

  /// As many as may be outstanding; here one.
  @Test mutating func onlyTheLastIsKept() {
    #expect(count(1) == 1)
    #expect(count(2) == 2)
    #expect(count(1) == 3)
  }

  @Test mutating func asManyRepeatsAsTheWindowAreRemembered() {
    var configuration = AF1Device.Configuration()
    configuration.window = 3
    device = AF1Device(configuration, bootID: 1)
    for number in 1...3 { #expect(count(UInt16(number)) == UInt8(number)) }
    for number in 1...3 { #expect(count(UInt16(number)) == UInt8(number)) }
    #expect(count(4) == 4)
    #expect(count(1) == 5)
  }

  @Test mutating func aRepeatIsRememberedForTenSeconds() {
    #expect(count(1) == 1)
    now = MonotonicTime(nanoseconds: 9_999_999_999)
    #expect(count(1) == 1)
    now = MonotonicTime(nanoseconds: 10_000_000_000)
    #expect(count(1) == 2)
  }

  /// The rules that make it safe to ask again: the same host asks by the same nonce, another by another.
  @Test mutating func anotherHostsRequestIsNoRepeat() {
    _ = hello(1)
    #expect(count(1) == 1)
    _ = hello(1, number: 901)
    #expect(count(1) == 1, "the same host, making sure")
    _ = hello(2, number: 902)
    #expect(count(1) == 2, "another host, whose request 1 is its own")
  }

  @Test mutating func aBadHelloForgetsNothing() {
    _ = hello(1)
    #expect(count(1) == 1)
    #expect(refusal(.hello, [9, 9]) == [6])
    #expect(count(1) == 1)
  }

  @Test mutating func aRestartForgetsTheRepeats() {
    _ = hello(1)
    #expect(count(1) == 1)
    device.restart(bootID: 2)
    #expect(device.bootID == 2)
    #expect(hello(1)?.payload.prefix(4) == [2, 0, 0, 0])
    #expect(count(1) == 2, "it forgot the request, but not how often it ran")
  }

  // MARK: - Events

  @Test mutating func eventsCountOnTheirOwn() {
    #expect(device.batteryEvent().header == .event(.battery, number: 0))
    _ = ask(.status, 77)
    #expect(device.statusEvent().header == .event(.status, number: 1))
    #expect(device.batteryEvent().header.number == 2)
    device.restart(bootID: 2)
    #expect(device.batteryEvent().header.number == 0)
  }

  @Test mutating func eventsTellThePresent() {
    device.configuration.battery = AF1BatteryReply(level: .low, percent: 12, millivolts: 3_420, charge: .discharging)
    #expect(device.batteryEvent().payload == [1, 12, 0x5C, 0x0D, 2])
    device.configuration.status = AF1StatusReply(state: .busy, progress: 3)
    #expect(device.statusEvent().payload == [1, 0, 0, 3])
  }
}
