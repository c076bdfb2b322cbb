// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

// All commands of a brick by name. Each is a row: its name, what it does, its instruction in `EV3Operation`'s table, what the caller
// gives in the instruction's order, and the results with their units. This file has those of the brick itself.

extension EV3NamedCommand {
  static let all: [EV3NamedCommand] = brick + buttons + sounds + motors + sensors + drawing

  private static let memory: [EV3NamedResult] = [.whole("total", "KB"), .whole("free", "KB")]

  static let brick: [EV3NamedCommand] = [
    EV3NamedCommand("nothing", "Does nothing, and sends a reply", 0x01),
    EV3NamedCommand("battery-percent", "Battery's charge", 0x81, 18, [], [.whole("percent", "%")]),
    EV3NamedCommand("battery-voltage", "Battery's voltage", 0x81, 1, [], [.float("voltage", "V")]),
    EV3NamedCommand("battery-current", "Current out of the battery", 0x81, 2, [], [.float("current", "A")]),
    EV3NamedCommand("battery-temperature", "Rise of the battery's temperature", 0x81, 5, [], [.float("rise", "K")]),
    EV3NamedCommand("motor-current", "Current of the motors", 0x81, 7, [], [.float("current", "A")]),
    EV3NamedCommand(
      "power", "Voltage and currents", 0x81, 29, [],
      [.float("voltage", "V"), .float("current", "A"), .float("internal", "A"), .float("motors", "A")]),
    EV3NamedCommand("warnings", "Its warnings", 0x81, 17, [], [.warnings]),
    EV3NamedCommand("firmware-version", "Version of the firmware", 0x81, 10, [.fixed(16)], [.text]),
    EV3NamedCommand("firmware-build", "When the firmware was built", 0x81, 11, [.fixed(16)], [.text]),
    EV3NamedCommand("hardware-version", "Version of the hardware", 0x81, 9, [.fixed(16)], [.text]),
    EV3NamedCommand("os-version", "Version of the operating system", 0x81, 3, [.fixed(16)], [.text]),
    EV3NamedCommand("os-build", "When the operating system was built", 0x81, 12, [.fixed(16)], [.text]),
    EV3NamedCommand("version", "All about the versions", 0x81, 26, [.fixed(64)], [.text]),
    EV3NamedCommand("name", "Its name", 0xD3, 13, [.fixed(32)], [.text]),
    EV3NamedCommand("set-name", "Sets its name", 0xD4, 8, [.text("name", 24)]),
    EV3NamedCommand("memory", "Its memory", 0xC5, nil, [], memory),
    EV3NamedCommand(
      "card", "The memory of its card", [], results: memory.map(\.description), { _ in EV3Command<EV3Memory?>.card },
      { $0.map { [.whole($0.total), .whole($0.free)] } ?? [.nothing, .nothing] }),
    EV3NamedCommand("volume", "The volume", 0x7C, 4, [], [.whole("volume", "%")]),
    EV3NamedCommand("set-volume", "Sets the volume", 0x7C, 5, [.whole("volume", 0...100, "%")]),
    EV3NamedCommand(
      "sleep-time", "Time until it switches itself off, 0 for never", 0x7C, 6, [], [.byte("time", "min")]),
    EV3NamedCommand(
      "set-sleep-time", "Sets the time until it switches itself off, 0 for never", 0x7C, 7,
      [.whole("time", 0...120, "min")]),
    EV3NamedCommand(
      "keep-alive", "Restarts the time until it switches itself off", 0x90, nil, [], [.byte("time", "min")]),
    EV3NamedCommand("led", "Lights the buttons", 0x82, 27, [.choice("pattern", EV3LED.self)]),
    EV3NamedCommand(
      "program-start", "Starts a program",
      [.init("path", .text(EV3Limits.path)), .init("debug", .flag, defaultValue: .flag(false))],
      { EV3Command.startProgram($0.text("path"), debug: $0.flag("debug")) }),
    EV3NamedCommand("program-stop", "Ends the program", 0x02, nil, [.fixed(Int(EV3Slot.user.rawValue))]),
    EV3NamedCommand("folders", "How many folders are in a folder", 0xC0, 13, [.path], [.byte("count")]),
    EV3NamedCommand(
      "wait", "Waits, within a batch", [.init("time", .whole(0...3_600_000), unit: "ms")],
      { EV3Command.wait(.milliseconds($0.whole("time"))) }),
  ]
}
