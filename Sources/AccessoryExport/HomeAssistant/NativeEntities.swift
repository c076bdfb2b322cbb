// SPDX-License-Identifier: Apache-2.0

import AccessoryEntities

/// The entities of one device, while they are gathered: no two have the same number or, of one kind, the same name.
struct NativeEntities {
  static let connectedKey = NativeEntity.key("connected")

  private let device: UInt32
  private let kept: [NativeEntity]
  private(set) var all: [NativeEntity] = []
  private var ids: Set<NativeEntity.ID> = []
  private var names: Set<[String]> = []

  init(_ device: UInt32, kept: [NativeEntity]) { (self.device, self.kept) = (device, kept) }

  /// Adds an entity, and returns its number; nil where another has it.
  mutating func add(_ entity: Entity) -> NativeEntity.ID? {
    var native = NativeEntity(entity, device: device)
    if let old = kept.first(where: { $0.id == native.id }) { native.keepDecimals(of: old) }
    return add(native) ? native.id : nil
  }

  /// Adds those that were known before, if they are to stay.
  mutating func addKept(where stays: (NativeEntity) -> Bool) {
    for entity in kept where !ids.contains(entity.id) && stays(entity) { _ = add(entity) }
  }

  private mutating func add(_ entity: NativeEntity) -> Bool {
    guard ids.insert(entity.id).inserted else { return false }
    var (entity, number) = (entity, 1)
    let name = entity.name
    while !names.insert(["\(entity.id.kind)", entity.name.lowercased()]).inserted {
      number += 1
      entity.name = "\(name) \(number)"
    }
    all.append(entity)
    return true
  }
}
