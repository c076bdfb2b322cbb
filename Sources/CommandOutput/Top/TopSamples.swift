// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The charge of each accessory since `top` was started. Used for a graph without a history.
struct TopSamples: Sendable {
  private var samples: [UInt64: [(time: Double, percent: Int)]] = [:]

  /// The most samples of an accessory. When they are exceeded, every second one is dropped.
  static let limit = 240

  /// Adds the row's charge at a time in seconds since 1970. An unchanged charge takes no memory.
  mutating func note(_ row: TopRow, at time: Double) {
    guard let percent = row.battery?.percent else { return }
    var known = samples[row.key] ?? []
    if let last = known.last, last.percent == percent || last.time > time { return }
    known.append((time, percent))
    if known.count > Self.limit { known = known.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) }
    samples[row.key] = known
  }

  mutating func forget(_ key: UInt64) { samples[key] = nil }

  /// The charge up to `now`, in seconds since 1970; nil if there is none.
  func series(of key: UInt64, now: Double) -> ReadingSeries? {
    guard let known = samples[key], !known.isEmpty else { return nil }
    let ends = known.dropFirst().map(\.time) + [max(now, known[known.count - 1].time)]
    return ReadingSeries(
      name: ReadingSeries.percent, unit: "%",
      points: zip(known, ends).map { .init(time: $0.time, span: $1 - $0.time, Double($0.percent)) })
  }
}
