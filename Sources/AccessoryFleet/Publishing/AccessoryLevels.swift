// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

/// The levels in topics of a service's accessories, by their places. No two accessories have the same one.
struct AccessoryLevels: Sendable {
  private var levels: [String: TopicLevel] = [:]
  /// The levels that accessories have.
  private(set) var taken: Set<TopicLevel> = []

  /// The level of the accessory at this place; nil where there is none.
  subscript(place: String) -> TopicLevel? { levels[place] }

  /// The level that an accessory has, or would get: that of its id, unless another accessory has it.
  func level(of device: Bridge.Device) -> TopicLevel {
    if let known = levels[device.place] { return known }
    let plain = TopicLevel(naming: device.id)
    return taken.contains(plain) ? TopicLevel(naming: device.id, at: device.place) : plain
  }

  /// Gives an accessory its level.
  mutating func add(_ device: Bridge.Device) {
    let level = level(of: device)
    levels[device.place] = level
    taken.insert(level)
  }

  /// Takes the level away from the accessory at this place, and returns it.
  mutating func remove(_ place: String) -> TopicLevel? {
    guard let level = levels.removeValue(forKey: place) else { return nil }
    taken.remove(level)
    return level
  }
}
