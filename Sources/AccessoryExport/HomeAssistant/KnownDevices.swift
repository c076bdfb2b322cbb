// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities

/// The accessories as devices of the native API. Home Assistant deletes entities that it isn't told of, with all that its user has set
/// for them, so what an accessory has had stays: while it is silent, while it is gone, and after a restart. It ends when its service
/// doesn't know the accessory any more. No clock, no I/O.
struct KnownDevices: Sendable {
  /// An accessory that was there at least once. It is kept on disk.
  private struct Known: Codable, Sendable, Hashable {
    var device: NativeBox.Device
    var entities: [NativeEntity] = []
  }

  /// What is to be done for an entity that is a command.
  struct Command: Sendable {
    var accessory: MirroredAccessory
    var entity: Entity
    var command: CommandDescription
    var argument: CommandDescription.Argument?
  }

  /// What is computed of an accessory that a service has told of.
  private struct Told: Sendable {
    var accessory: MirroredAccessory
    var isUp: Bool
    var facts: EntityFacts
    var entities: [(entity: Entity, id: NativeEntity.ID)] = []
  }

  private var known: [String: Known] = [:]
  /// How often what is kept on disk has changed.
  private(set) var changes = 0
  private var told: [String: Told] = [:]
  private var missingSince: [String: MonotonicTime] = [:]
  /// The states by device.
  private var states: [UInt32: [NativeEntity.ID: NativeState]] = [:]
  /// The states of commands that no reading tells, as they were set last.
  private var set: [NativeEntity.ID: NativeState] = [:]
  private var (attached, isServed) = (0, false)

  /// The most devices and entities that are kept of one accessory.
  private static let (deviceLimit, entityLimit) = (ReplyLimits.devices, 2_048)
  /// How long an accessory that its service doesn't know stays.
  static let patience = Duration.seconds(60)

  init() {}

  // MARK: - What is kept on disk

  /// Reads what `kept` has written. Throws for anything else.
  init(kept bytes: [UInt8]) throws {
    known = try JSON(bytes).decoded(as: [String: Known].self)
    guard known.count <= Self.deviceLimit, known.values.allSatisfy({ $0.entities.count <= Self.entityLimit }),
      Set(known.values.map(\.device.id)).count == known.count, known.values.allSatisfy({ $0.device.id != 0 })
    else { throw AccessoryError(.badData, "the devices of Home Assistant are not as they were written") }
  }

  var kept: [UInt8] { (try? JSON(encoding: known).bytes) ?? [] }

  // MARK: - What the services tell

  /// Takes the accessories of all services.
  mutating func take(_ snapshot: ReadingsSnapshot, at now: MonotonicTime) {
    attached = snapshot.accessories.count { $0.isConnected }
    isServed = !snapshot.services.isEmpty && snapshot.services.allSatisfy(\.isUp)
    var present: Set<String> = []
    for accessory in snapshot.accessories.sorted(by: { $0.accessory.id < $1.accessory.id }) {
      // Two services may have accessories of the same id.
      let id = accessory.device.id
      let identity = present.contains(id) ? "\(id) at \(accessory.device.place)" : id
      guard present.insert(identity).inserted, known[identity] != nil || known.count < Self.deviceLimit else {
        continue
      }
      missingSince[identity] = nil
      var state = accessory.accessory
      if snapshot.freshness(of: accessory) == .stale { state.isStale = true }
      let isUp = snapshot.services.contains { $0.path == state.service && $0.isUp }
      if let old = told[identity], old.isUp == isUp, old.accessory == state { continue }
      take(state, identity, isUp: isUp)
    }
    for identity in told.keys where !present.contains(identity) {
      told[identity] = nil
      if let device = known[identity]?.device.id { states[device] = nil }
    }
    forget(all: present, at: now)
  }

