// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Decides when `top` draws. It has no clock: its owner passes the time.
///
/// Changes are drawn at once, but at most ten times a second. Without changes, the next drawing is due when the text of a shown age
/// changes; if none changes, never.
package struct TopWakeUps: Sendable {
  /// The shortest time between two drawings of changes.
  package static let pause = Duration.milliseconds(100)

  private var lastDrawing: MonotonicTime?
  private(set) var hasNews = true
  /// When the screen changes by itself.
  private var change: MonotonicTime?

  /// Nothing was drawn yet.
  package init() {}

  /// Notes a change to draw.
  package mutating func news() { hasNews = true }

  /// Notes a drawing. `change` is when the screen changes by itself; nil for never. `hasMore` says whether there are more changes.
  package mutating func drew(at now: MonotonicTime, change: MonotonicTime?, hasMore: Bool = false) {
    (lastDrawing, self.change, hasNews) = (now, change, hasMore)
  }

  /// The work that is due.
  package enum Work: Sendable, Hashable {
    case draw
    /// Ask for the ages, then draw.
    case refresh
    case nothing
  }

  /// The work that is due at this time.
  package func work(at now: MonotonicTime) -> Work {
    if hasNews, lastDrawing.map({ now - $0 >= Self.pause }) ?? true { return .draw }
    if let change, now >= change { return .refresh }
    return .nothing
  }

  /// When the next work is due; nil for never.
  package var next: MonotonicTime? {
    let drawing = hasNews ? lastDrawing.map { $0 + Self.pause } : nil
    return [drawing, change].compactMap { $0 }.min()
  }

  /// The ages have arrived. They change by themselves again only after the next drawing.
  package mutating func refreshed() {
    change = nil
    hasNews = true
  }

  /// The ages have been requested.
  package mutating func refreshing() { change = nil }
}
