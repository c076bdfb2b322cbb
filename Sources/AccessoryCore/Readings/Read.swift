// SPDX-License-Identifier: Apache-2.0

/// Something that was read from an accessory, and how old it is.
@dynamicMemberLookup
public struct Read<Value> {
  /// What was read.
  public var value: Value
  /// The time since it was read, or since the accessory reported it; nil where that isn't known.
  public var age: Duration?
  /// Whether it is older than it should be: the accessory has stopped answering or reporting, or has gone.
  public var isStale: Bool

  /// A value of this age.
  public init(_ value: Value, age: Duration? = nil, isStale: Bool = false) {
    self.value = value
    self.age = age
    self.isStale = isStale
  }

  /// A part of what was read: `read.percent` is `read.value.percent`.
  public subscript<Part>(dynamicMember part: KeyPath<Value, Part>) -> Part { value[keyPath: part] }

  /// The same age for another value that was read with this one.
  public func map<Other, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Other
  ) throws(Failure) -> Read<Other> {
    Read<Other>(try transform(value), age: age, isStale: isStale)
  }
}

extension Read: Sendable where Value: Sendable {}
extension Read: Equatable where Value: Equatable {}
extension Read: Hashable where Value: Hashable {}
