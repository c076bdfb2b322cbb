// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Chooses the fields by which a power device reports a quantity, and the field by which the quantity is set.
///
/// A device has many fields of one usage: the voltage of each input, battery and outlet. Some devices repeat a quantity in feature
/// reports and input reports, or in an obsolete report. A quantity is read from its part of the device (`PowerPlace`); of several
/// like parts, from the first one, and there from the first feature report and the first input report. It is set only if there is
/// exactly one candidate.
struct PowerFields: Sendable {
  /// The fields of one usage at one place.
  private struct Entry: Sendable {
    let place: PowerPlace
    var rank: PowerPlace.Rank
    var told: [HIDReportField]
    /// The reports of all fields that can be set, and the first such field.
    var settable: HIDReportField?
    var reports: [UInt8] = []
  }

  /// Why a quantity can't be set.
  struct Doubt: Error {
    /// The reason in words, to follow the name of the setting.
    let text: String
  }

  private var entries: [HIDUsage: [Entry]] = [:]
  /// The reports of settings that belong to no known part of the device.
  private var others: [HIDUsage: [UInt8]] = [:]
  /// The reports with a field that is read.
  private(set) var reports: Set<HIDReportDescriptor.Report> = []

  init(_ descriptor: HIDReportDescriptor, outletIsOutput: Bool) {
    for field in descriptor.fields where field.kind != .output {
      let isSettable = field.kind == .feature && !field.isConstant
      if let (place, rank) = PowerPlace.of(field, outletIsOutput: outletIsOutput) {
        add(field, place, rank, isSettable)
      } else if isSettable {
        others[field.usage, default: []].append(field.report)
      }
    }
    for entry in entries.values.joined() {
      reports.formUnion(entry.told.map { HIDReportDescriptor.Report(kind: $0.kind, number: $0.report) })
    }
  }

  private mutating func add(
    _ field: HIDReportField, _ place: PowerPlace, _ rank: PowerPlace.Rank, _ isSettable: Bool
  ) {
    var entry = Entry(place: place, rank: rank, told: [])
    var known = entries[field.usage] ?? []
    let index = known.firstIndex { $0.place == place }
    if let index { entry = known[index] }
    if rank < entry.rank { (entry.rank, entry.told) = (rank, []) }
    if rank == entry.rank, !entry.told.contains(where: { $0.kind == field.kind }) { entry.told.append(field) }
    if isSettable {
      entry.settable = entry.settable ?? field
      entry.reports.append(field.report)
    }
    if let index { known[index] = entry } else { known.append(entry) }
    entries[field.usage] = known
  }

  /// The fields from which to read a quantity at a place: at most one of each kind.
  func told(_ usage: HIDUsage, at place: PowerPlace) -> [HIDReportField] {
    entries[usage]?.first { $0.place == place }?.told ?? []
  }

  /// The numbers of the feature reports with one of these usages, in order.
  func features(with usages: Set<HIDUsage>) -> [UInt8] {
    let told = usages.lazy.flatMap { entries[$0] ?? [] }.flatMap(\.told)
    return Set(told.filter { $0.kind == .feature }.map(\.report)).sorted()
  }

  /// The field by which the host sets a usage; nil if the device has none. Throws if there are several candidates, or if only outlets
  /// or unknown parts have one.
  func setting(_ usage: HIDUsage) throws(Doubt) -> HIDReportField? {
    let known = entries[usage] ?? []
    for place in PowerPlace.places(of: usage) {
      guard let entry = known.first(where: { $0.place == place }), let field = entry.settable else { continue }
      guard entry.reports.count == 1 else {
        throw Doubt(text: "in \(Self.words(entry.reports)), and which one is meant isn't certain")
      }
      return field
    }
    guard let reports = others[usage] ?? known.first(where: { $0.settable != nil })?.reports else { return nil }
    throw Doubt(text: "only in \(Self.words(reports)), for its outlets or for another part of it")
  }

  private static func words(_ reports: [UInt8]) -> String {
    let numbers = Set(reports).sorted()
    return reports.count == 1
      ? "the feature report \(numbers[0])"
      : "\(reports.count) fields of the feature report\(numbers.count == 1 ? "" : "s") "
        + numbers.map(String.init).joined(separator: ", ")
  }
}
