// SPDX-License-Identifier: Apache-2.0

// Commands for sensors, which include motors that are read.

extension EV3NamedCommand {
  private static let wanted: [EV3NamedParameter] = [.layer, .sensor, .type, .mode]

  /// Values in a format, which decides the type of the results: it isn't in the table.
  private static func values(
    _ name: String, _ summary: String, _ format: EV3Format, _ unit: String? = nil
  ) -> EV3NamedCommand {
    EV3NamedCommand(
      name, summary, 0x9E, nil, wanted + [.fixed(Int(format.rawValue)), .count], [.values(format.kind, unit)],
      kind: format.kind)
  }

  static let sensors: [EV3NamedCommand] = [
    EV3NamedCommand("devices", "What is at all ports", 0x98, nil, [.fixed(32)], [.types]),
    EV3NamedCommand(
      "sensor-type", "What is at a port, and its mode", 0x99, 5, [.layer, .sensor], [.type, .byte("mode")]),
    EV3NamedCommand("sensor-name", "Name of a sensor", 0x99, 21, [.layer, .sensor, .fixed(32)], [.text]),
    EV3NamedCommand(
      "sensor-mode-name", "Name of a sensor's mode", 0x99, 22,
      [.layer, .sensor, .whole("mode", 0...7), .fixed(16)], [.text]),
    EV3NamedCommand(
      "sensor-unit", "The unit of what a sensor measures", 0x99, 6, [.layer, .sensor, .fixed(8)], [.text]),
    EV3NamedCommand("sensor-raw", "A sensor's raw value", 0x99, 11, [.layer, .sensor], [.value("value")]),
    EV3NamedCommand("sensor-percent", "A sensor's value in percent", 0x9A, nil, wanted, [.value("value", "%")]),
    EV3NamedCommand("sensor-si", "A sensor's value in its unit", 0x9D, nil, wanted, [.float("value")]),
    EV3NamedCommand(
      "sensor-ready-percent", "A sensor's values in percent, when it is in its mode", 0x99, 27, wanted + [.count],
      [.values(.int8, "%")]),
    EV3NamedCommand(
      "sensor-ready-raw", "A sensor's raw values, when it is in its mode", 0x99, 28, wanted + [.count],
      [.values(.int32)]),
    EV3NamedCommand(
      "sensor-ready-si", "A sensor's values in their unit, when it is in its mode", 0x99, 29, wanted + [.count],
      [.values(.float)]),
    values("sensor-values-percent", "A sensor's values in percent", .percent, "%"),
    values("sensor-values-raw", "A sensor's raw values", .raw),
    values("sensor-values-si", "A sensor's values in their unit", .si),
    EV3NamedCommand(
      "sensor-bounds", "Smallest and largest values of a sensor", 0x99, 30, [.layer, .sensor],
      [.float("minimum"), .float("maximum")]),
    EV3NamedCommand(
      "sensor-changes", "By how much a sensor's value has changed", 0x99, 25, [.layer, .sensor], [.float("value")]),
    EV3NamedCommand("sensor-bumps", "How often a sensor was pressed", 0x99, 31, [.layer, .sensor], [.float("count")]),
    EV3NamedCommand("sensor-busy", "Whether a sensor is being set up", 0x9B, nil, [.layer, .sensor], [.flag]),
    EV3NamedCommand("sensor-clear", "Sets the changes and bumps of a sensor to 0", 0x99, 26, [.layer, .sensor]),
    EV3NamedCommand("sensor-clear-all", "Sets all counts of sensors to 0", 0x99, 10, [.layer]),
    EV3NamedCommand("stop-all", "Stops all motors and sensors", 0x99, 13, [.layer]),
  ]
}
