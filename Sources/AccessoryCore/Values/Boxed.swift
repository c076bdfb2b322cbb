// SPDX-License-Identifier: Apache-2.0

/// A large value that copies share until one of them changes.
///
/// A structure with many strings and arrays costs much where it is a part of others: each type that contains it gets code of its own to
/// copy, assign and destroy each of its parts, in the program and in the time to compile it. In a box it is one reference.
@propertyWrapper
package struct Boxed<Value: Sendable>: Sendable {
  // Sendable without the compiler's check, because `value` changes only in `_modify` and `set`, while no other box has the storage.
  @usableFromInline
  final class Storage: @unchecked Sendable {
    @usableFromInline var value: Value

    @usableFromInline
    init(_ value: Value) { self.value = value }
  }

  @usableFromInline var storage: Storage

  @inlinable
  package init(wrappedValue: Value) { storage = Storage(wrappedValue) }

  @inlinable
  package var wrappedValue: Value {
    get { storage.value }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
      yield &storage.value
    }
  }
}

extension Boxed: Equatable where Value: Equatable {
  @inlinable
  package static func == (one: Boxed, other: Boxed) -> Bool {
    one.storage === other.storage || one.storage.value == other.storage.value
  }
}

extension Boxed: Hashable where Value: Hashable {
  @inlinable
  package func hash(into hasher: inout Hasher) { storage.value.hash(into: &hasher) }
}
