// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The reports of a power device that are known, and what they say. A value without I/O or clock.
///
/// A device may tell the same quantity in an input report, which it sends by itself, and in a feature report, which is asked for. The
/// one that came last counts.
struct PowerReports: Sendable {
  let descriptor: HIDReportDescriptor
  let quirks: PowerQuirks
  /// The fields that the device tells, by their usage, in the order of the descriptor.
  private let told: [HIDUsage: [HIDReportField]]
  /// Each report as it came last, with the number of its arrival.
  private var known: [HIDReportDescriptor.Report: (bytes: [UInt8], order: UInt64)] = [:]
  private var order: UInt64 = 0

  init(_ descriptor: HIDReportDescriptor, _ quirks: PowerQuirks = .none) {
    (self.descriptor, self.quirks) = (descriptor, quirks)
    told = Dictionary(grouping: descriptor.fields.filter { $0.kind != .output }, by: \.usage)
  }

  /// Keeps a report, which begins with its number. Returns false for one that the descriptor doesn't have.
  @discardableResult
  mutating func take(_ kind: HIDReportField.Kind, _ bytes: [UInt8]) -> Bool {
    guard let number = bytes.first else { return false }
    let report = HIDReportDescriptor.Report(kind: kind, number: number)
    guard descriptor.sizes[report] != nil else { return false }
    order &+= 1
    known[report] = (bytes, order)
    return true
  }

  /// The numbers of the feature reports that have one of these usages, in order.
  func features(with usages: Set<HIDUsage>) -> [UInt8] {
    Set(descriptor.fields.lazy.filter { $0.kind == .feature && usages.contains($0.usage) }.map(\.report)).sorted()
  }

  /// The fields with this usage in one of these collections, those of the first collection first; in any where none is named.
  func fields(_ usage: HIDUsage, in collections: [HIDUsage] = []) -> [HIDReportField] {
    let all = told[usage] ?? []
    guard !collections.isEmpty else { return all }
    for collection in collections {
      let found = all.filter { $0.path.dropLast().contains(collection) }
      if !found.isEmpty { return found }
    }
    return []
  }

  /// The field of a feature report by which the host sets something; nil where the device has none.
  func control(_ usage: HIDUsage) -> HIDReportField? {
    told[usage]?.first { $0.kind == .feature && !$0.isConstant }
  }

  /// What the device tells last of a quantity: the number itself, and its field.
  private func latest(_ usage: HIDUsage, in collections: [HIDUsage]) -> (raw: Int64, field: HIDReportField)? {
    var newest: (raw: Int64, field: HIDReportField, order: UInt64)?
    for field in fields(usage, in: collections) {
      let report = HIDReportDescriptor.Report(kind: field.kind, number: field.report)
      guard let known = known[report], let raw = field.value(in: known.bytes) else { continue }
      if newest.map({ known.order > $0.order }) ?? true { newest = (raw, field, known.order) }
    }
    return newest.map { ($0.raw, $0.field) }
  }

  /// A quantity in its unit (volts, amperes, hertz, seconds, kelvins, percent), with the maker's faults mended; nil where the device
  /// doesn't tell it.
  func amount(_ usage: HIDUsage, in collections: [HIDUsage] = []) -> Double? {
    guard let (raw, field) = latest(usage, in: collections) else { return nil }
    return quirks.mended(field.amount(raw), usage)
  }

  /// The number that a device gives for a choice, such as the state of its test.
  func number(_ usage: HIDUsage) -> Int? { latest(usage, in: []).map { Int($0.raw) } }

  /// The unit of a quantity; nil where the device doesn't have it.
  func unit(_ usage: HIDUsage, in collections: [HIDUsage] = []) -> HIDUnit? {
    fields(usage, in: collections).first?.unit
  }

  /// A truth. Devices repeat some in several collections: that of the power summary counts.
  func flag(_ usage: HIDUsage) -> Bool? {
    (latest(usage, in: [PowerUsage.powerSummary]) ?? latest(usage, in: [])).map { $0.raw != 0 }
  }
}
