// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

/// `battery --watch`: told by the accessory, not asked for.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct FollowTests {
  /// A line behind the time with which it begins: "14:05:09  57 %".
  private static func withoutTime(_ line: String) -> String {
    let form = String(line.prefix(10).map { $0.isNumber ? "0" : $0 })
    let hasTime = form == "00:00:00  "
    return hasTime ? String(line.dropFirst(10)) : "no time: \(line)"
  }

  @Test func eventsArePrintedAndNothingIsAsked() async throws {
    let accessory = ScriptedAccessory { request in
      request.command == .battery ? .reply([2, 57, 0x80, 0x0E, 2]) : .silence
    }
    let terminal = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      let battery = try box.start("battery", terminal.path, "--driver", "framed", "--watch")
      _ = try await battery.lines(1)
      let events: [(AF1Command, [UInt8])] = [
        (.battery, [2, 56, 0x77, 0x0E, 2]), (.status, [1, 0, 0, 0xFF]), (.battery, [1, 12, 0x5C, 0x0D, 2]),
        (AF1Command(rawValue: 0x55), [1, 2, 3]), (.battery, []), (.battery, [3]),
      ]
      for (number, event) in events.enumerated() {
        let bytes = ScriptedAccessory.event(event.0, number: UInt16(number), event.1)
        #expect(terminal.transport.output.offer(bytes) == .accepted)
      }
      #expect(
        try await battery.lines(4).map(Self.withoutTime) == [
          "57 %  normal  3.712 V  discharging", "56 %  normal  3.703 V  discharging",
          "12 %  low  3.420 V  discharging", "high",
        ])
      battery.signal(SIGINT)
      let ended = try await battery.end()
      #expect(ended.status == 0)
      #expect(ended.lines.count == 4)
      #expect(accessory.requests.value.map(\.command) == [.hello, .battery])
    }
    await terminal.transport.close()
  }

  /// Told before the answer and told behind it, in one piece: the older one is not shown, which would be a step back.
  @Test func aReadingOlderThanTheAnswerIsNotShown() async throws {
    let accessory = ScriptedAccessory { request in
      guard request.command == .battery else { return .silence }
      return .bytes(
        ScriptedAccessory.event(.battery, number: 0, [2, 58, 0x89, 0x0E, 2])
          + ScriptedAccessory.frame(
            .reply(to: .request(.battery, number: request.number)), [2, 57, 0x80, 0x0E, 2])
          + ScriptedAccessory.event(.battery, number: 1, [2, 56, 0x77, 0x0E, 2]))
    }
    let terminal = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      let battery = try box.start("battery", terminal.path, "--driver", "framed", "--watch")
      #expect(
        try await battery.lines(2).map(Self.withoutTime) == [
          "57 %  normal  3.712 V  discharging", "56 %  normal  3.703 V  discharging",
        ])
      battery.signal(SIGINT)
      #expect(try await battery.end().lines.count == 2)
    }
    await terminal.transport.close()
  }

  @Test func batteryWatchFollowsADrainingBattery() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "100", "--drain", "4")
      let battery = try box.start("battery", "--watch", "--json")
      let documents = try await battery.lines(6).map { try JSON($0) }
      let percents = documents.compactMap { document -> Double? in
        if case .number(let percent)? = document["battery"]?["percent"] { percent } else { nil }
      }
      #expect(percents.count == 6)
      #expect(zip(percents, percents.dropFirst()).allSatisfy { $0 == $1 + 1 })
      #expect(documents.allSatisfy { $0["schema"] == "accessory-bridge/2" && $0["device"]?["id"] == "SIM0001" })
    }
  }

  @Test func theEndOfTheAccessoryIsAnErrorWithOnce() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate()
      let battery = try box.start("battery", "--watch", "--once")
      _ = try await battery.lines(1)
      simulator.program.signal(SIGKILL)
      let ended = try await battery.end()
      #expect(ended.status == EX_UNAVAILABLE)
      #expect(ended.errorText.contains("was disconnected"))
      #expect(ended.lines.count == 1)
    }
  }

  /// While its accessory stays away, a command does nothing at all, and sees it come back by its link.
  @Test func nothingIsTriedWhileTheAccessoryIsAway() async throws {
    let accessory = ScriptedAccessory { $0.command == .battery ? .reply([2, 57, 0x80, 0x0E, 2]) : .silence }
    let before = try await accessory.onPseudoTerminal()
    let after = try await accessory.onPseudoTerminal()
    try await Sandbox.with { box in
      let link = box.directory.path + "/acc"
      try #require(symlink(before.path, link) == 0)
      let battery = try box.start("battery", link, "--driver", "framed", "--watch")
      _ = try await battery.lines(1)
      unlink(link)
      await before.transport.close()
      try await battery.errors(containing: "waiting for it to come back")
      try await eventually("the end of all timers", within: .seconds(60)) { battery.runsNoTimers }
      try #require(symlink(after.path, link) == 0)
      _ = try await battery.lines(2)
      battery.signal(SIGINT)
      #expect(try await battery.end().status == 0)
    }
    await after.transport.close()
  }

  /// An accessory that has just come back and answers wrongly is opened again; the command doesn't end.
  @Test func anUnreadyAccessoryIsOpenedAgain() async throws {
    let first = ScriptedAccessory { $0.command == .battery ? .reply([2, 57, 0x80, 0x0E, 2]) : .silence }
    let greetings = Watched(0)
    let second = ScriptedAccessory { request in
      switch request.command {
      case .hello:
        greetings.update { $0 += 1 }
        return .silence
      case .battery: return .reply(greetings.value == 1 ? [] : [2, 56, 0x77, 0x0E, 2])
      default: return .silence
      }
    }
    let before = try await first.onPseudoTerminal()
    let after = try await second.onPseudoTerminal()
    try await Sandbox.with { box in
      let link = box.directory.path + "/acc"
      try #require(symlink(before.path, link) == 0)
      let battery = try box.start("battery", link, "--driver", "framed", "--watch")
      #expect(try await battery.lines(1).map(Self.withoutTime) == ["57 %  normal  3.712 V  discharging"])
      unlink(link)
      try #require(symlink(after.path, link) == 0)
      await before.transport.close()
      #expect(
        try await battery.lines(2).map(Self.withoutTime) == [
          "57 %  normal  3.712 V  discharging", "56 %  normal  3.703 V  discharging",
        ])
      #expect(greetings.value == 2)
      battery.signal(SIGINT)
      #expect(try await battery.end().status == 0)
    }
    await after.transport.close()
  }
}
