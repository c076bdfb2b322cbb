// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The topic levels of the mirror's accessories, by their numbers in the mirror. All levels are different.
struct AccessoryLevels: Sendable {
  private var levels: [UInt64: TopicLevel] = [:]
  private var places: [String: UInt64] = [:]
  private var placeOf: [UInt64: String] = [:]
  private var taken: Set<TopicLevel> = []

  /// The level of the accessory with this number; nil if it has none.
  subscript(id: UInt64) -> TopicLevel? { levels[id] }

  /// The level of the accessory at this place; nil if there is none.
  subscript(place: String) -> TopicLevel? { places[place].flatMap { levels[$0] } }

  /// Whether an accessory has this level.
  func contains(_ level: TopicLevel) -> Bool { taken.contains(level) }

  /// The level that an accessory has or would get: the level of its id, or one with its place if another accessory has that level.
  func level(of accessory: MirroredAccessory) -> TopicLevel {
    if let known = levels[accessory.id] { return known }
    let (id, place) = (accessory.device.id, accessory.device.place)
    let plain = TopicLevel(naming: id)
    return taken.contains(plain) ? TopicLevel(naming: id, at: place) : plain
  }

  /// Assigns a level to an accessory and stores its place.
  mutating func add(_ accessory: MirroredAccessory) {
    let level = level(of: accessory)
    if let old = placeOf[accessory.id], old != accessory.device.place { places[old] = nil }
    (levels[accessory.id], placeOf[accessory.id]) = (level, accessory.device.place)
    places[accessory.device.place] = accessory.id
    taken.insert(level)
  }

  /// Removes an accessory's level and returns it.
  mutating func remove(_ id: UInt64) -> TopicLevel? {
    guard let level = levels.removeValue(forKey: id) else { return nil }
    if let place = placeOf.removeValue(forKey: id), places[place] == id { places[place] = nil }
    taken.remove(level)
    return level
  }
}
