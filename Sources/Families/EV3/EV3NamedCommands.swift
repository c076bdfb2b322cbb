// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryProtocols

// All commands of a brick by name, with their arguments and units. This file has those of the brick itself.

extension EV3NamedCommand {
  static let all: [EV3NamedCommand] = brick + buttons + sounds + motors + sensors + drawing

  static let brick: [EV3NamedCommand] = [
    EV3NamedCommand("nothing", "Does nothing, and sends a reply") { _ in .nothing },
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
      "battery-temperature", "Rise of the battery's temperature", results: [.init("rise", unit: "K")],
      { _ in .batteryTemperatureRise }, { [.number($0)] }),
    EV3NamedCommand(
      "motor-current", "Current of the motors", results: [.init("current", unit: "A")], { _ in .motorCurrent },
      { [.number($0)] }),
    EV3NamedCommand(
      "power", "Voltage and currents",
      results: [
        .init("voltage", unit: "V"), .init("current", unit: "A"), .init("internal", unit: "A"),
        .init("motors", unit: "A"),
      ], { _ in .power },
      { [.number($0.volts), .number($0.amperes), .number($0.internalAmperes), .number($0.motorAmperes)] }),
    EV3NamedCommand(
      "warnings", "Its warnings", results: [.init("warnings")], { _ in .warnings },
      { [.list($0.names.map { .text($0) })] }),
    text("firmware-version", "Version of the firmware", .firmwareVersion),
    text("firmware-build", "When the firmware was built", .firmwareBuild),
    text("hardware-version", "Version of the hardware", .hardwareVersion),
    text("os-version", "Version of the operating system", .osVersion),
    text("os-build", "When the operating system was built", .osBuild),
    text("version", "All about the versions", .version),
    text("name", "Its name", .brickName),
    EV3NamedCommand("set-name", "Sets its name", [.init("name", .text(24))]) { .setBrickName($0.text("name")) },
    EV3NamedCommand(
      "memory", "Its memory", results: [.init("total", unit: "KB"), .init("free", unit: "KB")], { _ in .memory },
      { [.whole($0.total), .whole($0.free)] }),
    EV3NamedCommand(
      "card", "The memory of its card", results: [.init("total", unit: "KB"), .init("free", unit: "KB")],
      { _ in .card }, { $0.map { [.whole($0.total), .whole($0.free)] } ?? [.nothing, .nothing] }),
    EV3NamedCommand(
      "volume", "The volume", results: [.init("volume", unit: "%")], { _ in .volume }, { [.whole($0)] }),
    EV3NamedCommand("set-volume", "Sets the volume", [.init("volume", .whole(0...100), unit: "%")]) {
      .setVolume($0.whole("volume"))
    },
    EV3NamedCommand(
      "sleep-time", "Time until it switches itself off, 0 for never", results: [.init("time", unit: "min")],
      { _ in .sleepMinutes }, { [.whole($0)] }),
    EV3NamedCommand(
      "set-sleep-time", "Sets the time until it switches itself off, 0 for never",
      [.init("time", .whole(0...120), unit: "min")]
    ) { .setSleepMinutes($0.whole("time")) },
    EV3NamedCommand(
      "keep-alive", "Restarts the time until it switches itself off",
      results: [.init("time", unit: "min")], { _ in .keepAlive }, { [.whole($0)] }),
    EV3NamedCommand(
      "led", "Lights the buttons", [.init("pattern", .choice(EV3LED.allCases.map { "\($0)" }))]
    ) { call in .setLED(EV3LED.allCases.first { "\($0)" == call.text("pattern") } ?? .off) },
    EV3NamedCommand(
      "program-start", "Starts a program", [.path, .init("debug", .flag, defaultValue: .flag(false))]
    ) { .startProgram($0.text("path"), debug: $0.flag("debug")) },
    EV3NamedCommand("program-stop", "Ends the program") { _ in .stopProgram() },
    EV3NamedCommand(
      "folders", "How many folders are in a folder", [.path], results: [.init("count")],
      { .folderCount($0.text("path")) }, { [.whole($0)] }),
    EV3NamedCommand(
      "wait", "Waits, within a batch", [.init("time", .whole(0...3_600_000), unit: "ms")]
    ) { .wait(.milliseconds($0.whole("time"))) },
  ]

  private static func text(_ name: String, _ summary: String, _ command: EV3Command<String>) -> EV3NamedCommand {
    EV3NamedCommand(name, summary, results: [.init("text")], { _ in command }, { [.text($0)] })
  }
}
