// SPDX-License-Identifier: Apache-2.0

/// The keys of a profile's text, by the mapping they stand in.
enum KnownKeys {
  static let profile = [
    "name", "description", "match", "transport", "driver", "protocol", "protocols", "pacing", "policies",
    "poll", "sleep", "writes",
  ]
  static let rule = ["usb", "driver", "name", "manufacturer", "model", "serial", "by_id"]
  static let ruleUSB = ["vendor", "product", "interface_class"]
  static let transport = ["prefer", "tty", "usb"]
  static let tty = [
    "baud", "data_bits", "parity", "stop_bits", "flow", "dtr", "rts", "rs485", "low_latency", "settle",
  ]
  static let rs485 = ["rts", "rts_after", "before", "after", "receive"]
  static let usb = ["interface", "alternate", "endpoints", "shape"]
  static let endpoints = ["in", "out"]
  static let pacing = ["gap", "window"]
  static let policies = ["reconnect", "retry", "max_attached", "idle_close"]
  static let attempts = ["enabled", "tries", "interval", "backoff", "longest"]

  /// A mapping and the keys that may stand in it.
  typealias Place = (place: String, keys: [String])

  static let places: [Place] = [
    ("match: usb", ruleUSB), ("transport: tty", tty), ("transport: usb", usb), ("transport: tty: rs485", rs485),
    ("transport", transport), ("match", rule), ("policies", policies), ("policies: reconnect", attempts),
    ("pacing", pacing), ("the profile itself", profile),
  ]

  /// What to say to a key that isn't one of these: the nearest of them, or where it belongs.
  static func advice(_ key: String, among known: [String], places: [Place] = []) -> String {
    let list = "known here: \(list(known))"
    let nearest = nearest(key, among: known)
    // Whoever writes a whole word right has it in the wrong place, unless it is all but one letter what is known here.
    if nearest?.distance != 1, let place = places.first(where: { $0.keys.contains(key) }) {
      return "it belongs in \(place.place); \(list)"
    }
    guard let nearest else { return list }
    // A third of the letters may be wrong, and a beginning is as good.
    let isNear = nearest.distance <= max(2, key.count / 3) || nearest.key.hasPrefix(key)
    return isNear ? "did you mean \(nearest.key)?" : "the nearest is \(nearest.key); \(list)"
  }

  /// The first of these words, of which a text may have made any number.
  private static func list(_ words: [String]) -> String {
    words.prefix(40).joined(separator: ", ") + (words.count > 40 ? " …" : "")
  }

  /// The word with the fewest changes to it; of several the first.
  static func nearest(_ word: String, among known: [String]) -> (key: String, distance: Int)? {
    known.map { (key: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
  }

  /// Letters to insert, remove, replace, or swap with their neighbour, to make one word of the other. Of long words the
  /// first 64 letters count.
  static func distance(_ first: String, _ second: String) -> Int {
    let (first, second) = (Array(first.unicodeScalars.prefix(64)), Array(second.unicodeScalars.prefix(64)))
    var beforeLast: [Int] = []
    var last = Array(0...second.count)
    for row in 0..<first.count {
      var current = [row + 1]
      for column in 0..<second.count {
        var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (first[row] == second[column] ? 0 : 1))
        if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[second.count]
  }
}
