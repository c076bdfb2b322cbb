// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The keys of each mapping in a profile.
enum KnownKeys {
  static let profile = [
    "name", "description", "match", "transport", "driver", "protocol", "parameters", "protocols", "pacing",
    "policies", "poll", "sleep", "units", "writes", "share", "reset", "alarms",
  ]
  static let rule = ["usb", "driver", "name", "manufacturer", "model", "serial", "by_id", "path"]
  static let ruleUSB = ["vendor", "product", "interface_class"]
  static let transport = ["prefer", "tty", "usb"]
  static let tty = [
    "baud", "data_bits", "parity", "stop_bits", "flow", "dtr", "rts", "rs485", "low_latency", "settle",
  ]
  static let rs485 = ["rts", "rts_after", "before", "after", "receive"]
  static let usb = ["interface", "alternate", "endpoints", "shape"]
  static let endpoints = ["in", "out"]
  static let share = ["pty", "unix", "writers", "unplug", "write"]
  static let pacing = ["gap", "window"]
  static let policies = ["reconnect", "retry", "max_attached", "idle_close"]
  static let attempts = ["enabled", "tries", "interval", "backoff", "longest"]

  /// A mapping, and the keys that are valid in it.
  typealias Place = (place: String, keys: [String])

  static let places: [Place] = [
    ("match: usb", ruleUSB), ("transport: tty", tty), ("transport: usb", usb), ("transport: tty: rs485", rs485),
    ("transport", transport), ("match", rule), ("policies", policies), ("policies: reconnect", attempts),
    ("pacing", pacing), ("share", share), ("the profile itself", profile),
  ]

  /// Advice for an unknown key: the most similar valid key, or the mapping where it would be valid.
  static func advice(_ key: String, among known: [String], places: [Place] = []) -> String {
    let list = "known here: \(list(known))"
    let nearest = NearestWord.find(key, among: known)
    // A key that is valid elsewhere is probably misplaced, unless it is only one letter away from a key that is valid here.
    if nearest?.distance != 1, let place = places.first(where: { $0.keys.contains(key) }) {
      return "it belongs in \(place.place); \(list)"
    }
    guard let nearest else { return list }
    return nearest.isLikely ? "did you mean \(nearest.word)?" : "the nearest is \(nearest.word); \(list)"
  }

  /// The first 40 words. A text may define any number of them.
  private static func list(_ words: [String]) -> String {
    words.prefix(40).joined(separator: ", ") + (words.count > 40 ? " …" : "")
  }
}
