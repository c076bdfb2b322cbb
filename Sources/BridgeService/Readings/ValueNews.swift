// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Decides which values subscribers get, and when: at most once a second, each with its present value, so that an
/// accessory that sends a hundred a second doesn't flood them. A value that is given the time.
struct ValueNews {
  /// From one telling to the next, at least.
  static let pause = Duration.seconds(1)

  private var names: Set<String> = []
  private var told: MonotonicTime?
  /// When to tell what there is; nil when there is nothing to tell.
  private(set) var deadline: MonotonicTime?

  /// These are to be told.
  mutating func add(_ names: some Sequence<String>, now: MonotonicTime) {
    self.names.formUnion(names)
    guard deadline == nil, !self.names.isEmpty else { return }
    deadline = max(now, told.map { $0 + Self.pause } ?? now)
  }

  /// What is to be told now, of what is known; nothing before the deadline.
  mutating func take(of reading: ValuesReading?, now: MonotonicTime) -> [ValuesReading.Entry] {
    guard let deadline, deadline <= now else { return [] }
    let entries = (reading?.entries ?? []).filter { names.contains($0.value.name) }
    forget()
    if !entries.isEmpty { told = now }
    return entries
  }

  /// Nothing of what was added is told any more.
  mutating func forget() { (names, deadline) = ([], nil) }
}
