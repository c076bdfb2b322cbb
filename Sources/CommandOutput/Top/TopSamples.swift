// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The charge of each accessory since `top` was started, for a graph where nobody keeps a history.
struct TopSamples: Sendable {
  private var samples: [String: [(time: Double, percent: Int)]] = [:]

  /// The most samples of an accessory; then every other one is forgotten.
  static let limit = 240

  /// Takes the row's charge at a time in seconds since 1970. A charge that is the same as before takes no room.
  mutating func note(_ row: TopRow, at time: Double) {
    guard let percent = row.battery?.percent else { return }
    var known = samples[row.key] ?? []
    if let last = known.last, last.percent == percent || last.time > time { return }
    known.append((time, percent))
    if known.count > Self.limit { known = known.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) }
    samples[row.key] = known
  }

  mutating func forget(_ key: String) { samples[key] = nil }

  /// The charge until now, in seconds since 1970; nil where there is none.
  func series(of key: String, now: Double) -> ReadingSeries? {
    guard let known = samples[key], !known.isEmpty else { return nil }
    let ends = known.dropFirst().map(\.time) + [max(now, known[known.count - 1].time)]
    return ReadingSeries(
      name: ReadingSeries.percent, unit: "%",
      points: zip(known, ends).map { .init(time: $0.time, span: $1 - $0.time, Double($0.percent)) })
  }
}
