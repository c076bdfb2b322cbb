// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols
import FamilyEV3
import TestSupport
import Testing

@testable import AccessorySimulator

/// Every command of a brick by its name, against a pretended one.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct EV3NamedCommandTests {
  /// A line as it is typed, and what comes back.
  struct Line: Sendable {
    var words: String
    var values: [CommandValue] = []
  }

  /// In this order, on a brick that was just switched on, whose clock stands still.
  static let lines = [
    Line(words: "nothing"),
    Line(words: "battery-percent", values: [.whole(50)]),
    Line(words: "battery-voltage", values: [.number(6.85)]),
    Line(words: "battery-current", values: [.number(0.18)]),
    Line(words: "battery-temperature", values: [.number(0)]),
    Line(words: "motor-current", values: [.number(0)]),
    Line(words: "power", values: [.number(6.85), .number(0.18), .number(0.18), .number(0)]),
    Line(words: "warnings", values: [.list([.text("temperature"), .text("battery-low")])]),
    Line(words: "firmware-version", values: [.text("V1.09H")]),
    Line(words: "firmware-build", values: [.text("1512030906")]),
    Line(words: "hardware-version", values: [.text("V0.60")]),
    Line(words: "os-version", values: [.text("Linux 2.6.33-rc")]),
    Line(words: "os-build", values: [.text("1512030906")]),
    Line(words: "version", values: [.text("LMS2012 V1.09H(Linux 2.6.33-rc4)")]),
    Line(words: "set-name name=Hugo"),
    Line(words: "name", values: [.text("Hugo")]),
    Line(words: "memory", values: [.whole(16_384), .whole(8_192)]),
    Line(words: "card", values: [.nothing, .nothing]),
    Line(words: "set-volume volume=30"),
    Line(words: "volume", values: [.whole(30)]),
    Line(words: "set-sleep-time time=10"),
    Line(words: "sleep-time", values: [.whole(10)]),
    Line(words: "keep-alive", values: [.whole(10)]),
    Line(words: "led pattern=redFlash"),
    Line(words: "program-start path=../apps/tst/tst.rbf"),
    Line(words: "program-stop"),
    Line(words: "folders path=..", values: [.whole(4)]),
    Line(words: "wait time=0"),
    Line(words: "button-press button=left"),
    Line(words: "button-pressed button=left", values: [.flag(true)]),
    Line(words: "button-pressed button=up", values: [.flag(false)]),
    Line(words: "button-pressed button=any", values: [.flag(true)]),
    Line(words: "button-horizontal", values: [.whole(-1)]),
    Line(words: "button-vertical", values: [.whole(0)]),
    Line(words: "button-wait"),
    Line(words: "button-release button=left"),
    Line(words: "button-bumped button=left", values: [.flag(true)]),
    Line(words: "button-short button=left", values: [.flag(false)]),
    Line(words: "button-long button=left", values: [.flag(false)]),
    Line(words: "button-press button=up + button-release button=up + button-click", values: [.flag(true)]),
    Line(words: "button-flush"),
    Line(words: "back-block blocked=yes"),
    Line(words: "back-blocked", values: [.flag(true)]),
    Line(words: "tone volume=10 frequency=440 duration=100"),
    Line(words: "sound-busy", values: [.flag(true)]),
    Line(words: "play path=./ui/DownloadSucces volume=100"),
    Line(words: "play-repeat path=./ui/Click"),
    Line(words: "sound-stop"),
    Line(words: "sound-wait"),
    Line(words: "motor-set-type port=d type=medium"),
    Line(words: "motor-type port=D", values: [.text("medium motor")]),
    Line(words: "motor-speed ports=A,B speed=-50 + motor-start ports=A,B"),
    Line(words: "motor-read port=A", values: [.whole(-50), .whole(0)]),
    Line(words: "motor-stop ports=A,B brake=yes"),
    Line(words: "motor-power ports=C power=20"),
    Line(words: "motor-polarity ports=C polarity=backward + motor-start ports=C"),
    Line(words: "motor-read port=C", values: [.whole(20), .whole(0)]),
    Line(words: "motor-busy ports=A,B,C,D", values: [.flag(false)]),
    Line(words: "motor-step-power ports=A power=50 constant=90"),
    Line(words: "motor-step-speed ports=A speed=50 up=10 constant=90 down=10 brake=yes"),
    Line(words: "motor-busy ports=A", values: [.flag(true)]),
    Line(words: "motor-time-power ports=A power=50 constant=100"),
    Line(words: "motor-time-speed ports=A speed=50 up=10 constant=100 down=10"),
    Line(words: "motor-step-sync ports=A,B speed=50 turn=100 angle=90"),
    Line(words: "motor-time-sync ports=A,B speed=50 turn=-200 time=100"),
    Line(words: "motor-reset ports=A,B,C,D"),
    Line(words: "motor-wait ports=A,B,C,D"),
    Line(words: "motor-count port=A", values: [.whole(0)]),
    Line(words: "motor-clear-count ports=A"),
    Line(words: "motor-stop-program"),
    Line(
      words: "devices",
      values: [
        .list(
          (0..<32).map { index in
            .text(
              [
                0: "touch", 2: "colour", 3: "ultrasonic", 16: "large motor", 17: "large motor", 18: "medium motor",
                19: "medium motor",
              ][index] ?? "none")
          })
      ]),
    Line(words: "sensor-type port=4", values: [.text("ultrasonic"), .whole(0)]),
    Line(words: "sensor-type port=2", values: [.text("none"), .whole(0)]),
    Line(words: "sensor-type port=A", values: [.text("large motor"), .whole(0)]),
    Line(words: "sensor-name port=4", values: [.text("US-DIST-CM")]),
    Line(words: "sensor-mode-name port=4 mode=1", values: [.text("US-DIST-IN")]),
    Line(words: "sensor-unit port=4", values: [.text("cm")]),
    Line(words: "sensor-raw port=4", values: [.whole(50)]),
    Line(words: "sensor-raw port=2", values: [.nothing]),
    Line(words: "sensor-percent port=3", values: [.whole(12)]),
    Line(words: "sensor-percent port=2", values: [.nothing]),
    Line(words: "sensor-si port=4 mode=1", values: [.number(50)]),
    Line(words: "sensor-type port=4", values: [.text("ultrasonic"), .whole(1)]),
    Line(words: "sensor-si port=2", values: [.nothing]),
    Line(words: "sensor-ready-percent port=3 values=2", values: [.list([.number(12), .nothing])]),
    Line(words: "sensor-ready-raw port=4", values: [.list([.number(50)])]),
    Line(words: "sensor-ready-si port=4 type=30 mode=0", values: [.list([.number(50)])]),
    Line(words: "sensor-values-percent port=3", values: [.list([.number(12)])]),
    Line(words: "sensor-values-raw port=4", values: [.list([.number(50)])]),
    Line(words: "sensor-values-si port=4", values: [.list([.number(50)])]),
    Line(words: "sensor-bounds port=4", values: [.number(0), .number(255)]),
    Line(words: "sensor-changes port=4", values: [.number(50)]),
    Line(words: "sensor-clear port=4"),
    Line(words: "sensor-changes port=4", values: [.number(0)]),
    Line(words: "sensor-clear-all"),
    Line(words: "sensor-bumps port=1", values: [.number(0)]),
    Line(words: "sensor-busy port=1", values: [.flag(false)]),
    Line(words: "stop-all"),
    Line(words: "draw-clean"),
    Line(words: "draw-point x=1 y=2"),
    Line(words: "draw-line x=0 y=0 x2=177 y2=127 ink=white"),
    Line(words: "draw-dotted-line x=0 y=0 x2=177 y2=127 on=2 off=3"),
    Line(words: "draw-circle x=50 y=50 radius=20"),
    Line(words: "draw-circle x=50 y=50 radius=20 filled=yes"),
    Line(words: "draw-rectangle x=1 y=2 width=30 height=40"),
    Line(words: "draw-rectangle x=1 y=2 width=30 height=40 filled=yes"),
    Line(words: "draw-invert x=1 y=2 width=30 height=40"),
    Line(words: "draw-fill y=10 height=20"),
    Line(words: "draw-font font=2"),
    Line(words: "draw-text x=5 y=6 text=hi"),
    Line(words: "draw-icon x=5 y=6 type=1 number=3"),
    Line(words: "draw-picture x=0 y=0 path=ui/mindstorms.rgf"),
    Line(words: "draw-top-line shown=no"),
    Line(words: "draw-store number=1"),
    Line(words: "draw-restore number=1"),
    Line(words: "draw-update"),
  ]

  /// What is drawn by these lines, as the firmware would see it.
  private static let drawings = [
    "CLEAN", "PIXEL 1 1 2", "LINE 0 0 0 177 127", "DOTLINE 1 0 0 177 127 2 3", "CIRCLE 1 50 50 20",
    "FILLCIRCLE 1 50 50 20", "RECT 1 1 2 30 40", "FILLRECT 1 1 2 30 40", "INVERSERECT 1 2 30 40",
    "FILLWINDOW 1 10 20", "SELECT_FONT 2", "TEXT 1 5 6 hi", "ICON 1 5 6 1 3", "BMPFILE 1 0 0 ui/mindstorms.rgf",
    "TOPLINE 0", "STORE 1", "RESTORE 1", "UPDATE",
  ]

  private static func text(_ instruction: EV3Instruction) -> String {
    let parameters = instruction.parameters.map { parameter in
      switch parameter.value {
      case .constant(let number): " \(number)"
      case .text(let bytes): " " + String(decoding: bytes, as: UTF8.self)
      default: " ?"
      }
    }
    return instruction.operation.name.replacing("UI_DRAW ", with: "") + parameters.joined()
  }

  @Test(arguments: EV3Bench.Way.allCases) func everyNamedCommandOfABrickIsPerformed(way: EV3Bench.Way) async throws {
    let clock = ManualClock()
    let bench = try await EV3Bench.open(way, clock: clock) {
      $0.device.percent = 50
      $0.device.warnings = [.temperature, .batteryLow]
    }
    await bench.simulator.put([1], at: "../apps/tst/tst.rbf")
    var done: Set<String> = []
    for line in Self.lines {
      let calls = try CommandCall.read(line.words.split(separator: " ").map(String.init), of: EV3Brick.commands)
      let replies = try await bench.brick.perform(calls, isAnswered: true)
      #expect(replies.flatMap(\.values) == line.values, "\(line.words)")
      for (call, reply) in zip(calls, replies) {
        done.insert(call.command.name)
        #expect(reply.values.count == call.command.results.count, "\(line.words)")
      }
    }
    #expect(done == Set(EV3Brick.commands.map(\.name)), "all there are")
    let device = await bench.simulator.device
    #expect(device.led == .redFlash)
    #expect(device.program == nil)
    #expect(
      device.sounds == [
        .tone(volume: 10, frequency: 440, duration: .milliseconds(100)),
        .file("./ui/DownloadSucces", volume: 100, isRepeated: false),
        .file("./ui/Click", volume: 50, isRepeated: true), .stop,
      ])
    #expect(device.drawings.map(Self.text) == Self.drawings)
    await bench.close()
  }

  // MARK: - Time

  @Test func motorsTurnAsTimePasses() async throws {
    let clock = ManualClock()
    let bench = try await EV3Bench.open(clock: clock)
    let brick = bench.brick
    try await brick.ask(.setSpeed(-50, of: [.a, .b]))
    try await brick.ask(.startMotors([.a, .b]))
    clock.advance(by: .seconds(2))
    #expect(try await brick.ask(.motorCount(0)) == -1_000)
    #expect(try await brick.ask(.readMotor(1)) == EV3MotorReading(speed: -50, tacho: -1_000))
    #expect(try await brick.ask(.motorCount(2)) == 0)
    try await brick.ask(.clearCounts(.a))
    try await brick.ask(.stopMotors([.a, .b]))
    clock.advance(by: .seconds(1))
    #expect(try await brick.ask(.motorCount(0)) == 0)
    #expect(try await brick.ask(.motorCount(1)) == -1_000)
    #expect(try await brick.ask(.readySI(.b)) == [-1_000], "a motor is a sensor, too")
    // Ninety degrees at half speed, with fifteen at each end: 0.06, 0.12 and 0.06 seconds.
    try await brick.ask(.step(speed: 50, up: 15, constant: 60, down: 15, motors: .a))
    clock.advance(by: .milliseconds(120))
    #expect(try await brick.ask(.motorCount(0)) == 45)
    #expect(try await brick.ask(.areBusy(.a)))
    clock.advance(by: .milliseconds(120))
    #expect(try await brick.ask(.motorCount(0)) == 90)
    #expect(try await !brick.ask(.areBusy(.a)))
    // The other way.
    try await brick.ask(.setPolarity(.backward, of: .a))
    try await brick.ask(.run(power: 100, constant: .milliseconds(100), motors: .a))
    clock.advance(by: .seconds(1))
    #expect(try await brick.ask(.motorCount(0)) == -10)
    await bench.close()
  }

  @Test func aReplyWaitsForMotors() async throws {
    let clock = ManualClock()
    let bench = try await EV3Bench.open(clock: clock)
    var batch = EV3Batch()
    try batch.add(.run(speed: 100, constant: .milliseconds(500), motors: .a))
    try batch.add(.motorsReady(.a))
    let count = try batch.add(.motorCount(0))
    let waiting = batch
    let reply = Task { try await bench.brick.send(waiting)[count] }
    try await clock.waitForPending()
    clock.advance(by: .milliseconds(499))
    #expect(await bench.simulator.device.runs == 0)
    clock.advance(by: .milliseconds(1))
    #expect(try await reply.value == 500)
    await bench.close()
  }

  @Test func aReplyWaitsForAButton() async throws {
    let bench = try await EV3Bench.open()
    let pressed = Task {
      var batch = EV3Batch()
      try batch.add(.waitForPress)
      let which = try batch.add(.isPressed(.down))
      return try await bench.brick.send(batch)[which]
    }
    // It has arrived when it has been read before this, on the same link.
    try await eventually("the question") { await bench.simulator.messageCount >= 2 }
    await bench.simulator.press(.down)
    #expect(try await pressed.value)
    await bench.close()
  }

  @Test func aBricksBatteryDrainsWithTime() async throws {
    let clock = ManualClock()
    let bench = try await EV3Bench.open(clock: clock) { $0.device.drain = 2 }
    #expect(try await bench.brick.battery().percent == 100)
    clock.advance(by: .seconds(10))
    #expect(try await bench.brick.battery() == BatteryReading(percent: 80, millivolts: 7_240, milliamperes: -180))
    clock.advance(by: .seconds(100))
    #expect(try await bench.brick.battery().percent == 0)
    await bench.close()
  }

  // MARK: - What can't be

  @Test func aBrickRefusesWhatItCannotDo() async throws {
    let bench = try await EV3Bench.open()
    let refused: [EV3Command<Void>] = [
      .error, .startProgram("../apps/none/none.rbf"), .startMotors(.a, layer: 1),
      .stepTogether(speed: 10, turn: 0, degrees: 10, motors: .a),
    ]
    for command in refused {
      let error = await #expect(throws: AccessoryError.self) { try await bench.brick.ask(command) }
      #expect(error?.kind == .refused)
    }
    let wrongSensor = await #expect(throws: AccessoryError.self) {
      try await bench.brick.ask(.readySI(.four, type: 16, mode: 0))
    }
    #expect(wrongSensor?.kind == .refused)
    let misaligned = try EV3DirectCommand(globalByteCount: 8, [EV3Instruction(.known(0x81, 1)!, [.global(2)])])
    let request = EV3Request(misaligned, wantsReply: true)
    let error = await #expect(throws: AccessoryError.self) { try await bench.brick.link.request(request) }
    #expect(error?.kind == .refused, "a result that isn't aligned")
    let tooMuch = await #expect(throws: AccessoryError.self) { try await bench.brick.tell(.setSpeed(101, of: .a)) }
    #expect(tooMuch?.kind == .misconfigured)
    let many = try CommandCall.read(
      Array(repeating: "version", count: 40).flatMap { [$0, "+"] }.dropLast(), of: EV3Brick.commands)
    let long = await #expect(throws: AccessoryError.self) { try await bench.brick.perform(many, isAnswered: true) }
    #expect(long?.kind == .misconfigured)
    #expect(try await bench.brick.ask(.batteryPercent) == 100, "and goes on")
    await bench.close()
  }

  @Test func commandsWithoutAnswerAreStillPerformed() async throws {
    let bench = try await EV3Bench.open()
    let calls = try CommandCall.read(["led", "pattern=off", "+", "battery-percent"], of: EV3Brick.commands)
    let replies = try await bench.brick.perform(calls, isAnswered: false)
    #expect(replies.map(\.values) == [[], []])
    _ = try await bench.brick.ask(.nothing)
    #expect(await bench.simulator.device.led == .off)
    await bench.close()
  }

  /// A mailbox has no reply; nor has the command to take new firmware.
  @Test func mailIsWrittenWithoutAReply() async throws {
    let bench = try await EV3Bench.open()
    #expect(try await bench.brick.system(.writeMailbox(name: "abc", payload: [1, 2, 3])) == nil)
    _ = try await bench.brick.ask(.nothing)
    let mail = await bench.simulator.device.mail
    #expect(mail.map(\.name) == ["abc"] && mail.map(\.payload) == [[1, 2, 3]])
    #expect(try await bench.brick.system(.setBundleID("com.lego.lms"))?.status == .success)
    await bench.close()
  }
}
