// SPDX-License-Identifier: Apache-2.0

// Commands for motors. Speeds and powers are percent, −100…100; `layer` is the position of the brick in a chain of
// bricks, 0…3.

private let percent = -100...100
/// The range of the angles and times of a movement's three phases. The firmware uses signed 32-bit numbers.
private let length = 0...Int(Int32.max)

private func layer(_ layer: Int) -> EV3Argument { .checked("layer", layer, 0...3) }
private func ports(_ motors: EV3Motors) -> EV3Argument { .checked("ports", Int(motors.rawValue), 1...15) }
private func port(_ port: Int) -> EV3Argument { .checked("port", port, 0...3) }
private func brake(_ brake: Bool) -> EV3Argument { .number(brake ? 1 : 0) }

private func doing(_ opcode: UInt8, _ arguments: EV3Argument...) -> EV3Command<Void> {
  EV3Command([EV3Step(opcode, nil, arguments)]) { _ in }
}

extension EV3Command where Reply == Void {
  /// Sets the power of motors; `startMotors` starts them.
  public static func setPower(_ power: Int, of motors: EV3Motors, layer number: Int = 0) -> Self {
    doing(0xA4, layer(number), ports(motors), .checked("power", power, percent))
  }

  /// Sets the speed of motors, which the brick regulates; `startMotors` starts them.
  public static func setSpeed(_ speed: Int, of motors: EV3Motors, layer number: Int = 0) -> Self {
    doing(0xA5, layer(number), ports(motors), .checked("speed", speed, percent))
  }

  /// Starts motors.
  public static func startMotors(_ motors: EV3Motors, layer number: Int = 0) -> Self {
    doing(0xA6, layer(number), ports(motors))
  }

  /// Stops motors. With `brake` they are braked, otherwise they coast.
  public static func stopMotors(_ motors: EV3Motors, brake isBraking: Bool = false, layer number: Int = 0) -> Self {
    doing(0xA3, layer(number), ports(motors), brake(isBraking))
  }

  /// Sets the direction of positive speeds.
  public static func setPolarity(_ polarity: EV3Polarity, of motors: EV3Motors, layer number: Int = 0) -> Self {
    doing(0xA7, layer(number), ports(motors), .number(Int(polarity.rawValue)))
  }

  /// Clears the target positions of motors.
  public static func resetMotors(_ motors: EV3Motors, layer number: Int = 0) -> Self {
    doing(0xA2, layer(number), ports(motors))
  }

  /// Sets the type of the motor at output `output`, 0…3.
  public static func setMotorType(_ type: EV3DeviceType, of output: Int, layer number: Int = 0) -> Self {
    doing(0xA1, layer(number), port(output), .checked("type", Int(type.rawValue), 0...127))
  }

  /// Turns motors by `up` + `constant` + `down` degrees. They speed up during the first phase and slow down during the
  /// last.
  public static func step(
    power: Int, up: Int = 0, constant: Int, down: Int = 0, brake isBraking: Bool = false, motors: EV3Motors,
    layer number: Int = 0
  ) -> Self {
    doing(
      0xAC, layer(number), ports(motors), .checked("power", power, percent), .checked("up", up, length),
      .checked("constant", constant, length), .checked("down", down, length), brake(isBraking))
  }

  /// Turns motors by an angle like `step(power:…)`, at a speed that the brick regulates.
  public static func step(
    speed: Int, up: Int = 0, constant: Int, down: Int = 0, brake isBraking: Bool = false, motors: EV3Motors,
    layer number: Int = 0
  ) -> Self {
    doing(
      0xAE, layer(number), ports(motors), .checked("speed", speed, percent), .checked("up", up, length),
      .checked("constant", constant, length), .checked("down", down, length), brake(isBraking))
  }

