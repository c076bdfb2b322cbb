// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The metrics of accessories. A disconnected accessory and one with stale readings have no metrics of readings, so a scraper never
/// stores an outdated number.
package struct AccessoryMetrics {
  /// The longest label value, in bytes.
  static let labelLimit = 128

  private var families: [MetricFamily]
  private var places: [String: Int] = [:]
  private let readings: ReadingsSnapshot
  private let now: MonotonicTime
  private let wallClock: Double

  /// The metrics of a snapshot. `now` is the time on the snapshot's clock, and `wallClock` is the same moment in seconds since 1970.
  /// `version` is this program's version.
  package static func families(
    _ readings: ReadingsSnapshot, now: MonotonicTime, wallClock: Double, version: String
  ) -> [MetricFamily] {
    var metrics = AccessoryMetrics(readings, now: now, wallClock: wallClock)
    metrics.add("accessory_bridge_build", 1, [.init(name: "version", value: version)])
    for service in readings.services {
      metrics.add("accessory_service_up", service.isUp ? 1 : 0, [label("socket", service.path)])
    }
    for accessory in readings.accessories { metrics.add(accessory) }
    return metrics.families
  }

  private init(_ readings: ReadingsSnapshot, now: MonotonicTime, wallClock: Double) {
    (self.readings, self.now, self.wallClock) = (readings, now, wallClock)
    families = Self.fixed
    for (index, family) in families.enumerated() { places[family.name] = index }
  }

  private static func label(_ name: String, _ value: String) -> MetricFamily.Label {
    let bytes = SafeText.escape(value, limit: labelLimit).utf8
    var text = String(decoding: bytes.prefix(labelLimit), as: UTF8.self)
    if bytes.count > labelLimit, text.unicodeScalars.last == "\u{FFFD}" { text.unicodeScalars.removeLast() }
    return .init(name: name, value: text)
  }

  /// What the user calls it. A label without a text is the same as none, so that the series of others stay as they are.
  private static func given(_ given: GivenName?) -> [MetricFamily.Label] {
    [("given_name", given?.name), ("area", given?.area)].compactMap { name, text in text.map { label(name, $0) } }
  }

  private mutating func add(_ name: String, _ value: Double?, _ labels: [MetricFamily.Label]) {
    if let place = places[name] { families[place].add(value, labels) }
  }

  // MARK: - One accessory

  private mutating func add(_ accessory: ExportedAccessory) {
    let id = Self.label("id", accessory.id)
    let freshness = readings.freshness(of: accessory)
    add(
      "accessory", 1,
      [
        id, Self.label("name", accessory.identity?.name ?? accessory.device.name ?? ""),
        Self.label("manufacturer", accessory.manufacturer), Self.label("model", accessory.model),
        Self.label("serial", accessory.serialNumber),
        Self.label("firmware", accessory.identity?.firmwareRevision ?? ""),
        Self.label("driver", accessory.driver ?? ""), Self.label("profile", accessory.profile ?? ""),
      ] + Self.given(accessory.device.given))
    let isConnected = accessory.isConnected && readings.services.contains { $0.path == accessory.service && $0.isUp }
    add("accessory_connected", isConnected ? 1 : 0, [id])
    add("accessory_disconnects", Double(accessory.disconnectCount), [id])
    add("accessory_request_failures", Double(accessory.requestFailureCount), [id])
    add("accessory_reading_failures", Double(accessory.readingFailureCount), [id])
    var alarms: Set<String> = []
    for name in (accessory.alarms ?? []).map(\.name) {
      let label = Self.label("name", name)
      if alarms.insert(label.value).inserted { add("accessory_alarm", 1, [id, label]) }
    }
    if isConnected { add("accessory_readings_stale", freshness == .fresh ? 0 : 1, [id]) }
    if isConnected { add("accessory_readings_missing", accessory.missing == nil ? 0 : 1, [id]) }
    if accessory.isConnected, let time = accessory.readTime {
      let age = Double(max(.zero, now - time).inNanoseconds) / 1e9
      add("accessory_readings_timestamp_seconds", ((wallClock - age) * 1_000).rounded() / 1_000, [id])
    }
    guard freshness == .fresh else { return }
    if let battery = accessory.battery { add(battery, Vocabulary.battery, id) }
    if let status = accessory.status { add(status, Vocabulary.status, id) }
    for importance in Importance.allCases {
      for entry in accessory.values.entries where entry.value.importance == importance { add(entry.value, id) }
    }
  }

  /// Adds the fields of a reading that have a metric in the vocabulary.
  private mutating func add<Reading>(
    _ reading: Reading, _ terms: [ReadingTerm<Reading>], _ id: MetricFamily.Label
  ) {
    for term in terms {
      guard let metric = term.metric else { continue }
      switch metric.samples {
      case .number: add(metric.name, term.count(in: reading).map { Self.inBaseUnit($0, term.measure) }, [id])
      case .each(let name):
        var seen: Set<String> = []
        for (number, element) in zip(1..., term.elements(in: reading)) {
          let label = Self.label(name, element.name ?? String(number))
          guard seen.insert(label.value).inserted else { continue }
          add(metric.name, element.count.map { Self.inBaseUnit($0, term.measure) }, [id, label])
        }
      case .states:
        guard case .word(let words, let get, _) = term.form, let known = get(reading) else { continue }
        for word in words {
          add(metric.name, word == known ? 1 : 0, [id, MetricFamily.Label(name: "state", value: word)])
        }
      case .truth(let words): add(metric.name, term.word(in: reading).map { words.contains($0) ? 1 : 0 }, [id])
      case .count(let each, let name, _):
        guard let names = term.names(in: reading) else { continue }
        var seen: Set<String> = []
        for one in names {
          let label = Self.label(name, one)
          if seen.insert(label.value).inserted { add(each, 1, [id, label]) }
        }
        add(metric.name, Double(names.count), [id])
      }
    }
  }

  /// A count converted to the base unit of its measure; unchanged if it has no measure.
  private static func inBaseUnit(_ count: Int, _ measure: Measure?) -> Double {
    guard let measure, let factor = measure.unit?.scale?.factor else { return Double(count) }
    return MeasurementUnit.multiply(Double(count), by: measure.places == 0 ? factor : factor / 1_000)
  }

  private mutating func add(_ value: AccessoryValue, _ id: MetricFamily.Label) {
    let name = Self.label("name", value.name)
    // Names are unique but can become equal when control characters are escaped and long names are cut.
    if name.value != value.name { return }
    if value.importance <= .shown, value.content != nil {
      add("accessory_value_shown", 1, [id, name, Self.label("importance", value.importance.rawValue)])
    }
    switch value.content {
    case .number(let number):
      if let scale = value.unit?.scale {
        let quantity = Self.label("quantity", value.quantity?.rawValue ?? "")
        let family = "accessory_value_\(scale.base)"
        if places[family] == nil {
          places[family] = families.count
          families.append(
            MetricFamily(family, unit: scale.base, help: "Values that accessories measure, in \(scale.base)."))
        }
        add(family, MeasurementUnit.multiply(number, by: scale.factor), [id, name, quantity])
      } else {
        add("accessory_value", number, [id, name, Self.label("unit", value.unit?.rawValue ?? "")])
      }
    case .flag(let flag): add("accessory_value_flag", flag ? 1 : 0, [id, name])
    case .choice(let word, let number):
      add("accessory_value_choice", Double(number), [id, name, Self.label("word", word)])
    case .text, nil: break
    }
  }

  // MARK: - Families

  /// The families that don't depend on values. After them come those of values: one family for each unit.
  private static let fixed: [MetricFamily] =
    service + Vocabulary.battery.flatMap(families) + Vocabulary.status.flatMap(families) + values

  private static let service: [MetricFamily] = [
    .init("accessory_bridge_build", .info, help: "The program that exports these metrics."),
    .init("accessory_service_up", help: "Whether the service at this socket answers (1) or not (0)."),
    .init("accessory", .info, help: "What an accessory is, in labels."),
    .init("accessory_connected", help: "Whether the accessory is connected (1) or not (0)."),
    .init("accessory_disconnects", .counter, help: "How often the accessory was disconnected."),
    .init("accessory_request_failures", .counter, help: "How many requests of the service's clients have failed."),
    .init(
      "accessory_reading_failures", .counter,
      help: "How many readings failed that were asked for when the accessory was connected."),
    .init("accessory_alarm", help: "1 for each alarm of the service's rules that is raised."),
    .init("accessory_readings_stale", help: "Whether the readings are older than they should be (1) or not (0)."),
    .init(
      "accessory_readings_missing",
      help: "Whether the accessory leaves something unanswered, so that readings are missing (1) or not (0)."),
    .init(
      "accessory_readings_timestamp_seconds", unit: "seconds",
      help: "When the oldest of the regular readings was made, in seconds since 1970."),
  ]

  private static let values: [MetricFamily] = [
    .init("accessory_value", help: "Values in units that have no base unit, and without a unit."),
    .init("accessory_value_shown", help: "1 for each value of an overview; importance is headline or shown."),
    .init("accessory_value_flag", help: "Values that are yes (1) or no (0)."),
    .init("accessory_value_choice", help: "Values that are a word, with the accessory's number for it."),
  ]

  /// The families of one row of the vocabulary.
  private static func families<Reading>(_ term: ReadingTerm<Reading>) -> [MetricFamily] {
    guard let metric = term.metric else { return [] }
    let unit = term.measure?.unit?.scale?.base
    let family = MetricFamily(metric.name, unit: unit, help: metric.help)
    guard case .count(let each, _, let help) = metric.samples else { return [family] }
    return [family, MetricFamily(each, help: help)]
  }
}
