// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryFamilies
import Testing

@testable import AccessoryDrivers

/// What a profile says of polls, sleep and writes.
@Suite struct PollPolicyTests {
  private static let cells = AccessoryPoll("cells", every: .seconds(600), parts: [.battery])
  private static let drivers = DriverLibrary([
    Driver(name: "pack", polls: [.readings(every: .seconds(10)), cells], rawBytes: .harmless) { _, _, _ in
      fatalError("not opened here")
    },
    Driver(name: "mute", polls: [], rawBytes: .harmless) { _, _, _ in fatalError("not opened here") },
  ])

  private func read(_ text: String, driver: String? = "pack") throws(ProfileProblems) -> Profile {
    let head = "name: a\nmatch: {serial: x}\n" + (driver.map { "driver: \($0)\n" } ?? "")
    return try ProfileReader.read(Array((head + text).utf8), file: "f", drivers: Self.drivers)
  }

  private func intervals(_ text: String) throws -> [Duration?] {
    let policy = try read(text).polls
    return [policy.interval(of: .readings(every: .seconds(10))), policy.interval(of: Self.cells)]
  }

  @Test func aProfileSaysHowOftenToPoll() throws {
    #expect(try intervals("") == [.seconds(10), .seconds(600)])
    #expect(try intervals("poll: standard") == [.seconds(10), .seconds(600)])
    #expect(try intervals("poll: off") == [nil, nil])
    #expect(try intervals("poll: 90s") == [.seconds(90), .seconds(90)])
    #expect(try intervals("poll: {cells: off}") == [.seconds(10), nil])
    #expect(try intervals("poll: {cells: 1h, readings: 500ms}") == [.milliseconds(500), .seconds(3_600)])
  }

  @Test(arguments: [
    "poll: off", "poll: 1m", "poll: {cells: off, readings: 3s}", "poll: {}", "sleep: true", "low: 15 %, 5 min",
    "writes: allowed",
  ])
  func aPollPolicyIsWrittenAsItIsRead(_ text: String) throws {
    let profile = try read(text)
    let written = ProfileText.text(profile)
    #expect(try ProfileReader.read(Array(written.utf8), file: "g", drivers: Self.drivers) == profile)
  }

  /// What isn't said is refused, or the driver's: no profile from before there were these keys changes its meaning.
  @Test func writesAndSleepAreOffUnlessSaid() throws {
    let profile = try read("")
    #expect(!profile.allowsWrites && !profile.polls.letsSleep && profile.polls == PollPolicy())
    #expect(try read("writes: allowed\nsleep: true").allowsWrites)
    #expect(try read("low: 15 %").lowLimit == LowLimit(percent: 15))
    #expect(try read("low: 15%, 5 min").lowLimit == LowLimit(percent: 15, seconds: 300))
    #expect(try read("sleep: true").lowLimit == nil)
    #expect(try read("writes: refused").allowsWrites == false)
  }

  @Test(arguments: [
    ("poll: {cell: off}", "unknown key \"cell\": did you mean cells?"),
    ("poll: 50ms", "poll (or standard, or {NAME: 10s}), if not off, must be a time with its unit"),
    ("poll: 25h", "from 100ms to 24h"), ("poll: {cells: never}", "cells, if not off, must be a time"),
    ("poll: [1s]", "poll (or standard"), ("sleep: yes", "sleep must be true or false"),
    ("low: 15", "low must be a charge"), ("low: 0 %", "low must be a charge"), ("low: [5 min]", "low must be a charge"),
    ("writes: true", "writes must be allowed or refused"),
  ])
  func mistakesInPollsAreReported(_ text: String, _ message: String) throws {
    let error = #expect(throws: ProfileProblems.self) { try read(text) }
    #expect(error?.problems.first?.message.contains(message) == true, "\(String(describing: error))")
    #expect(error?.problems.first?.line == 4)
  }

  @Test func pollingWithoutAnythingToAskIsAMistake() {
    for (driver, reason) in [(nil, "the profile names no driver"), ("mute", "can ask nothing")] as [(String?, String)] {
      let error = #expect(throws: ProfileProblems.self) { try read("poll: 1m", driver: driver) }
      #expect(error?.problems.first?.message.contains(reason) == true)
      #expect(throws: Never.self) { try read("poll: standard", driver: driver) }
    }
  }

  /// The documented defaults.
  @Test func builtInDriversHaveTheirPollIntervals() {
    let usual = Dictionary(
      uniqueKeysWithValues: DriverLibrary.builtIn.drivers.prefix(5).map { ($0.name, $0.polls.map(\.interval)) })
    #expect(usual == ["framed": [nil], "ev3": [.seconds(60)], "hm10": [nil], "bluno": [], "hm1x": []])
  }
}
