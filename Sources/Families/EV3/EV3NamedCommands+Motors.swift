// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

// Commands for motors.

extension EV3NamedCommand {
  static let motors: [EV3NamedCommand] = [
    EV3NamedCommand("motor-power", "Sets the power of motors", [.ports, .power, .layer]) {
      .setPower($0.whole("power"), of: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand("motor-speed", "Sets the speed of motors", [.ports, .speed, .layer]) {
      .setSpeed($0.whole("speed"), of: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand("motor-start", "Starts motors", [.ports, .layer]) { .startMotors($0.motors, layer: $0.layer) },
    EV3NamedCommand("motor-stop", "Stops motors", [.ports, .brake, .layer]) {
      .stopMotors($0.motors, brake: $0.flag("brake"), layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-polarity", "Sets the direction of positive speeds",
      [.ports, .init("polarity", .choice(["backward", "toggle", "forward"])), .layer]
    ) { call in
      let polarity = EV3Polarity.allCases.first { "\($0)" == call.text("polarity") } ?? .forward
      return .setPolarity(polarity, of: call.motors, layer: call.layer)
    },
    EV3NamedCommand("motor-reset", "Clears the target positions of motors", [.ports, .layer]) {
      .resetMotors($0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-step-power", "Turns motors by an angle",
      [.ports, .power] + CommandDescription.Argument.parts("°") + [.brake, .layer]
    ) {
      .step(
        power: $0.whole("power"), up: $0.whole("up"), constant: $0.whole("constant"), down: $0.whole("down"),
        brake: $0.flag("brake"), motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-step-speed", "Turns motors by an angle, at a speed that is kept",
      [.ports, .speed] + CommandDescription.Argument.parts("°") + [.brake, .layer]
    ) {
      .step(
        speed: $0.whole("speed"), up: $0.whole("up"), constant: $0.whole("constant"), down: $0.whole("down"),
        brake: $0.flag("brake"), motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-time-power", "Turns motors for a time",
      [.ports, .power] + CommandDescription.Argument.parts("ms") + [.brake, .layer]
    ) {
      .run(
        power: $0.whole("power"), up: .milliseconds($0.whole("up")), constant: .milliseconds($0.whole("constant")),
        down: .milliseconds($0.whole("down")),
        brake: $0.flag("brake"), motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-time-speed", "Turns motors for a time, at a speed that is kept",
      [.ports, .speed] + CommandDescription.Argument.parts("ms") + [.brake, .layer]
    ) {
      .run(
        speed: $0.whole("speed"), up: .milliseconds($0.whole("up")), constant: .milliseconds($0.whole("constant")),
        down: .milliseconds($0.whole("down")),
        brake: $0.flag("brake"), motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-step-sync", "Turns two motors together by an angle",
      [.ports, .speed, .init("turn", .whole(-200...200)), .length("angle", "°"), .brake, .layer]
    ) {
      .stepTogether(
        speed: $0.whole("speed"), turn: $0.whole("turn"), degrees: $0.whole("angle"), brake: $0.flag("brake"),
        motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-time-sync", "Turns two motors together for a time",
      [.ports, .speed, .init("turn", .whole(-200...200)), .length("time", "ms"), .brake, .layer]
    ) {
      .runTogether(
        speed: $0.whole("speed"), turn: $0.whole("turn"), duration: .milliseconds($0.whole("time")),
        brake: $0.flag("brake"),
        motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand("motor-wait", "Waits until motors have finished their commands", [.ports, .layer]) {
      .motorsReady($0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-busy", "Whether motors are still busy with a command", [.ports, .layer], results: [.init("is")],
      { .areBusy($0.motors, layer: $0.layer) }, { [.flag($0)] }),
    EV3NamedCommand(
      "motor-read", "Speed and count of a motor", [.motor, .layer],
      results: [.init("speed", unit: "%"), .init("tacho", unit: "°")], { .readMotor($0.motor, layer: $0.layer) },
      { [.whole($0.speed), .whole($0.tacho)] }),
    EV3NamedCommand(
      "motor-count", "A motor's count", [.motor, .layer], results: [.init("count", unit: "°")],
      { .motorCount($0.motor, layer: $0.layer) }, { [.whole($0)] }),
    EV3NamedCommand("motor-clear-count", "Sets the counts of motors to 0", [.ports, .layer]) {
      .clearCounts($0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-type", "What is at a motor's port", [.motor, .layer], results: [.init("type")],
      { .motorType($0.motor, layer: $0.layer) }, { [.text($0.name)] }),
    EV3NamedCommand(
      "motor-set-type", "Sets what is at a motor's port",
      [.motor, .init("type", .choice(["large", "medium"])), .layer]
    ) { call in
      .setMotorType(call.text("type") == "large" ? .largeMotor : .mediumMotor, of: call.motor, layer: call.layer)
    },
    EV3NamedCommand("motor-stop-program", "Stops the motors of a program") { _ in .stopProgramMotors },
  ]
}
