// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryProtocols

// Commands for sensors, which include motors that are read.

extension EV3NamedCommand {
  private static func values(
    _ name: String, _ summary: String,
    _ make: @escaping @Sendable (EV3Port, Int, Int, Int, Int) -> EV3Command<[Float?]>, unit: String? = nil
  ) -> EV3NamedCommand {
    EV3NamedCommand(
      name, summary, [.sensor, .type, .mode, .count, .layer], results: [.init("values", unit: unit)],
      { make($0.port, $0.whole("type"), $0.whole("mode"), $0.whole("values"), $0.layer) },
      { [.list($0.map { .number($0) })] })
  }

  static let sensors: [EV3NamedCommand] = [
    EV3NamedCommand(
      "devices", "What is at all ports", results: [.init("types")], { _ in .devices },
      { [.list($0.map { .text($0.name) })] }),
    EV3NamedCommand(
      "sensor-type", "What is at a port, and its mode", [.sensor, .layer],
      results: [.init("type"), .init("mode")], { .typeAndMode($0.port, layer: $0.layer) },
      { [.text($0.type.name), .whole(Int($0.mode))] }),
    EV3NamedCommand(
      "sensor-name", "Name of a sensor", [.sensor, .layer], results: [.init("text")],
      { .sensorName($0.port, layer: $0.layer) }, { [.text($0)] }),
    EV3NamedCommand(
      "sensor-mode-name", "Name of a sensor's mode", [.sensor, .init("mode", .whole(0...7)), .layer],
      results: [.init("text")], { .modeName($0.port, mode: $0.whole("mode"), layer: $0.layer) }, { [.text($0)] }),
    EV3NamedCommand(
      "sensor-unit", "The unit of what a sensor measures", [.sensor, .layer], results: [.init("text")],
      { .sensorUnit($0.port, layer: $0.layer) }, { [.text($0)] }),
    EV3NamedCommand(
      "sensor-raw", "A sensor's raw value", [.sensor, .layer], results: [.init("value")],
      { .rawValue($0.port, layer: $0.layer) }, { [$0.map { .whole($0) } ?? .nothing] }),
    EV3NamedCommand(
      "sensor-percent", "A sensor's value in percent", [.sensor, .type, .mode, .layer],
      results: [.init("value", unit: "%")],
      { .percentValue($0.port, type: $0.whole("type"), mode: $0.whole("mode"), layer: $0.layer) },
      { [$0.map { .whole($0) } ?? .nothing] }),
    EV3NamedCommand(
      "sensor-si", "A sensor's value in its unit", [.sensor, .type, .mode, .layer], results: [.init("value")],
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
      "sensor-bounds", "Smallest and largest values of a sensor", [.sensor, .layer],
      results: [.init("minimum"), .init("maximum")], { .bounds($0.port, layer: $0.layer) },
      { [.number($0.minimum), .number($0.maximum)] }),
    EV3NamedCommand(
      "sensor-changes", "By how much a sensor's value has changed", [.sensor, .layer], results: [.init("value")],
      { .changes($0.port, layer: $0.layer) }, { [.number($0)] }),
    EV3NamedCommand(
      "sensor-bumps", "How often a sensor was pressed", [.sensor, .layer], results: [.init("count")],
      { .bumps($0.port, layer: $0.layer) }, { [.number($0)] }),
    EV3NamedCommand(
      "sensor-busy", "Whether a sensor is being set up", [.sensor, .layer], results: [.init("is")],
      { .isSensorBusy($0.port, layer: $0.layer) }, { [.flag($0)] }),
    EV3NamedCommand("sensor-clear", "Sets the changes and bumps of a sensor to 0", [.sensor, .layer]) {
      .clearChanges($0.port, layer: $0.layer)
    },
    EV3NamedCommand("sensor-clear-all", "Sets all counts of sensors to 0", [.layer]) {
      .clearAll(layer: $0.layer)
    },
    EV3NamedCommand("stop-all", "Stops all motors and sensors", [.layer]) { .stopAll(layer: $0.layer) },
  ]
}