  private mutating func take(_ accessory: MirroredAccessory, _ identity: String, isUp: Bool) {
    let old = told[identity]
    var new = old ?? Told(accessory: accessory, isUp: isUp, facts: EntityFacts(accessory.device))
    (new.accessory, new.isUp) = (accessory, isUp)
    var last = accessory
    let readings = accessory.lastReadings
    (last.battery, last.status, last.identity) = (readings.battery, readings.status, readings.identity)
    new.facts.take(last)
    new.facts.take((readings.values ?? []).map(\.value))
    if let commands = accessory.commands { new.facts.commands = commands }
    if old?.facts != new.facts || (old?.accessory.commands == nil) != (accessory.commands == nil) {
      name(&new, identity)
    }
    var states: [NativeEntity.ID: NativeState] = [:]
    for (entity, id) in new.entities where isUp {
      states[id] = entity.state(of: accessory).map(NativeState.init) ?? set[id]
    }
    if let device = known[identity]?.device.id { self.states[device] = states }
    told[identity] = new
  }

  /// Makes the device and its entities of the facts.
  private mutating func name(_ new: inout Told, _ identity: String) {
    let old = known[identity]
    var device = old?.device ?? NativeBox.Device(id: number(for: identity), name: "")
    (device.name, device.area) = (new.facts.name, new.accessory.device.given?.area ?? "")
    var entities = NativeEntities(device.id, kept: old?.entities ?? [])
    new.entities = Entity.all(new.facts).compactMap { entity in entities.add(entity).map { (entity, $0) } }
    entities.addKept { !$0.isCommand || new.accessory.commands == nil }
    let now = Known(device: device, entities: Array(entities.all.prefix(Self.entityLimit)))
    guard now != old else { return }
    known[identity] = now
    changes += 1
  }

  /// A number that no other device has. The same identity has the same one, unless another has taken it.
  private func number(for identity: String) -> UInt32 {
    let taken = Set(known.values.map(\.device.id))
    var number = NativeEntity.key(identity)
    while taken.contains(number) || number == 0 { number &+= 1 }
    return number
  }

  private mutating func forget(all present: Set<String>, at now: MonotonicTime) {
    guard isServed else { return missingSince = [:] }
    for identity in known.keys where !present.contains(identity) {
      let since = missingSince[identity] ?? now
      missingSince[identity] = since
      guard now - since >= Self.patience else { continue }
      (known[identity], missingSince[identity]) = (nil, nil)
      changes += 1
    }
  }

  /// When the next accessory that its service doesn't know is forgotten; nil for none.
  var forgetTime: MonotonicTime? { missingSince.values.min().map { $0 + Self.patience } }

  // MARK: - Commands

  /// What is to be done for an entity of a client; nil where it isn't there any more.
  func command(_ id: NativeEntity.ID) -> Command? {
    for told in told.values {
      guard let entity = told.entities.first(where: { $0.id == id })?.entity else { continue }
      guard case .command(let command, let argument) = entity.source else { return nil }
      return Command(accessory: told.accessory, entity: entity, command: command, argument: argument)
    }
    return nil
  }

  /// A command was carried out.
  mutating func took(_ value: EntityState, of id: NativeEntity.ID) {
    set[id] = NativeState(value)
    if states[id.device]?[id] == nil { states[id.device, default: [:]][id] = set[id] }
  }

  // MARK: - What clients are told

  /// The devices and entities with their states, in `box`.
  func fill(_ box: inout NativeBox) {
    let all = known.values.sorted { $0.device.id < $1.device.id }
    box.devices = all.map(\.device)
    let own = Self.own
    box.entities = own + all.flatMap(\.entities)
    box.states = states.values.reduce(into: [:]) { all, some in all.merge(some) { first, _ in first } }
    box.states[own[0].id] = .number(Float(attached))
    box.states[own[1].id] = .flag(isServed)
    // Of what no service tells, one thing is known: it isn't connected. Where no service answers, not even that.
    for entity in box.entities
    where isServed && entity.key == NativeEntities.connectedKey && box.states[entity.id] == nil {
      box.states[entity.id] = .flag(false)
    }
  }

  /// The entities of the machine itself.
  private static let own = [
    NativeEntity(
      device: 0, key: NativeEntity.key("attached"), name: "Attached accessories",
      kind: .sensor(unit: "", decimals: 0, stateClass: .measurement)),
    NativeEntity(
      device: 0, key: NativeEntity.key("service"), name: "Service", kind: .binarySensor, deviceClass: "connectivity",
      category: .diagnostic),
  ]
}
