// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The keys of a profile's text, by the mapping they stand in.
enum KnownKeys {
  static let profile = [
    "name", "description", "match", "transport", "driver", "protocol", "parameters", "protocols", "pacing",
    "policies", "poll", "sleep", "units", "writes",
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
    let nearest = NearestWord.find(key, among: known)
    // Whoever writes a whole word right has it in the wrong place, unless it is all but one letter what is known here.
    if nearest?.distance != 1, let place = places.first(where: { $0.keys.contains(key) }) {
      return "it belongs in \(place.place); \(list)"
    }
    guard let nearest else { return list }
    return nearest.isLikely ? "did you mean \(nearest.word)?" : "the nearest is \(nearest.word); \(list)"
  }

  /// The first of these words, of which a text may have made any number.
  private static func list(_ words: [String]) -> String {
    words.prefix(40).joined(separator: ", ") + (words.count > 40 ? " …" : "")
  }
}
