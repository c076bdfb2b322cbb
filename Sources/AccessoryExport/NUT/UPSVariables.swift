// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A variable of a UPS, with NUT's name.
package struct UPSVariable: Sendable, Hashable {
  /// NUT's name, for example "battery.charge".
  package var name: String
  package var value: String
  /// Whether it is a number rather than text.
  package var isNumber: Bool
  /// How much it matters to people.
  package var importance: Importance
}

/// The variables of an accessory with NUT's names and units: volts, amperes, percent, seconds, degrees Celsius, watts, volt-amperes,
/// hertz, ampere hours.
package struct UPSVariables: Sendable {
  /// The variables: what people look for first comes first, otherwise by name.
  package let all: [UPSVariable]

  /// The variable with this name, in small or capital letters.
  package subscript(name: String) -> UPSVariable? { all.first { $0.name == name.lowercased() } }

  /// Creates the variables of an accessory. If `isUPS` is false, `ups.status` never says what makes machines shut down. `limit` is the
  /// owner's, and `version` this program's version.
  package init(_ accessory: ExportedAccessory, isUPS: Bool, limit: LowLimit? = nil, version: String) {
    var all: [String: UPSVariable] = [:]
    func text(_ name: String, _ value: String, _ importance: Importance = .identity) {
      if !value.isEmpty { all[name] = UPSVariable(name: name, value: value, isNumber: false, importance: importance) }
    }
    func number(_ name: String, _ value: Double?, places: Int = 3, _ importance: Importance) {
      guard let value, let value = Decimal.text(value, places: places) else { return }
      all[name] = UPSVariable(name: name, value: value, isNumber: true, importance: importance)
    }
    text("device.type", "ups")
    for prefix in ["device", "ups"] {
      text(prefix + ".mfr", accessory.manufacturer)
      text(prefix + ".model", accessory.model)
      text(prefix + ".serial", accessory.serialNumber)
    }
    text("ups.firmware", accessory.identity?.firmwareRevision ?? "")
    text("device.description", accessory.device.given?.name ?? accessory.identity?.name ?? "")
    text("device.location", accessory.device.given?.area ?? "")
    text("ups.id", accessory.id)
    text("driver.name", "accessory-bridge")
    text("driver.version", version)
    text("driver.parameter.port", accessory.device.place)
    if let battery = accessory.battery {
      for term in Vocabulary.battery {
        guard let nut = term.nut else { continue }
        switch term.form {
        case .number, .list: number(nut.name, term.value(in: battery), places: nut.places, term.importance)
        case .word: text(nut.name, term.word(in: battery).flatMap { nut.words[$0] } ?? "", term.importance)
        case .names: text(nut.name, (term.names(in: battery) ?? []).joined(separator: ", "), term.importance)
        }
      }
    }
    for term in Vocabulary.roles where term.unit != nil {
      let value = accessory.values.value(term)
      number(
        term.role.rawValue, value?.number, value?.role == nil ? term.importance : value?.importance ?? term.importance)
    }
    // These are what counts, which isn't always what the accessory tells.
    let status = UPSStatus(accessory, isUPS: isUPS, limit: limit)
    text("ups.status", status.text, .headline)
    text("ups.alarm", status.alarms.joined(separator: ", "), .headline)
    all[Vocabulary.lowCharge.role.rawValue] = nil
    all[Vocabulary.lowRuntime.role.rawValue] = nil
    number(Vocabulary.lowCharge.role.rawValue, status.low.percent.map(Double.init), .setting)
    number(Vocabulary.lowRuntime.role.rawValue, status.low.seconds.map(Double.init), .setting)
    self.all = all.values.sorted { ($0.importance, $0.name) < ($1.importance, $1.name) }
  }

  /// The description of a variable, for `GET DESC`; nil for an unknown name.
  package static func summary(of name: String) -> String? { summaries[name.lowercased()] }

  /// The descriptions from the vocabulary, and those of all other variables.
  private static let summaries = [
    "device.description": "Name that the user gave the device",
    "device.location": "Where the device is, as the user says",
    "device.mfr": "Manufacturer of the device",
    "device.model": "Model of the device",
    "device.serial": "Serial number of the device",
    "device.type": "Kind of the device",
    "driver.name": "Program that the readings come from",
    "driver.parameter.port": "Where the device is connected",
    "driver.version": "Version of the program that the readings come from",
    "ups.firmware": "Version of the device's software",
    "ups.id": "Id by which Accessory Bridge knows the device",
    "ups.mfr": "Manufacturer of the device",
    "ups.model": "Model of the device",
    "ups.serial": "Serial number of the device",
    "ups.status": "Status of the UPS",
  ].merging(Vocabulary.battery.compactMap { term in term.nut.map { ($0.name, $0.summary) } }) { own, _ in own }
    .merging(Vocabulary.roles.filter { $0.unit != nil }.map { ($0.role.rawValue, $0.summary) }) { own, _ in own }
}

/// Formats numbers as decimal text without exponents.
enum Decimal {
  /// The number with at most this many decimal places. Nil if it isn't finite or is too large to be a measurement.
  static func text(_ number: Double, places: Int) -> String? {
    guard number.isFinite, abs(number) < 1e12 else { return nil }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let digits = Int64((number * scale).rounded())
    let (whole, part) = digits.magnitude.quotientAndRemainder(dividingBy: UInt64(scale))
    var text = (digits < 0 ? "-" : "") + String(whole)
    guard part > 0 else { return text }
    var fraction = String(part)
    fraction = String(repeating: "0", count: places - fraction.utf8.count) + fraction
    while fraction.hasSuffix("0") { fraction.removeLast() }
    text += "." + fraction
    return text
  }
}
