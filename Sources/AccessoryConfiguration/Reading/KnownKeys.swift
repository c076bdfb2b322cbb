// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The keys that are valid in a mapping.
package enum KnownKeys {
  /// A mapping, and the keys that are valid in it.
  package typealias Place = (place: String, keys: [String])

  /// Advice for an unknown key: the most similar valid key, or the mapping where it would be valid.
  package static func advice(_ key: String, among known: [String], places: [Place] = []) -> String {
    let list = "known here: \(list(known))"
    let nearest = NearestWord.find(key, among: known)
    // A key that is valid elsewhere is probably misplaced, unless it is only one letter away from a key that is valid here.
    if nearest.map({ $0.distance > 1 }) ?? true, let place = places.first(where: { $0.keys.contains(key) }) {
      return "it belongs in \(place.place); \(list)"
    }
    guard let nearest else { return list }
    return nearest.question ?? "the nearest is \(nearest.word); \(list)"
  }

  /// The first 40 words. A text may define any number of them.
  private static func list(_ words: [String]) -> String {
    words.prefix(40).joined(separator: ", ") + (words.count > 40 ? " …" : "")
  }
}
