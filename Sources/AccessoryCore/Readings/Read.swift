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
  /// What belongs to the reading of several values. Most readings are of one value and have none of it.
  private var beside: Boxed<Beside>?

  /// A value of this age.
  public init(_ value: Value, age: Duration? = nil, isStale: Bool = false) {
    self.value = value
    self.age = age
    self.isStale = isStale
  }

  /// What it lacks, because the accessory didn't send it in time or refused it, or because it can't be: a sentence without its period.
  /// Nil where nothing is known to be missing.
  public var missing: String? {
    get { beside?.wrappedValue.missing }
    set { change { $0.missing = newValue } }
  }
  /// The accessory's raised alarms; nil where no service watches the accessory.
  public var alarms: [AccessoryAlarm]? {
    get { beside?.wrappedValue.alarms }
    set { change { $0.alarms = newValue } }
  }
  /// The rules whose alarms are never raised; nil where no service watches the accessory.
  public var unfitAlarms: [UnfitAlarm]? {
    get { beside?.wrappedValue.unfitAlarms }
    set { change { $0.unfitAlarms = newValue } }
  }

  private mutating func change(_ body: (inout Beside) -> Void) {
    var all = beside?.wrappedValue ?? Beside()
    body(&all)
    beside = all == Beside() ? nil : Boxed(wrappedValue: all)
  }

  /// The same reading, which also lacks this; nil for nothing.
  package func lacking(_ text: String?) -> Read {
    guard let text, text != missing else { return self }
    var read = self
    read.missing = missing.map { "\($0); \(text)" } ?? text
    return read
  }

  /// A part of what was read: `read.percent` is `read.value.percent`.
  public subscript<Part>(dynamicMember part: KeyPath<Value, Part>) -> Part { value[keyPath: part] }

  /// The same age, and what else belongs to the reading, for another value that was read with this one.
  public func map<Other, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Other
  ) throws(Failure) -> Read<Other> {
    var other = Read<Other>(try transform(value), age: age, isStale: isStale)
    other.beside = beside
    return other
  }
}

/// What belongs to a reading beside its value.
private struct Beside: Sendable, Hashable {
  var missing: String?
  var alarms: [AccessoryAlarm]?
  var unfitAlarms: [UnfitAlarm]?
}

extension Read: Sendable where Value: Sendable {}
extension Read: Equatable where Value: Equatable {}
extension Read: Hashable where Value: Hashable {}
