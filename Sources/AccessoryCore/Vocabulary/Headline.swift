// SPDX-License-Identifier: Apache-2.0

/// What people look for first at an accessory, in order: its state; then the values of the kind, such as the supply and the load of a UPS;
/// then its battery. Everything that shows an accessory at a glance shows this.
package struct Headline: Sendable, Hashable {
  /// A part of a headline. All parts are known.
  package enum Part: Sendable, Hashable {
    /// What the accessory is doing.
    case state(AccessoryState)
    case value(AccessoryValue)
    /// A quantity of the battery: the percentage or what stands in its place, whether it is charging, a time.
    case battery(BatteryReading.Field)
    /// The power into the battery in milliwatts, negative while it discharges.
    case power(Int)
    /// The difference between the highest and the lowest cell in millivolts.
    case spread(Int)
  }

  package let parts: [Part]
  /// The reading to which the battery's parts belong.
  package let battery: BatteryReading?

  /// The most values of a kind that has no headline of its own.
  private static let fewValues = 3

  package init(status: AccessoryStatus? = nil, battery: BatteryReading? = nil, values: [AccessoryValue] = []) {
    self.battery = battery
    let state = status?.state.flatMap { $0 == .notInitialized ? nil : [Part.state($0)] } ?? []
    let known = values.filter { $0.content != nil }
    var shown = Self.sorted(known.filter { $0.importance == .headline })
    let own = battery.map { Self.parts($0, isUPS: shown.contains(where: \.isOfUPS), shown) } ?? []
    if state.isEmpty, shown.isEmpty, own.isEmpty {
      shown = Array(known.filter { $0.importance == .shown && $0.number != nil }.prefix(Self.fewValues))
    }
    parts = state + shown.map { .value($0) } + own
  }

  /// What runs it, what it does, how much it gives or takes now, and in all.
  private static func sorted(_ values: [AccessoryValue]) -> [AccessoryValue] {
    func rank(_ value: AccessoryValue) -> Int {
      switch (value.content, value.quantity) {
      case (.flag, _), (.text, _), (.choice, _): 0
      case (_, .power?), (_, .apparentPower?): 2
      case (_, .energy?): 3
      default: 1
      }
    }
    return (0...3).flatMap { wanted in values.filter { rank($0) == wanted } }
  }

  private static func parts(_ battery: BatteryReading, isUPS: Bool, _ values: [AccessoryValue]) -> [Part] {
    func known(_ fields: BatteryReading.Field...) -> [Part] {
      fields.first { $0.term.isKnown(in: battery) }.map { [.battery($0)] } ?? []
    }
    let charge = known(.percent, .level, .voltage) + known(.charge)
    let time = battery.charge == .charging ? known(.timeToFull, .timeToEmpty) : known(.timeToEmpty, .timeToFull)
    if isUPS { return time + charge }
    let hasPower = values.contains { $0.quantity == .power }
    let power = hasPower ? nil : battery.powerInMilliwatts.map { [Part.power($0)] }
    let spread = ReadingFold.spread.number(of: BatteryReading.Field.cells.term.elements(in: battery))
    return charge + (power ?? []) + time + (spread.map { [.spread($0)] } ?? [])
  }
}

extension Headline.Part {
  /// The label for people. That of a value is made from its name, which may come from the accessory.
  package var label: String {
    switch self {
    case .state: "State"
    case .value(let value): value.isSupply ? "Supply" : NameWords.title(value.name)
    case .battery(let field): field.term.label
    case .power: BatteryReading.Field.power.term.label
    case .spread: "Cell spread"
    }
  }
}

extension AccessoryValue {
  /// Whether it says what a UPS runs from. Documents of other machines have no roles.
  package var isSupply: Bool { isNamed(by: Vocabulary.onBattery) }
  fileprivate var isOfUPS: Bool { isSupply || isNamed(by: Vocabulary.load) }

  private func isNamed(by term: RoleTerm) -> Bool { role == term.role || role == nil && term.olderNames.contains(name) }
}

extension BatteryReading {
  /// The power into the battery in milliwatts, negative while it discharges: as the accessory reports it, or else the voltage times the
  /// current. Nil where neither is known.
  package var powerInMilliwatts: Int? {
    if let milliwatts { return milliwatts }
    guard let millivolts, let milliamperes else { return nil }
    return Int(exactly: (Double(millivolts) * Double(milliamperes) / 1_000).rounded())
  }
}