  /// Turns motors for the time `up` + `constant` + `down`, in whole milliseconds. They speed up during `up` and slow
  /// down during `down`.
  public static func run(
    power: Int, up: Duration = .zero, constant: Duration, down: Duration = .zero, brake isBraking: Bool = false,
    motors: EV3Motors,
    layer number: Int = 0
  ) -> Self {
    doing(
      0xAD, layer(number), ports(motors), .checked("power", power, percent), .time("up", up, length),
      .time("constant", constant, length), .time("down", down, length), brake(isBraking))
  }

  /// Turns motors for a time like `run(power:…)`, at a speed that the brick regulates.
  public static func run(
    speed: Int, up: Duration = .zero, constant: Duration, down: Duration = .zero, brake isBraking: Bool = false,
    motors: EV3Motors,
    layer number: Int = 0
  ) -> Self {
    doing(
      0xAF, layer(number), ports(motors), .checked("speed", speed, percent), .time("up", up, length),
      .time("constant", constant, length), .time("down", down, length), brake(isBraking))
  }

  /// Turns two motors together by `degrees`. With `turn` 0 both have the same speed; at ±100 one of them stands still,
  /// at ±200 it turns backward.
  public static func stepTogether(
    speed: Int, turn: Int, degrees: Int, brake isBraking: Bool = false, motors: EV3Motors, layer number: Int = 0
  ) -> Self {
    doing(
      0xB0, layer(number), ports(motors), .checked("speed", speed, percent), .checked("turn", turn, -200...200),
      .checked("degrees", degrees, length), brake(isBraking))
  }

  /// Turns two motors together like `stepTogether`, for `duration`, in whole milliseconds, instead of an angle.
  public static func runTogether(
    speed: Int, turn: Int, duration: Duration, brake isBraking: Bool = false, motors: EV3Motors, layer number: Int = 0
  ) -> Self {
    doing(
      0xB1, layer(number), ports(motors), .checked("speed", speed, percent), .checked("turn", turn, -200...200),
      .time("time", duration, length), brake(isBraking))
  }

  /// Waits until motors have finished their movements.
  public static func motorsReady(_ motors: EV3Motors, layer number: Int = 0) -> Self {
    Self([EV3Step(0xAA, nil, layer(number), ports(motors))], isWaiting: true) { _ in }
  }

  /// Sets the counts of motors, as they are read by `motorCount`, to 0.
  public static func clearCounts(_ motors: EV3Motors, layer number: Int = 0) -> Self {
    doing(0xB2, layer(number), ports(motors))
  }

  /// Stops the movements that a program has started.
  public static var stopProgramMotors: Self { doing(0xB4) }
}

extension EV3Command where Reply == Bool {
  /// Whether one of these motors has not finished its movement.
  public static func areBusy(_ motors: EV3Motors, layer number: Int = 0) -> Self {
    Self([EV3Step(0xA9, nil, layer(number), ports(motors), .result(.int8))]) { $0.flag(0) }
  }
}

extension EV3Command where Reply == Int {
  /// The angle that the motor at output `output`, 0…3, has turned, in degrees.
  public static func motorCount(_ output: Int, layer number: Int = 0) -> Self {
    Self([EV3Step(0xB3, nil, layer(number), port(output), .result(.int32))]) { $0.number(0) }
  }
}

extension EV3Command where Reply == EV3MotorReading {
  /// The speed and the angle of the motor at output `output`, 0…3.
  public static func readMotor(_ output: Int, layer number: Int = 0) -> Self {
    Self([EV3Step(0xA8, nil, layer(number), port(output), .result(.int8), .result(.int32))]) {
      EV3MotorReading(speed: $0.number(0), tacho: $0.number(1))
    }
  }
}

extension EV3Command where Reply == EV3DeviceType {
  /// The type of the motor at output `output`, 0…3.
  public static func motorType(_ output: Int, layer number: Int = 0) -> Self {
    Self([EV3Step(0xA0, nil, layer(number), port(output), .result(.int8))]) { EV3DeviceType(rawValue: $0.byte(0)) }
  }
}
