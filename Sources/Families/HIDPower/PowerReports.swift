// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The known reports of a power device, and their readings. A value without I/O or clock.
///
/// A device may report the same quantity in an input report, which it sends by itself, and in a feature report, which is requested.
/// The newest report counts.
struct PowerReports: Sendable {
  /// A reported quantity.
  struct Told {
    /// The number in the report.
    let raw: Int64
    let field: HIDReportField
    /// The amount in its unit.
    let amount: Double
  }

  let quirks: PowerQuirks
  /// The fields to read.
  let fields: PowerFields
  /// The newest bytes of each report, with a number that grows with each arrival.
  private var known: [HIDReportDescriptor.Report: (bytes: [UInt8], order: UInt64)] = [:]
  private var order: UInt64 = 0

  init(_ descriptor: HIDReportDescriptor, _ quirks: PowerQuirks = .none) {
    self.quirks = quirks
    fields = PowerFields(descriptor, outletIsOutput: quirks.outletIsOutput)
  }

  /// Stores a report, which begins with its number. Returns false for a report without known fields.
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

  /// The last reported quantity, in volts, amperes, hertz, seconds, kelvins or percent, with the maker's mistakes corrected, from the
  /// first of these places with a plausible amount; nil if there is none.
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
      // Without a unit, some makers use volts, others tenths, hundredths or thousandths of them.
      if [PowerUsage.voltage, PowerUsage.configVoltage].contains(usage), newest.field.unit == .none, amount > 300 {
        while amount > (PowerPlace.cells.contains(place) ? 100 : 300) { amount /= 10 }
      }
      let told = Told(raw: newest.raw, field: newest.field, amount: amount)
      if canBe(told) { return told }
    }
    return nil
  }

  /// A quantity in its unit, if it is plausible; nil if the device doesn't report it.
  func amount(_ usage: HIDUsage, in places: [PowerPlace]? = nil, _ range: ClosedRange<Double>? = nil) -> Double? {
    let range = range ?? PowerUsage.plausible[usage] ?? -1e12...1e12
    return told(usage, in: places) { range.contains($0.amount) }?.amount
  }

  /// The number of a choice, such as the state of the device's test.
  func number(_ usage: HIDUsage) -> Int? { told(usage) { _ in true }.map { Int($0.raw) } }

  /// A flag. Devices repeat some flags in several collections; the one in the power summary counts. A number outside the field's
  /// range is unknown.
  func flag(_ usage: HIDUsage) -> Bool? {
    told(usage) { $0.raw == 0 || $0.raw == 1 || $0.field.logical.contains($0.raw) }.map { $0.raw != 0 }
  }
}
