// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// A broker's messages about a fleet, in bounded memory. They are decoded only when needed.
package struct FleetStore: Sendable {
  /// An accessory of a gateway.
  package struct Key: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var gateway: TopicLevel
    package var accessory: TopicLevel

    package init(_ gateway: TopicLevel, _ accessory: TopicLevel) {
      (self.gateway, self.accessory) = (gateway, accessory)
    }

    /// The key as a user writes it: `GATEWAY:ID`.
    package var description: String { "\(gateway):\(accessory)" }

    package static func < (first: Key, second: Key) -> Bool {
      (first.gateway, first.accessory) < (second.gateway, second.accessory)
    }
  }

  /// What is known about an accessory.
  struct Entry: Sendable {
    /// Whether it is attached to its gateway; nil until the broker has sent that.
    var isAvailable: Bool?
    var state: [UInt8]?
    var values: [UInt8]?

    var isEmpty: Bool { isAvailable == nil && state == nil && values == nil }
    var size: Int { (state?.count ?? 0) + (values?.count ?? 0) }
  }

  /// The limits of a store.
  package struct Limits: Sendable, Hashable {
    /// The most gateways, and the most accessories.
    package var gateways = 8_192
    package var accessories = 65_536
    /// The most bytes of all messages.
    package var bytes = 256 << 20

    package init() {}
  }

  /// The gateways, and whether each is connected to the broker.
  package private(set) var gateways: [TopicLevel: Bool] = [:]
  private(set) var entries: [Key: Entry] = [:]
  private var byteCount = 0
  /// Gateways and accessories that the broker hasn't sent again since `renew`.
  private var unconfirmedGateways: Set<TopicLevel> = []
  private var unconfirmedKeys: Set<Key> = []
  private let limits: Limits
  /// The number of dropped messages: too many, too large or invalid for their topics.
  package private(set) var dropped = 0

  /// An empty store.
  package init(_ limits: Limits = Limits()) { self.limits = limits }

  /// The accessories, in order.
  package var keys: [Key] { entries.keys.sorted() }

  /// Takes a message. Returns the accessory or gateway that it changes; nil if it changes nothing.
  package mutating func take(_ topic: FleetTopic, _ payload: [UInt8]) -> FleetChange? {
    switch topic {
    case .gateway(let gateway, .availability):
      guard let isOnline = availability(payload) else { return nil }
      guard gateways[gateway] != nil || gateways.count < limits.gateways else { return drop() }
      unconfirmedGateways.remove(gateway)
      guard gateways.updateValue(isOnline, forKey: gateway) != isOnline else { return nil }
      return .gateway(gateway, isOnline: isOnline)
    case .accessory(let gateway, let accessory, let part):
      unconfirmedKeys.remove(Key(gateway, accessory))
      return take(Key(gateway, accessory), part, payload)
    case .gateway(_, .info), .command: return nil
    }
  }

  private mutating func take(_ key: Key, _ part: FleetTopic.AccessoryPart, _ payload: [UInt8]) -> FleetChange? {
    guard entries[key] != nil || entries.count < limits.accessories else { return drop() }
    let old = entries[key] ?? Entry()
    var entry = old
    // An empty message: the gateway has deleted the retained message.
    let isRemoved = payload.isEmpty
    switch part {
    case .availability:
      if isRemoved {
        entry.isAvailable = nil
      } else {
        guard let isAvailable = availability(payload) else { return nil }
        entry.isAvailable = isAvailable
      }
      guard entry.isAvailable != old.isAvailable else { return nil }
    case .state:
      guard payload.count <= FleetLimits.documentBytes else { return drop() }
      entry.state = isRemoved ? nil : payload
      guard entry.state != old.state else { return nil }
    case .values:
      guard payload.count <= FleetLimits.valuesBytes else { return drop() }
      entry.values = isRemoved ? nil : payload
      guard entry.values != old.values else { return nil }
    case .event: return nil
    }
    guard byteCount - old.size + entry.size <= limits.bytes else { return drop() }
    byteCount += entry.size - old.size
    entries[key] = entry.isEmpty ? nil : entry
    return .accessory(key, part)
  }

  // MARK: - A broker that has forgotten

  /// Starts a renewal: the broker sends all retained messages again. `endRenewal` removes those that it doesn't send.
  mutating func renew() { (unconfirmedGateways, unconfirmedKeys) = (Set(gateways.keys), Set(entries.keys)) }

  /// Ends a renewal: the broker and its publishers have had time to send everything. Removes what they haven't sent since `renew`,
  /// and returns the changes.
  mutating func endRenewal() -> [FleetChange] {
    var changes: [FleetChange] = []
    for key in unconfirmedKeys.sorted() {
      guard let entry = entries.removeValue(forKey: key) else { continue }
      byteCount -= entry.size
      changes.append(.accessory(key, .availability))
    }
    for gateway in unconfirmedGateways.sorted() where gateways.removeValue(forKey: gateway) != nil {
      changes.append(.gateway(gateway, isOnline: false))
    }
    (unconfirmedGateways, unconfirmedKeys) = ([], [])
    return changes
  }

  private mutating func availability(_ payload: [UInt8]) -> Bool? {
    if payload == Array(FleetTopics.online.utf8) { return true }
    if payload == Array(FleetTopics.offline.utf8) || payload.isEmpty { return false }
    dropped += 1
    return nil
  }

  private mutating func drop() -> FleetChange? {
    dropped += 1
    return nil
  }

  /// The accessory's current state; nil if the broker has no valid state for it.
  package func accessory(_ key: Key) -> FleetAccessory? {
    guard let entry = entries[key], let bytes = entry.state, let state = try? FleetState(bytes) else { return nil }
    let isOnline = gateways[key.gateway] ?? false
    var accessory = state.accessory
    accessory.isConnected = isOnline && entry.isAvailable ?? accessory.isConnected
    return FleetAccessory(key: key, isOnline: isOnline, state: accessory, valuesBytes: entry.values)
  }
}

/// A change in a fleet.
package enum FleetChange: Sendable, Hashable {
  case gateway(TopicLevel, isOnline: Bool)
  case accessory(FleetStore.Key, FleetTopic.AccessoryPart)
}

/// An accessory of a fleet: what its gateway has published, and its position in the fleet.
package struct FleetAccessory: Sendable {
  /// Its gateway and its level.
  package let key: FleetStore.Key
  /// Whether its gateway is connected to the broker.
  package let isOnline: Bool
  /// Its description, whether it can be reached now, and its last readings. Its times count from 1970.
  package let state: MirroredAccessory
  fileprivate let valuesBytes: [UInt8]?

  /// The values that it measures; nil if the broker has no valid ones.
  package var values: FleetValues? { valuesBytes.flatMap { try? FleetValues($0) } }

  /// Whether its readings may be outdated: it can't be reached, or its gateway says so.
  package var isStale: Bool { !state.isConnected || state.isStale }

  /// Whether `name` names this accessory: its id, its serial number, its name, or its topic level.
  package func isNamed(_ name: String) -> Bool {
    let device = state.device
    return name == device.id || name == key.accessory.text
      || [device.serialNumber, device.name, state.identity?.name, state.identity?.serialNumber].contains {
        $0 == name && !name.isEmpty
      }
  }

  /// Whether `name` is the beginning of its id.
  package func isNamed(beginning name: String) -> Bool {
    !name.isEmpty && (state.device.id.hasPrefix(name) || key.accessory.text.hasPrefix(name))
  }
}
