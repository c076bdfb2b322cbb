// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// Every command of a brick by name, with its arguments and units.

private typealias Argument = CommandDescription.Argument

extension CommandCall {
  fileprivate var motors: EV3Motors {
    words("ports").reduce(into: []) { $0.formUnion(.number(Self.letters.firstIndex(of: $1) ?? 0)) }
  }
  fileprivate var motor: Int { Self.letters.firstIndex(of: text("port")) ?? 0 }
  fileprivate var port: EV3Port { EV3Port.allCases.first { $0.name == text("port") } ?? .one }
  fileprivate var layer: Int { whole("layer") }
  fileprivate var button: EV3Button { EV3Button.allCases.first { "\($0)" == text("button") } ?? .any }
  fileprivate var ink: EV3Ink { text("ink") == "white" ? .white : .black }
  fileprivate func point(_ x: String = "x", _ y: String = "y") -> EV3Point { EV3Point(whole(x), whole(y)) }

  fileprivate static let letters = ["A", "B", "C", "D"]
}

private let ports = Argument("ports", .choices(CommandCall.letters))
private let motor = Argument("port", .choice(CommandCall.letters))
private let sensor = Argument("port", .choice(EV3Port.allCases.map(\.name)))
private let layer = Argument("layer", .whole(0...3), standard: .whole(0))
private let speed = Argument("speed", .whole(-100...100), unit: "%")
private let power = Argument("power", .whole(-100...100), unit: "%")
private let brake = Argument("brake", .flag, standard: .flag(false))
private let volume = Argument("volume", .whole(0...100), unit: "%", standard: .whole(50))
private let type = Argument("type", .whole(0...127), standard: .whole(0))
private let mode = Argument("mode", .whole(-1...7), standard: .whole(-1))
private let count = Argument("values", .whole(1...8), standard: .whole(1))
private let button = Argument("button", .choice(EV3Button.allCases.map { "\($0)" }))
private let ink = Argument("ink", .choice(["black", "white"]), standard: .text("black"))
private let path = Argument("path", .text(EV3Limits.path))

private func length(_ name: String, _ unit: String, isOptional: Bool = false) -> Argument {
  Argument(name, .whole(0...Int(Int32.max)), unit: unit, standard: isOptional ? .whole(0) : nil)
}

private func parts(_ unit: String) -> [Argument] {
  [length("up", unit, isOptional: true), length("constant", unit), length("down", unit, isOptional: true)]
}

private func coordinate(_ name: String) -> Argument { Argument(name, .whole(-32_767...32_767), unit: "points") }
private func extent(_ name: String) -> Argument { Argument(name, .whole(0...32_767), unit: "points") }

extension EV3NamedCommand {
  static let all: [EV3NamedCommand] = brick + buttons + sounds + motors + sensors + drawing

