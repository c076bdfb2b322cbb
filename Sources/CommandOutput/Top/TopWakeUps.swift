// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// When `top` draws. It has no clock: its owner passes the time.
///
/// News are drawn at once, but at most ten times a second however many there are. Without news the next drawing is when a
/// shown age has another text, and never where none has.
package struct TopWakeUps: Sendable {
  /// The shortest time between two drawings of news.
  package static let pause = Duration.milliseconds(100)

  private var lastDrawing: MonotonicTime?
  private(set) var hasNews = true
  /// When something changes by itself.
  private var change: MonotonicTime?

  /// Nothing was drawn yet.
  package init() {}

  /// There are news to draw.
  package mutating func news() { hasNews = true }

  /// The screen was drawn. `change` is when it changes by itself; nil for never. `hasMore`: there are more news.
  package mutating func drew(at now: MonotonicTime, change: MonotonicTime?, hasMore: Bool = false) {
    (lastDrawing, self.change, hasNews) = (now, change, hasMore)
  }

  /// What is to be done now.
  package enum Work: Sendable, Hashable {
    case draw
    /// Ask for the ages, and then draw.
    case refresh
    case nothing
  }

  /// What is due at this time.
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

  /// The ages were asked for: they change by themselves again only after the next drawing.
  package mutating func refreshed() {
    change = nil
    hasNews = true
  }

  /// The ages are being asked for.
  package mutating func refreshing() { change = nil }
}
