// SPDX-License-Identifier: Apache-2.0

import AccessoryControl

/// An accessory of the mirror with the names that exporters use for it.
@dynamicMemberLookup
package struct ExportedAccessory: Sendable {
  /// The accessory's state.
  package var accessory: MirroredAccessory
  /// The id, made unique in a snapshot: a number is appended if another accessory has the same id.
  package var id: String
  /// The name for protocols that allow only letters, digits, "-" and "_". Unique in a snapshot.
  package var name: String

  package init(_ accessory: MirroredAccessory, id: String, name: String) {
    (self.accessory, self.id, self.name) = (accessory, id, name)
  }

  package subscript<Value>(dynamicMember path: WritableKeyPath<MirroredAccessory, Value>) -> Value {
    get { accessory[keyPath: path] }
    set { accessory[keyPath: path] = newValue }
  }

  package subscript<Value>(dynamicMember path: KeyPath<MirroredAccessory, Value>) -> Value { accessory[keyPath: path] }
}

/// The state of all accessories at one time.
package struct ReadingsSnapshot: Sendable {
  /// The accessories, sorted by name.
  package var accessories: [ExportedAccessory]
  /// The services, and whether each is connected.
  package var services: [MirrorSnapshot.Service]

  package init(accessories: [ExportedAccessory] = [], services: [MirrorSnapshot.Service] = []) {
    (self.accessories, self.services) = (accessories, services)
  }

  /// Whether this accessory's readings are fresh.
  package func freshness(of accessory: ExportedAccessory) -> MirrorSnapshot.Freshness {
    MirrorSnapshot(services: services).freshness(of: accessory.accessory)
  }
}

/// Assigns names to the mirror's accessories. An accessory keeps its names as long as it is known and has the same identity.
package struct ExportNames: Sendable {
  private var names: [UInt64: (device: String, id: String, name: String)] = [:]

  package init() {}

  package mutating func name(_ snapshot: MirrorSnapshot) -> ReadingsSnapshot {
    let known = Dictionary(uniqueKeysWithValues: snapshot.accessories.map { ($0.id, $0.device.id) })
    names = names.filter { known[$0.key] == $0.value.device }
    let new = snapshot.accessories.filter { names[$0.id] == nil }
    if !new.isEmpty {
      var (ids, taken) = (Set(names.values.map(\.id)), Set(names.values.map(\.name)))
      for accessory in new {
        let id = ExportName.free(accessory.device.id, separator: "#") { ids.contains($0) }
        let name = ExportName.free(ExportName.make(accessory.device.id), separator: "_") { taken.contains($0) }
        ids.insert(id)
        taken.insert(name)
        names[accessory.id] = (accessory.device.id, id, name)
      }
    }
    let named = snapshot.accessories.map { accessory in
      let (id, name) =
        names[accessory.id].map { ($0.id, $0.name) } ?? (accessory.device.id, ExportName.make(accessory.device.id))
      return ExportedAccessory(accessory, id: id, name: name)
    }
    return ReadingsSnapshot(accessories: named.sorted { $0.name < $1.name }, services: snapshot.services)
  }
}