  private static let brick: [EV3NamedCommand] = [
    EV3NamedCommand("nothing", "Does nothing, and is answered") { _ in .nothing },
    EV3NamedCommand(
      "battery-percent", "Battery's charge", results: [.init("percent", unit: "%")], { _ in .batteryPercent },
      { [.whole($0)] }),
    EV3NamedCommand(
      "battery-voltage", "Battery's voltage", results: [.init("voltage", unit: "V")], { _ in .batteryVoltage },
      { [.number($0)] }),
    EV3NamedCommand(
      "battery-current", "Current out of the battery", results: [.init("current", unit: "A")], { _ in .batteryCurrent },
      { [.number($0)] }),
    EV3NamedCommand(
      "battery-temperature", "By how much the battery has become warmer", results: [.init("rise", unit: "K")],
      { _ in .batteryTemperatureRise }, { [.number($0)] }),
    EV3NamedCommand(
      "motor-current", "Current that the motors take", results: [.init("current", unit: "A")], { _ in .motorCurrent },
      { [.number($0)] }),
    EV3NamedCommand(
      "power", "Voltage and currents",
      results: [
        .init("voltage", unit: "V"), .init("current", unit: "A"), .init("internal", unit: "A"),
        .init("motors", unit: "A"),
      ], { _ in .power },
      { [.number($0.volts), .number($0.amperes), .number($0.internalAmperes), .number($0.motorAmperes)] }),
    EV3NamedCommand(
      "warnings", "What it warns of", results: [.init("warnings")], { _ in .warnings },
      { [.list($0.names.map { .text($0) })] }),
    text("firmware-version", "Version of the firmware", .firmwareVersion),
    text("firmware-build", "When the firmware was built", .firmwareBuild),
    text("hardware-version", "Version of the hardware", .hardwareVersion),
    text("os-version", "Version of the operating system", .osVersion),
    text("os-build", "When the operating system was built", .osBuild),
    text("version", "All about the versions", .version),
    text("name", "What its user calls it", .brickName),
    EV3NamedCommand("set-name", "Names it", [Argument("name", .text(24))]) { .setBrickName($0.text("name")) },
    EV3NamedCommand(
      "memory", "Its memory", results: [.init("total", unit: "KB"), .init("free", unit: "KB")], { _ in .memory },
      { [.whole($0.total), .whole($0.free)] }),
    EV3NamedCommand(
      "card", "The memory of its card", results: [.init("total", unit: "KB"), .init("free", unit: "KB")],
      { _ in .card }, { $0.map { [.whole($0.total), .whole($0.free)] } ?? [.nothing, .nothing] }),
    EV3NamedCommand(
      "volume", "The volume", results: [.init("volume", unit: "%")], { _ in .volume }, { [.whole($0)] }),
    EV3NamedCommand("set-volume", "Sets the volume", [Argument("volume", .whole(0...100), unit: "%")]) {
      .setVolume($0.whole("volume"))
    },
    EV3NamedCommand(
      "sleep-time", "Time until it switches itself off, 0 for never", results: [.init("time", unit: "min")],
      { _ in .sleepMinutes }, { [.whole($0)] }),
    EV3NamedCommand(
      "set-sleep-time", "Sets the time until it switches itself off, 0 for never",
      [Argument("time", .whole(0...120), unit: "min")]
    ) { .setSleepMinutes($0.whole("time")) },
    EV3NamedCommand(
      "keep-alive", "Lets the time until it switches itself off begin again",
      results: [.init("time", unit: "min")], { _ in .keepAlive }, { [.whole($0)] }),
    EV3NamedCommand(
      "led", "Lights the buttons", [Argument("pattern", .choice(EV3LED.allCases.map { "\($0)" }))]
    ) { call in .setLED(EV3LED.allCases.first { "\($0)" == call.text("pattern") } ?? .off) },
    EV3NamedCommand(
      "program-start", "Starts a program", [path, Argument("debug", .flag, standard: .flag(false))]
    ) { .startProgram($0.text("path"), debug: $0.flag("debug")) },
    EV3NamedCommand("program-stop", "Ends the program") { _ in .stopProgram() },
    EV3NamedCommand(
      "folders", "How many folders are in a folder", [path], results: [.init("count")],
      { .folderCount($0.text("path")) }, { [.whole($0)] }),
    EV3NamedCommand(
      "wait", "Waits, within a batch", [Argument("time", .whole(0...3_600_000), unit: "ms")]
    ) { .wait(milliseconds: $0.whole("time")) },
  ]

  private static func text(_ name: String, _ summary: String, _ command: EV3Command<String>) -> EV3NamedCommand {
    EV3NamedCommand(name, summary, results: [.init("text")], { _ in command }, { [.text($0)] })
  }

  private static func flag(
    _ name: String, _ summary: String, _ arguments: [CommandDescription.Argument],
    _ make: @escaping @Sendable (CommandCall) -> EV3Command<Bool>
  ) -> EV3NamedCommand {
    EV3NamedCommand(name, summary, arguments, results: [.init("is")], make, { [.flag($0)] })
  }

