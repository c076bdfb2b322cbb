// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Limits the reports of changed values to subscribers: at most one per second, with each value's current content. So an accessory
/// that sends a hundred values per second doesn't flood them. It has no clock: its owner passes the time.
struct ValueNews {
  /// The shortest pause between two reports.
  static let pause = Duration.seconds(1)

  private var names: Set<String> = []
  private var reported: MonotonicTime?
  /// When the next report is due; nil when there is nothing to report.
  private(set) var deadline: MonotonicTime?

  /// Adds values to the next report.
  mutating func add(_ names: some Sequence<String>, now: MonotonicTime) {
    self.names.formUnion(names)
    guard deadline == nil, !self.names.isEmpty else { return }
    deadline = max(now, reported.map { $0 + Self.pause } ?? now)
  }

  /// The values to report now; empty before the deadline.
  mutating func take(of reading: ValuesReading?, now: MonotonicTime) -> [ValuesReading.Entry] {
    guard let deadline, deadline <= now else { return [] }
    let entries = (reading?.entries ?? []).filter { names.contains($0.value.name) }
    forget()
    if !entries.isEmpty { reported = now }
    return entries
  }

  /// Drops the values that were added.
  mutating func forget() { (names, deadline) = ([], nil) }
}
