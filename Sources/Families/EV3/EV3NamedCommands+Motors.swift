// SPDX-License-Identifier: Apache-2.0

// Commands for motors.

extension EV3NamedCommand {
  private static let motorTypes = EV3NamedParameter.choice(
    "type", ["large": Int(EV3DeviceType.largeMotor.rawValue), "medium": Int(EV3DeviceType.mediumMotor.rawValue)])

  static let motors: [EV3NamedCommand] = [
    EV3NamedCommand("motor-power", "Sets the power of motors", 0xA4, nil, [.layer, .ports, .power]),
    EV3NamedCommand("motor-speed", "Sets the speed of motors", 0xA5, nil, [.layer, .ports, .speed]),
    EV3NamedCommand("motor-start", "Starts motors", 0xA6, nil, [.layer, .ports]),
    EV3NamedCommand("motor-stop", "Stops motors", 0xA3, nil, [.layer, .ports, .brake]),
    EV3NamedCommand(
      "motor-polarity", "Sets the direction of positive speeds", 0xA7, nil,
      [.layer, .ports, .choice("polarity", EV3Polarity.self)]),
    EV3NamedCommand("motor-reset", "Clears the target positions of motors", 0xA2, nil, [.layer, .ports]),
    EV3NamedCommand(
      "motor-step-power", "Turns motors by an angle", 0xAC, nil,
      [.layer, .ports, .power] + EV3NamedParameter.parts("°") + [.brake]),
    EV3NamedCommand(
      "motor-step-speed", "Turns motors by an angle, at a speed that is kept", 0xAE, nil,
      [.layer, .ports, .speed] + EV3NamedParameter.parts("°") + [.brake]),
    EV3NamedCommand(
      "motor-time-power", "Turns motors for a time", 0xAD, nil,
      [.layer, .ports, .power] + EV3NamedParameter.parts("ms") + [.brake]),
    EV3NamedCommand(
      "motor-time-speed", "Turns motors for a time, at a speed that is kept", 0xAF, nil,
      [.layer, .ports, .speed] + EV3NamedParameter.parts("ms") + [.brake]),
    EV3NamedCommand(
      "motor-step-sync", "Turns two motors together by an angle", 0xB0, nil,
      [.layer, .ports, .speed, .turn, .length("angle", "°"), .brake]),
    EV3NamedCommand(
      "motor-time-sync", "Turns two motors together for a time", 0xB1, nil,
      [.layer, .ports, .speed, .turn, .length("time", "ms"), .brake]),
    EV3NamedCommand(
      "motor-wait", "Waits until motors have finished their commands", 0xAA, nil, [.layer, .ports], isWaiting: true),
    EV3NamedCommand(
      "motor-busy", "Whether motors are still busy with a command", 0xA9, nil, [.layer, .ports], [.flag]),
    EV3NamedCommand(
      "motor-read", "Speed and count of a motor", 0xA8, nil, [.layer, .motor],
      [.whole("speed", "%"), .whole("tacho", "°")]),
    EV3NamedCommand("motor-count", "A motor's count", 0xB3, nil, [.layer, .motor], [.whole("count", "°")]),
    EV3NamedCommand("motor-clear-count", "Sets the counts of motors to 0", 0xB2, nil, [.layer, .ports]),
    EV3NamedCommand("motor-type", "What is at a motor's port", 0xA0, nil, [.layer, .motor], [.type]),
    EV3NamedCommand("motor-set-type", "Sets what is at a motor's port", 0xA1, nil, [.layer, .motor, motorTypes]),
    EV3NamedCommand("motor-stop-program", "Stops the motors of a program", 0xB4),
  ]
}