  private static let buttons: [EV3NamedCommand] = [
    flag("button-pressed", "Whether a button is pressed", [button]) { .isPressed($0.button) },
    flag("button-short", "Whether a button was pressed for a short time", [button]) { .wasPressedShortly($0.button) },
    flag("button-long", "Whether a button was pressed for a long time", [button]) { .wasPressedLong($0.button) },
    flag("button-bumped", "Whether a button was pressed and let go", [button]) { .wasBumped($0.button) },
    flag("button-click", "Whether any button was clicked", []) { _ in .wasClicked },
    EV3NamedCommand(
      "button-horizontal", "Presses of right and left", results: [.init("direction")], { _ in .horizontalButtons },
      { [.whole($0)] }),
    EV3NamedCommand(
      "button-vertical", "Presses of down and up", results: [.init("direction")], { _ in .verticalButtons },
      { [.whole($0)] }),
    EV3NamedCommand("button-press", "Presses a button", [button]) { .press($0.button) },
    EV3NamedCommand("button-release", "Lets a button go", [button]) { .release($0.button) },
    EV3NamedCommand("button-wait", "Waits until a button is pressed") { _ in .waitForPress },
    EV3NamedCommand("button-flush", "Forgets presses that were not asked for") { _ in .flushButtons },
    flag("back-blocked", "Whether the back button ends no program", []) { _ in .isBackButtonBlocked },
    EV3NamedCommand(
      "back-block", "Keeps the back button from ending the program", [Argument("blocked", .flag)]
    ) { .blockBackButton($0.flag("blocked")) },
  ]

  private static let sounds: [EV3NamedCommand] = [
    EV3NamedCommand(
      "tone", "Plays a tone",
      [
        volume, Argument("frequency", .whole(250...10_000), unit: "Hz"),
        Argument("duration", .whole(0...32_767), unit: "ms"),
      ]
    ) { .tone(volume: $0.whole("volume"), frequency: $0.whole("frequency"), duration: $0.whole("duration")) },
    EV3NamedCommand("play", "Plays a sound file, named without .rsf", [path, volume]) {
      .playSound($0.text("path"), volume: $0.whole("volume"))
    },
    EV3NamedCommand("play-repeat", "Plays a sound file again and again", [path, volume]) {
      .repeatSound($0.text("path"), volume: $0.whole("volume"))
    },
    EV3NamedCommand("sound-stop", "Ends what is heard") { _ in .stopSound },
    EV3NamedCommand("sound-wait", "Waits until nothing is heard") { _ in .soundReady },
    flag("sound-busy", "Whether something is heard", []) { _ in .isSounding },
  ]
}

