// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator
@testable import FamilyBluno
@testable import FamilyBlunoSimulator

/// A pretended robot from end to end: the real driver and the real link at the other end of a terminal.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct BlunoSimulatorTests {
  private struct Bench {
    let simulator: BlunoSimulator
    let robot: BlunoRobot

    static func open(
      timeout: Duration = .seconds(20), _ change: (inout BlunoDevice.Configuration) -> Void = { _ in }
    ) async throws -> Bench {
      var configuration = BlunoDevice.Configuration()
      change(&configuration)
      var simulated = BlunoSimulator.Configuration(BlunoDevice(configuration), seed: 1)
      simulated.isAnnounced = false
      let simulator = BlunoSimulator(simulated)
      let session = try await AccessorySession.open(TerminalConfiguration(path: try await simulator.plugIn()))
      return Bench(simulator: simulator, robot: try await BlunoRobot.open(session, timeout: timeout))
    }

    func perform(_ line: String, by remote: BlunoRemote = BlunoRemote()) async throws -> [[CommandValue]] {
      let calls = try CommandCall.read(line.split(separator: " ").map(String.init), of: BlunoRobot.commands)
      return try await robot.perform(calls, isAnswered: true, by: remote).map(\.values)
    }

    /// The next messages that the robot takes.
    func messages(_ count: Int) async -> [BlunoMessage] {
      var messages: [BlunoMessage] = []
      for await event in simulator.events {
        if case .news(.message(let message)) = event { messages.append(message) }
        if messages.count == count { break }
      }
      return messages
    }

    func close() async {
      await robot.close()
      await simulator.stop()
    }
  }

  /// Who asks the radio while another does, and who sends the robot a message meanwhile: each waits for the end of AT mode.
  @Test func conversationsDoNotDisturbEachOther() async throws {
    let bench = try await Bench.open()
    let robot = bench.robot
    async let message: Void = robot.send(.task(3))
    async let values = robot.values()
    async let named = bench.perform("version + task task=4")
    let identities = try await withThrowingTaskGroup(of: AccessoryIdentity.self) { group in
      for _ in 0..<4 { group.addTask { try await robot.identify() } }
      return try await group.reduce(into: Set<AccessoryIdentity>()) { $0.insert($1) }
    }
    #expect(identities.count == 1 && identities.first?.firmwareRevision.isEmpty == false, "\(identities)")
    #expect(try await values.last?.content != nil)
    #expect(try await named.count == 2)
    try await message
    #expect(Set(await bench.messages(2)) == [.task(3), .task(4)])
    await bench.close()
  }

  @Test func theRobotTakesMessagesAndSendsTexts() async throws {
    let bench = try await Bench.open()
    let texts = bench.robot.texts()
    _ = try await bench.perform("task task=patrol + key key=up + key key=F4 + drive-speed speed=-128 + text text=Q")
    #expect(await bench.messages(5) == [.task(2), .key(.up), .key(.f4), .speed(-128), .text("Q")])
    _ = try await bench.perform("task task=0")
    var iterator = texts.makeAsyncIterator()
    #expect(try await iterator.next() == Array("Status: fine\n".utf8))
    await bench.close()
  }

  /// With a line feed behind every message, a robot that reads lines can tell tasks of several digits from each other.
  @Test func theRobotTakesLinesWithTasksOfSeveralDigits() async throws {
    var remote = BlunoRemote()
    remote.endsLines = true
    try remote.tasks.append(try BlunoTask(number: 42, name: "Dance"))
    let bench = try await Bench.open { $0.readsLines = true }
    _ = try await bench.perform("task task=dance + task task=43 + text text=hello + key key=stop", by: remote)
    #expect(await bench.messages(4) == [.task(42), .task(43), .text("hello"), .key(.stop)])
    await bench.close()
  }

  @Test func theRobotTakesOtherKeys() async throws {
    var remote = BlunoRemote()
    try remote.keys.set(.up, to: "u")
    let keys = remote.keys
    let bench = try await Bench.open { $0.keys = keys }
    _ = try await bench.perform("key key=up + text text=f", by: remote)
    #expect(await bench.messages(2) == [.key(.up), .text("f")])
    await bench.close()
  }

  /// Every parameter of the radio, and AT mode is left in the end.
  @Test func everyParameterOfTheRadioIsSetAndRead() async throws {
    let bench = try await Bench.open()
    var words: [String] = []
    for parameter in BlunoParameter.allCases {
      words.append(parameter.name)
      guard !parameter.isReadOnly else { continue }
      let text = parameter.choices?.last ?? parameter.range.map { "\($0.upperBound)" } ?? "0017EA939701"
      words.append("set-\(parameter.name) \(parameter.name)=\(text)")
      words.append(parameter.name)
    }
    let answers = try await bench.perform(words.joined(separator: " + "))
    for (word, values) in zip(words, answers) {
      #expect(word.hasPrefix("set-") ? values.isEmpty : values.count == 1 && values != [.nothing], "\(word)")
    }
    let some = try await bench.perform("power + line-speed + bind + at command=AT+VERSION=?")
    let wanted: [[CommandValue]] = [
      [.whole(-23)], [.whole(1_000_000)], [.text("0x0017ea939701")], [.text("V1.97")],
    ]
    #expect(some == wanted)
    #expect(await !bench.simulator.device.isInATMode)
    _ = try await bench.perform("restart")
    let error = await #expect(throws: AccessoryError.self) { try await bench.perform("at command=hello") }
    #expect(error?.kind == .misconfigured)
    await bench.close()
  }

  /// One that is older than 1.8 says nothing to +++, which is waited for, and doesn't know AT+EXIT.
  @Test func anOldRadioIsReadAndLeavesATMode() async throws {
    let bench = try await Bench.open(timeout: .seconds(2)) { $0.isOld = true }
    #expect(try await bench.perform("name + version") == [[.text("Bluno")], [.text("V1.97")]])
    for await event in bench.simulator.events where event == .news(.atMode(false)) { break }
    #expect(await !bench.simulator.device.isInATMode)
    await bench.close()
  }

  /// What is sent to the robot isn't for its radio.
  @Test func aMessageForTheRobotLeavesATMode() async throws {
    let bench = try await Bench.open()
    #expect(try await bench.robot.text(of: .version) == "V1.97")
    #expect(await bench.simulator.device.isInATMode)
    try await bench.robot.send(.key(.left))
    #expect(await bench.messages(1) == [.key(.left)])
    await bench.close()
  }

  /// The radio's: a strength of 0 is that of no connection.
  @Test func valuesOfTheRadioAreReadInATMode() async throws {
    let bench = try await Bench.open()
    _ = try await bench.perform("set-power power=-23")
    #expect(
      try await bench.robot.values() == [
        AccessoryValue("signal_strength", quantity: .signalStrength, unit: .decibelMilliwatt, number: nil),
        AccessoryValue(
          "transmit_power", quantity: .signalStrength, unit: .decibelMilliwatt, number: -23, importance: .setting),
      ])
    #expect(await !bench.simulator.device.isInATMode)
    await bench.close()
  }

  @Test func aRobotIsReadAsAnyAccessory() async throws {
    let bench = try await Bench.open { $0.name = "Rob" }
    let accessory: any Accessory = bench.robot
    let identity = try await accessory.identify()
    #expect(identity.name == "Rob" && identity.firmwareRevision == "V1.97" && identity.model == "Bluno")
    #expect(await !bench.simulator.device.isInATMode)
    let error = await #expect(throws: AccessoryError.self) { try await accessory.battery() }
    #expect(error?.kind == .unsupported)
    let news = accessory.news()
    await bench.simulator.stop()
    let end = await #expect(throws: AccessoryError.self) { for try await _ in news {} }
    #expect(end?.kind == .disconnected)
    await accessory.close()
  }

  /// Without a radio that answers, nothing is known of it, and the robot can be told things all the same.
  @Test func aRobotWithAMuteRadioHasNoName() async throws {
    let bench = try await Bench.open(timeout: .milliseconds(100)) { $0.isMute = true }
    #expect(try await bench.robot.identify().name == "")
    let error = await #expect(throws: AccessoryError.self) { try await bench.robot.text(of: .name) }
    #expect(error?.kind == .timedOut && error?.message.contains("AT mode") == true)
    await bench.close()
  }

  @Test func aRobotSaysItsTextAtItsInterval() async throws {
    let bench = try await Bench.open {
      $0.says = "all is well"
      $0.interval = .milliseconds(20)
    }
    var texts = bench.robot.texts().makeAsyncIterator()
    #expect(try await texts.next() == Array("all is well\n".utf8))
    #expect(try await texts.next() == Array("all is well\n".utf8))
    await bench.close()
  }
}
