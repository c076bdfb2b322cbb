// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// One accessory in `top`: its state from a mirror of services or from a broker. Everything that the screen shows is computed from
/// that.
@dynamicMemberLookup
package struct TopRow: Sendable, Hashable {
  /// How urgently the accessory needs attention.
  package enum Severity: Int, Sendable, Hashable, Comparable {
    case none, warning, alarm

    package static func < (a: Severity, b: Severity) -> Bool { a.rawValue < b.rawValue }
  }

  /// Whether the accessory can be reached.
  package enum Reach: Sendable, Hashable {
    case attached
    /// It is being opened or retried.
    case trying
    /// It is unplugged, the service has given it up, or its service or gateway can't be reached.
    case away
  }

  /// The accessory's number in its feed. Not shown.
  package let key: UInt64
  /// Its identity, escaped. It stays the same, whatever the user calls the accessory.
  package let name: String
  /// The accessory's state. The times of its readings are on the screen's clock.
  package var accessory: MirroredAccessory
  /// The gateway of an accessory in a fleet.
  package var gateway: String?
  /// Whether its service or its gateway can be reached.
  package var isServed = true
  /// Whether its values are known; false until they have been requested.
  package var hasValues = true

  /// A row of an accessory of a fleet. `name` is escaped here.
  package init(key: UInt64, name: String, _ accessory: MirroredAccessory) {
    (self.key, self.name, self.accessory) = (key, SafeText.escape(name, limit: 64), accessory)
  }

  /// A row of a service's accessory.
  package init(_ accessory: MirroredAccessory, isServed: Bool) {
    self.init(key: accessory.id, name: accessory.device.id, accessory)
    self.isServed = isServed
    // What was read last of an accessory that is gone is shown as old.
    if !accessory.isConnected, let last = accessory.last {
      (self.accessory.battery, self.accessory.status) = (last.battery, last.status)
      self.accessory.values = ValuesReading(last.values?.map(\.value) ?? [], at: accessory.readTime ?? .now)
    }
    guard !accessory.ownAlarms.isEmpty else { return }
    let its = accessory.alarms ?? []
    // A rule of the service may say the same.
    self.alarms = its + accessory.ownAlarms.filter { !its.map(Alarm.init).contains(Alarm($0)) }
  }

  /// What to call it: the name that the user gave it, otherwise its identity. Escaped.
  package var title: String { accessory.device.given?.name.map { SafeText.escape($0, limit: 64) } ?? name }

  /// Where it is, as the user says, escaped; nil where nobody has said.
  package var area: String? { accessory.device.given?.area.map { SafeText.escape($0, limit: 64) } }

  /// "gone, last there 3 hours ago"; nil for an accessory that is there. `wallClock` is in seconds since 1970.
  package func lastThere(wallClock: Double = WallClock.seconds) -> String? {
    accessory.isConnected ? nil : accessory.record.flatMap { HeldView.lastThere($0, now: wallClock) }
  }

  package subscript<Value>(dynamicMember path: WritableKeyPath<MirroredAccessory, Value>) -> Value {
    get { accessory[keyPath: path] }
    set { accessory[keyPath: path] = newValue }
  }

  /// Its values; nil until they have been requested.
  package var values: [AccessoryValue]? { hasValues ? accessory.values.values : nil }

  /// Whether the readings are older than expected.
  package var isStale: Bool { accessory.isStale || !accessory.isConnected || !isServed }

  // MARK: - Its state

  package var reach: Reach {
    guard isServed else { return .away }
    guard let record = accessory.record else { return accessory.isConnected ? .attached : .away }
    return switch record.state {
    // An event reports a disconnect before the next list does.
    case .attached, .lent: accessory.isConnected ? .attached : .away
    case .opening: .trying
    case .waiting: record.isReachable ? .attached : record.next_try_ms == nil ? .away : .trying
    case .failed: .away
    }
  }

  /// Its state in a few words: "attached", "busy 40 %", "try 2 of 3", "offline". Escaped.
  package var state: String {
    guard isServed else { return gateway == nil ? "no service" : "offline" }
    if reach == .away, accessory.record?.isReachable ?? true { return "gone" }
    if let record = accessory.record, record.state != .attached { return HeldView.word(record) }
    guard let status = accessory.status, let state = status.state, state != .notInitialized else { return "attached" }
    return state.word + (status.progress.map { " \($0) %" } ?? "")
  }

  /// The reason why it can't be reached, or what it doesn't answer, escaped; nil if there is nothing of this, or it is unknown.
  package var problem: String? {
    guard isServed else { return gateway.map { _ in "the gateway is offline" } }
    let message =
      if let record = accessory.record {
        record.state == .attached ? accessory.missing : record.problem?.message
      } else {
        accessory.problem?.message ?? accessory.missing
      }
    return message.map { SafeText.escape($0, limit: 300) }
  }

  /// Additional facts for the detail view, escaped: model, path, profile, gateway.
  package var facts: [(name: String, text: String)] {
    var facts: [(name: String, text: String)] = []
    func add(_ name: String, _ text: String?) {
      guard let text, !text.isEmpty else { return }
      facts.append((name, SafeText.escape(text, limit: 200)))
    }
    let record = accessory.record
    add("Gateway", gateway)
    add("Area", accessory.device.given?.area)
    add("Identity", accessory.device.given?.name.map { _ in accessory.device.id })
    add("Name", accessory.identity?.name ?? accessory.device.name)
    add("Manufacturer", accessory.manufacturer)
    add("Model", accessory.model)
    add("Firmware", accessory.identity?.firmwareRevision)
    add("Path", accessory.device.place)
    if let record { facts.append(("Service", HeldView.state(record))) }
    for unfit in record?.unfit_alarms ?? [] { add("Alarm", "\(unfit.name) is never raised: \(unfit.reason)") }
    add("Profile", record?.profile ?? accessory.profile)
    add("Driver", record?.driver ?? accessory.driver)
    return facts
  }

  /// What was read, for the detail view, as rows with a label: the age, the status, the battery. Faults, warnings and cells have
  /// their own sections.
  package func readings(now: MonotonicTime) -> [(name: String, text: String)] {
    var facts: [(name: String, text: String)] = []
    // That it is gone says that it isn't plugged in.
    if let gone = lastThere() {
      facts.append(("Connection", gone))
    } else if let problem {
      facts.append((reach == .attached ? "Missing" : "Problem", problem))
    }
    if let read = readText(now: now) { facts.append(("Read", read)) }
    if let status = accessory.status {
      facts += StatusView.facts(status).filter { $0.1 != "none" && $0.1 != AccessoryState.notInitialized.word }
    }
    if let battery = accessory.battery {
      let separate = [BatteryReading.Field.cells, .faults, .warnings].map(ReadingLabel.text)
      facts += BatteryDetails.facts(battery, columns: 1, Style(isTerminal: false, hasColour: false))
        .filter { !separate.contains($0.0) }
    }
    return facts
  }

  /// When it was read: "now", "20s ago", "5m ago, stale"; nil while nothing was.
  package func readText(now: MonotonicTime) -> String? {
    guard let time = accessory.readTime else { return nil }
    let age = AgeText.text(now - time)
    return (age == "now" ? "now" : "\(age) ago") + (isStale ? ", stale" : "")
  }

  // MARK: - Alarms

  /// A reason to look at the accessory.
  package struct Alarm: Sendable, Hashable {
    package var text: String
    package var severity: Severity
    /// A short form for the list.
    package var word: String

    /// Creates an alarm with an escaped text. `word` defaults to the text.
    package init(_ text: String, _ severity: Severity, word: String? = nil) {
      (self.text, self.severity, self.word) = (text, severity, word ?? text)
    }

    /// An alarm that a service has raised: "battery < 20 % (17 %)".
    package init(_ alarm: AccessoryAlarm) {
      let name = SafeText.escape(alarm.name, limit: 100)
      let value = alarm.value.map { " (\(SafeText.escape($0, limit: 100)))" } ?? ""
      self.init("alarm: \(name)\(value)", .alarm, word: name)
    }
  }

  /// All reasons to look at it: raised alarms first, then the accessory's own reports, without those that an alarm says already.
  package var reasons: [Alarm] {
    let alarms = accessory.alarms ?? []
    let said = alarms.compactMap { try? AlarmRule($0.rule).condition }
    var reasons = alarms.map(Alarm.init)
    if let battery = accessory.battery {
      if said.contains(where: Self.isOfLowCharge) {
        // The alarm says it.
      } else if battery.level == .critical {
        reasons.append(Alarm("battery critical", .alarm, word: "critical"))
      } else if battery.level == .low {
        reasons.append(Alarm("battery low", .warning, word: "low"))
      }
      for fault in battery.faults ?? [] where !said.contains(.fault(nil)) && !said.contains(.fault(fault)) {
        reasons.append(Alarm("fault: \(SafeText.escape(fault))", .alarm, word: SafeText.escape(fault)))
      }
      for warning in battery.warnings ?? [] where !said.contains(.warning(nil)) && !said.contains(.warning(warning)) {
        reasons.append(Alarm("warning: \(SafeText.escape(warning))", .warning, word: SafeText.escape(warning)))
      }
    }
    if let status = accessory.status, status.state == .fault {
      let code = status.faultCode.map { "\($0)" }
      if !said.contains(.fault(nil)), code == nil || !said.contains(.fault(code)) {
        reasons.append(Alarm("fault" + (code.map { " \($0)" } ?? ""), .alarm))
      }
    }
    return reasons
  }

  private static func isOfLowCharge(_ condition: AlarmRule.Condition) -> Bool {
    switch condition {
    case .number(.part(let part), .less, _, _), .number(.part(let part), .lessOrEqual, _, _): part.rawValue == "battery"
    case .word(.part(let part), _, _): part.rawValue == "battery level"
    case .number, .word, .fault, .warning, .silence: false
    }
  }

  /// The most urgent of the reasons.
  package var severity: Severity {
    let battery = accessory.battery
    if accessory.alarms?.isEmpty == false || accessory.status?.state == .fault { return .alarm }
    if battery?.level == .critical || battery?.faults?.isEmpty == false { return .alarm }
    return battery?.level == .low || battery?.warnings?.isEmpty == false ? .warning : .none
  }

  /// The most important state: that it can't be reached, then an alarm, then what it does.
  package var shownState: String {
    if reach != .attached { return state }
    if let alarm = reasons.max(by: { $0.severity < $1.severity }) { return alarm.word }
    return isStale ? "stale" : state
  }

  // MARK: - Searching

  /// Whether each word of a filter occurs in what the list shows about it. `words` are in lower case.
  package func matches(_ words: [String]) -> Bool {
    if words.isEmpty { return true }
    let text = searchText
    return words.allSatisfy { text.contains($0) }
  }

  private var searchText: String {
    var parts = [name, title, area ?? "", state]
    parts += facts.map(\.text)
    parts += reasons.map(\.text)
    return parts.joined(separator: "\n").lowercased()
  }

  // MARK: - Values

  /// What people look for first at it.
  package var headline: Headline {
    Headline(status: accessory.status, battery: accessory.battery, values: values ?? [])
  }

  /// The values for the list's column, the most interesting first: "-736 W", "23.4 °C", "power 12.1 W".
  package var summary: [String] {
    let headline = headline
    var parts = HeadlineView.words(headline)
    let hottest = accessory.battery.flatMap { BatteryReading.Field.temperatures.term.count(in: $0) }
    if let hottest { parts.append(DecimalText.short(Double(hottest / 100) / 10) + " °C") }
    // Only numbers that measure something; the rest is in the detail view.
    for value in values ?? [] where Self.isMeasured(value) && !headline.parts.contains(.value(value)) {
      // A pack may tell its power twice.
      guard parts.count < 8, let text = Self.text(value), !parts.contains(text) else { continue }
      parts.append("\(SafeText.escape(value.name, limit: 24)) \(text)")
    }
    return parts
  }

  /// Whether the value is a number that belongs to an overview.
  package static func isMeasured(_ value: AccessoryValue) -> Bool { value.number != nil && value.importance <= .shown }

  /// A value with its unit; nil for an unknown one.
  package static func text(_ value: AccessoryValue) -> String? {
    let unit = value.unit.map { " " + SafeText.escape($0.rawValue, limit: 16) } ?? ""
    switch value.content {
    case .number(let number): return DecimalText.short((number * 1_000).rounded() / 1_000) + unit
    case .text(let text), .choice(let text, _): return SafeText.escape(text, limit: 64)
    case .flag(let flag): return flag ? "yes" : "no"
    case nil: return nil
    }
  }
}