extension EV3NamedCommand {
  fileprivate static let motors: [EV3NamedCommand] = [
    EV3NamedCommand("motor-power", "Sets the power of motors", [ports, power, layer]) {
      .setPower($0.whole("power"), of: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand("motor-speed", "Sets the speed of motors", [ports, speed, layer]) {
      .setSpeed($0.whole("speed"), of: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand("motor-start", "Sets motors going", [ports, layer]) { .startMotors($0.motors, layer: $0.layer) },
    EV3NamedCommand("motor-stop", "Stops motors", [ports, brake, layer]) {
      .stopMotors($0.motors, brake: $0.flag("brake"), layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-polarity", "Says which way positive speeds go",
      [ports, Argument("polarity", .choice(["backward", "toggle", "forward"])), layer]
    ) { call in
      let polarity = EV3Polarity.allCases.first { "\($0)" == call.text("polarity") } ?? .forward
      return .setPolarity(polarity, of: call.motors, layer: call.layer)
    },
    EV3NamedCommand("motor-reset", "Forgets where motors are going", [ports, layer]) {
      .resetMotors($0.motors, layer: $0.layer)
    },
    EV3NamedCommand("motor-step-power", "Turns motors by an angle", [ports, power] + parts("°") + [brake, layer]) {
      .step(
        power: $0.whole("power"), up: $0.whole("up"), constant: $0.whole("constant"), down: $0.whole("down"),
        brake: $0.flag("brake"), motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-step-speed", "Turns motors by an angle, at a speed that is kept",
      [ports, speed] + parts("°") + [brake, layer]
    ) {
      .step(
        speed: $0.whole("speed"), up: $0.whole("up"), constant: $0.whole("constant"), down: $0.whole("down"),
        brake: $0.flag("brake"), motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand("motor-time-power", "Turns motors for a time", [ports, power] + parts("ms") + [brake, layer]) {
      .run(
        power: $0.whole("power"), up: $0.whole("up"), constant: $0.whole("constant"), down: $0.whole("down"),
        brake: $0.flag("brake"), motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-time-speed", "Turns motors for a time, at a speed that is kept",
      [ports, speed] + parts("ms") + [brake, layer]
    ) {
      .run(
        speed: $0.whole("speed"), up: $0.whole("up"), constant: $0.whole("constant"), down: $0.whole("down"),
        brake: $0.flag("brake"), motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-step-sync", "Turns two motors together by an angle",
      [ports, speed, Argument("turn", .whole(-200...200)), length("angle", "°"), brake, layer]
    ) {
      .stepTogether(
        speed: $0.whole("speed"), turn: $0.whole("turn"), degrees: $0.whole("angle"), brake: $0.flag("brake"),
        motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-time-sync", "Turns two motors together for a time",
      [ports, speed, Argument("turn", .whole(-200...200)), length("time", "ms"), brake, layer]
    ) {
      .runTogether(
        speed: $0.whole("speed"), turn: $0.whole("turn"), milliseconds: $0.whole("time"), brake: $0.flag("brake"),
        motors: $0.motors, layer: $0.layer)
    },
    EV3NamedCommand("motor-wait", "Waits until motors have done what they were told", [ports, layer]) {
      .motorsReady($0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-busy", "Whether motors are still doing what they were told", [ports, layer], results: [.init("is")],
      { .areBusy($0.motors, layer: $0.layer) }, { [.flag($0)] }),
    EV3NamedCommand(
      "motor-read", "What a motor does", [motor, layer],
      results: [.init("speed", unit: "%"), .init("tacho", unit: "°")], { .readMotor($0.motor, layer: $0.layer) },
      { [.whole($0.speed), .whole($0.tacho)] }),
    EV3NamedCommand(
      "motor-count", "A motor's count", [motor, layer], results: [.init("count", unit: "°")],
      { .motorCount($0.motor, layer: $0.layer) }, { [.whole($0)] }),
    EV3NamedCommand("motor-clear-count", "Lets the counts of motors begin at 0", [ports, layer]) {
      .clearCounts($0.motors, layer: $0.layer)
    },
    EV3NamedCommand(
      "motor-type", "What is at a motor's port", [motor, layer], results: [.init("type")],
      { .motorType($0.motor, layer: $0.layer) }, { [.text($0.name)] }),
    EV3NamedCommand(
      "motor-set-type", "Says what is at a motor's port",
      [motor, Argument("type", .choice(["large", "medium"])), layer]
    ) { call in
      .setMotorType(call.text("type") == "large" ? .largeMotor : .mediumMotor, of: call.motor, layer: call.layer)
    },
    EV3NamedCommand("motor-stop-program", "Stops what a program let motors do") { _ in .stopProgramMotors },
  ]

  private static func values(
    _ name: String, _ summary: String,
    _ make: @escaping @Sendable (EV3Port, Int, Int, Int, Int) -> EV3Command<[Float?]>, unit: String? = nil
  ) -> EV3NamedCommand {
    EV3NamedCommand(
      name, summary, [sensor, type, mode, count, layer], results: [.init("values", unit: unit)],
      { make($0.port, $0.whole("type"), $0.whole("mode"), $0.whole("values"), $0.layer) },
      { [.list($0.map { .number($0) })] })
  }

  fileprivate static let sensors: [EV3NamedCommand] = [
    EV3NamedCommand(
      "devices", "What is at all ports", results: [.init("types")], { _ in .devices },
      { [.list($0.map { .text($0.name) })] }),
    EV3NamedCommand(
      "sensor-type", "What is at a port, and its mode", [sensor, layer],
      results: [.init("type"), .init("mode")], { .typeAndMode($0.port, layer: $0.layer) },
      { [.text($0.type.name), .whole(Int($0.mode))] }),
    EV3NamedCommand(
      "sensor-name", "What a sensor calls itself", [sensor, layer], results: [.init("text")],
      { .sensorName($0.port, layer: $0.layer) }, { [.text($0)] }),
    EV3NamedCommand(
      "sensor-mode-name", "What a mode of a sensor is called", [sensor, Argument("mode", .whole(0...7)), layer],
      results: [.init("text")], { .modeName($0.port, mode: $0.whole("mode"), layer: $0.layer) }, { [.text($0)] }),
    EV3NamedCommand(
      "sensor-unit", "The unit of what a sensor measures", [sensor, layer], results: [.init("text")],
      { .sensorUnit($0.port, layer: $0.layer) }, { [.text($0)] }),
    EV3NamedCommand(
      "sensor-raw", "A sensor's raw value", [sensor, layer], results: [.init("value")],
      { .rawValue($0.port, layer: $0.layer) }, { [$0.map { .whole($0) } ?? .nothing] }),
    EV3NamedCommand(
      "sensor-percent", "A sensor's value in percent", [sensor, type, mode, layer],
      results: [.init("value", unit: "%")],
      { .percentValue($0.port, type: $0.whole("type"), mode: $0.whole("mode"), layer: $0.layer) },
      { [$0.map { .whole($0) } ?? .nothing] }),
    EV3NamedCommand(
      "sensor-si", "A sensor's value in its unit", [sensor, type, mode, layer], results: [.init("value")],
      { .value($0.port, type: $0.whole("type"), mode: $0.whole("mode"), layer: $0.layer) }, { [.number($0)] }),
    values(
      "sensor-ready-percent", "A sensor's values in percent, when it is in its mode",
      { .readyPercent($0, type: $1, mode: $2, count: $3, layer: $4) }, unit: "%"),
    values(
      "sensor-ready-raw", "A sensor's raw values, when it is in its mode",
      { .readyRaw($0, type: $1, mode: $2, count: $3, layer: $4) }),
    values(
      "sensor-ready-si", "A sensor's values in their unit, when it is in its mode",
      { .readySI($0, type: $1, mode: $2, count: $3, layer: $4) }),
    values(
      "sensor-values-percent", "A sensor's values in percent",
      {
        .values($0, .percent, type: $1, mode: $2, count: $3, layer: $4)
      }, unit: "%"),
    values(
      "sensor-values-raw", "A sensor's raw values", { .values($0, .raw, type: $1, mode: $2, count: $3, layer: $4) }),
    values(
      "sensor-values-si", "A sensor's values in their unit",
      { .values($0, .si, type: $1, mode: $2, count: $3, layer: $4) }),
    EV3NamedCommand(
      "sensor-bounds", "What a sensor can tell", [sensor, layer],
      results: [.init("minimum"), .init("maximum")], { .bounds($0.port, layer: $0.layer) },
      { [.number($0.minimum), .number($0.maximum)] }),
    EV3NamedCommand(
      "sensor-changes", "By how much a sensor's value has changed", [sensor, layer], results: [.init("value")],
      { .changes($0.port, layer: $0.layer) }, { [.number($0)] }),
    EV3NamedCommand(
      "sensor-bumps", "How often a sensor was pressed", [sensor, layer], results: [.init("count")],
      { .bumps($0.port, layer: $0.layer) }, { [.number($0)] }),
    EV3NamedCommand(
      "sensor-busy", "Whether a sensor is being set up", [sensor, layer], results: [.init("is")],
      { .isSensorBusy($0.port, layer: $0.layer) }, { [.flag($0)] }),
    EV3NamedCommand("sensor-clear", "Lets changes and bumps of a sensor begin at 0", [sensor, layer]) {
      .clearChanges($0.port, layer: $0.layer)
    },
    EV3NamedCommand("sensor-clear-all", "Lets all that sensors count begin at 0", [layer]) {
      .clearAll(layer: $0.layer)
    },
    EV3NamedCommand("stop-all", "Stops all motors and sensors", [layer]) { .stopAll(layer: $0.layer) },
  ]

  fileprivate static let drawing: [EV3NamedCommand] = [
    EV3NamedCommand("draw-update", "Shows what was drawn") { _ in .updateDisplay },
    EV3NamedCommand("draw-clean", "Makes the display white") { _ in .cleanDisplay },
    EV3NamedCommand("draw-point", "Draws a point", [coordinate("x"), coordinate("y"), ink]) {
      .drawPoint($0.point(), $0.ink)
    },
    EV3NamedCommand(
      "draw-line", "Draws a line", [coordinate("x"), coordinate("y"), coordinate("x2"), coordinate("y2"), ink]
    ) { .drawLine(from: $0.point(), to: $0.point("x2", "y2"), $0.ink) },
    EV3NamedCommand(
      "draw-dotted-line", "Draws a line of dots",
      [coordinate("x"), coordinate("y"), coordinate("x2"), coordinate("y2"), extent("on"), extent("off"), ink]
    ) {
      .drawDottedLine(
        from: $0.point(), to: $0.point("x2", "y2"), on: $0.whole("on"), off: $0.whole("off"), $0.ink)
    },
    EV3NamedCommand(
      "draw-circle", "Draws a circle",
      [coordinate("x"), coordinate("y"), extent("radius"), Argument("filled", .flag, standard: .flag(false)), ink]
    ) { .drawCircle(around: $0.point(), radius: $0.whole("radius"), isFilled: $0.flag("filled"), $0.ink) },
    EV3NamedCommand(
      "draw-rectangle", "Draws a rectangle",
      [
        coordinate("x"), coordinate("y"), extent("width"), extent("height"),
        Argument("filled", .flag, standard: .flag(false)), ink,
      ]
    ) {
      .drawRectangle(
        at: $0.point(), width: $0.whole("width"), height: $0.whole("height"), isFilled: $0.flag("filled"), $0.ink)
    },
    EV3NamedCommand(
      "draw-invert", "Makes white black and black white",
      [coordinate("x"), coordinate("y"), extent("width"), extent("height")]
    ) { .invertRectangle(at: $0.point(), width: $0.whole("width"), height: $0.whole("height")) },
    EV3NamedCommand("draw-fill", "Fills lines of the display", [coordinate("y"), extent("height"), ink]) {
      .fillWindow(y: $0.whole("y"), height: $0.whole("height"), $0.ink)
    },
    EV3NamedCommand(
      "draw-text", "Draws a text", [coordinate("x"), coordinate("y"), Argument("text", .text(EV3Limits.path)), ink]
    ) { .drawText($0.text("text"), at: $0.point(), $0.ink) },
    EV3NamedCommand("draw-font", "Chooses the font: 0 small, 1 bold, 2 large", [Argument("font", .whole(0...2))]) {
      .selectFont($0.whole("font"))
    },
    EV3NamedCommand(
      "draw-icon", "Draws one of the firmware's icons",
      [
        coordinate("x"), coordinate("y"), Argument("type", .whole(0...127)), Argument("number", .whole(0...127)), ink,
      ]
    ) { .drawIcon(type: $0.whole("type"), number: $0.whole("number"), at: $0.point(), $0.ink) },
    EV3NamedCommand("draw-picture", "Draws a picture from a file", [coordinate("x"), coordinate("y"), path, ink]) {
      .drawPicture($0.text("path"), at: $0.point(), $0.ink)
    },
    EV3NamedCommand(
      "draw-top-line", "Shows the line with name and battery, or hides it", [Argument("shown", .flag)]
    ) { .showTopLine($0.flag("shown")) },
    EV3NamedCommand("draw-store", "Keeps what is drawn", [Argument("number", .whole(0...127))]) {
      .storeDisplay($0.whole("number"))
    },
    EV3NamedCommand("draw-restore", "Brings back what was kept", [Argument("number", .whole(0...127))]) {
      .restoreDisplay($0.whole("number"))
    },
  ]
}
