// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The reports of a power device that are known, and what they say. A value without I/O or clock.
///
/// A device may tell the same quantity in an input report, which it sends by itself, and in a feature report, which is asked for. The
/// one that came last counts.
struct PowerReports: Sendable {
  /// A quantity as a device tells it.
  struct Told {
    /// The number itself.
    let raw: Int64
    let field: HIDReportField
    /// What it means in its unit.
    let amount: Double
  }

  let quirks: PowerQuirks
  /// Which fields count.
  let fields: PowerFields
  /// Each report as it came last, with the number of its arrival.
  private var known: [HIDReportDescriptor.Report: (bytes: [UInt8], order: UInt64)] = [:]
  private var order: UInt64 = 0

  init(_ descriptor: HIDReportDescriptor, _ quirks: PowerQuirks = .none) {
    self.quirks = quirks
    fields = PowerFields(descriptor, outletIsOutput: quirks.outletIsOutput)
  }

  /// Keeps a report, which begins with its number. Returns false for one that says nothing of the device.
  @discardableResult
  mutating func take(_ kind: HIDReportField.Kind, _ bytes: [UInt8]) -> Bool {
    guard let number = bytes.first else { return false }
    let report = HIDReportDescriptor.Report(kind: kind, number: number)
    guard fields.reports.contains(report) else { return false }
    order &+= 1
    known[report] = (bytes, order)
    return true
  }

  /// Whether the device has a field for this quantity.
  func has(_ usage: HIDUsage, in places: [PowerPlace]? = nil) -> Bool {
    (places ?? PowerPlace.places(of: usage)).contains { !fields.told(usage, at: $0).isEmpty }
  }

  /// What the device tells last of a quantity, in volts, amperes, hertz, seconds, kelvins or percent, with the maker's faults mended: at
  /// the first of these places where it can be right. Nil where the device doesn't tell it.
  func told(
    _ usage: HIDUsage, in places: [PowerPlace]? = nil, where canBe: (Told) -> Bool
  ) -> Told? {
    for place in places ?? PowerPlace.places(of: usage) {
      var newest: (raw: Int64, field: HIDReportField, order: UInt64)?
      for field in fields.told(usage, at: place) {
        let report = HIDReportDescriptor.Report(kind: field.kind, number: field.report)
        guard let known = known[report], let raw = field.value(in: known.bytes) else { continue }
        if newest.map({ known.order > $0.order }) ?? true { newest = (raw, field, known.order) }
      }
      guard let newest else { continue }
      var amount = quirks.mended(newest.field.amount(newest.raw), usage)
      // Without a unit, some makers give volts, and others tenths, hundredths or thousandths of them.
      if [PowerUsage.voltage, PowerUsage.configVoltage].contains(usage), newest.field.unit == .none, amount > 300 {
        while amount > (PowerPlace.cells.contains(place) ? 100 : 300) { amount /= 10 }
      }
      let told = Told(raw: newest.raw, field: newest.field, amount: amount)
      if canBe(told) { return told }
    }
    return nil
  }

  /// A quantity in its unit, within what it can be; nil where the device doesn't tell it.
  func amount(_ usage: HIDUsage, in places: [PowerPlace]? = nil, _ range: ClosedRange<Double>? = nil) -> Double? {
    let range = range ?? PowerUsage.plausible[usage] ?? -1e12...1e12
    return told(usage, in: places) { range.contains($0.amount) }?.amount
  }

  /// The number that a device gives for a choice, such as the state of its test.
  func number(_ usage: HIDUsage) -> Int? { told(usage) { _ in true }.map { Int($0.raw) } }

  /// A truth. Devices repeat some in several collections: that of the power summary counts. A number that the field can't have says
  /// nothing.
  func flag(_ usage: HIDUsage) -> Bool? {
    told(usage) { $0.raw == 0 || $0.raw == 1 || $0.field.logical.contains($0.raw) }.map { $0.raw != 0 }
  }
}
