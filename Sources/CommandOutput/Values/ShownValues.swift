// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// Prints an accessory's values, and later only the changed ones.
package final class ShownValues: Sendable {
  private let json: Bool
  /// The names of the values to show; empty for all.
  private let names: [String]
  /// Whether only the values are printed, each on a line, without names and units.
  private let isPlain: Bool
  private let last = Locked(ValuesReading())

  /// Prints the values of these names, or all if there are none; with `json` as documents, with `plain` without names and units.
  package init(json: Bool, names: [String], plain: Bool = false) {
    (self.json, self.names, isPlain) = (json, names, plain)
  }

  /// What people look for first, first.
  private static func sorted(_ values: [Read<AccessoryValue>]) -> [Read<AccessoryValue>] {
    Importance.allCases.flatMap { importance in values.filter { $0.value.importance == importance } }
  }

  private func isWanted(_ name: String) -> Bool { names.isEmpty || names.contains(name) }

  /// Shows the values of an accessory that was just found. Throws if a requested name isn't among them, unless more values may follow
  /// (`isComplete` is false). `document` creates a document of values.
  package func show(
    _ read: Read<[Read<AccessoryValue>]>, isComplete: Bool,
    document: (Read<[Read<AccessoryValue>]>) -> some Encodable
  ) throws {
    let values = read.value
    let reading = last.withLock { last in
      last = ValuesReading()
      last.take(values.map(\.value), at: .now)
      return last
    }
    if isComplete, let missing = names.first(where: { reading[$0] == nil }) {
      let all = values.map { MeasurementView.name($0.value.name) }
      let advice = NearestWord.advice(
        missing, among: all, otherwise: all.isEmpty ? "there are none" : "there are " + all.joined(separator: ", "))
      throw UsageError("there is no value \(missing): \(advice)")
    }
    let wanted = values.filter { isWanted($0.value.name) }
    if json { return Output.json(document(read.map { _ in wanted })) }
    if isPlain {
      // Use the order of the given names, as a script expects.
      for name in names {
        wanted.filter { $0.value.name == name }.forEach { Output.line(MeasurementView.plain($0.value)) }
      }
      return
    }
    if !wanted.isEmpty {
      MeasurementView.table(names.isEmpty ? Self.sorted(wanted) : wanted, columns: Output.columns).forEach(Output.line)
    }
  }

  /// Shows the values that differ from those shown last.
  package func showChanges(
    _ read: Read<[AccessoryValue]>, document: (Read<[Read<AccessoryValue>]>) -> some Encodable
  ) {
    let (changed, width) = last.withLock { last in
      let changed = last.take(read.value, at: .now).filter { isWanted($0.name) }
      return (changed, last.values.map { TextWidth.of(MeasurementView.name($0.name)) }.max() ?? 0)
    }
    guard !changed.isEmpty else { return }
    if json { return Output.json(document(read.map { _ in changed.map { Read($0) } })) }
    if isPlain { return changed.forEach { Output.line(MeasurementView.plain($0)) } }
    for value in changed { Output.wrapped(MeasurementView.line(value, width: width), indent: 2) }
  }
}
