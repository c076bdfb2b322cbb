// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A value that was read from an accessory by a description.
public struct DescribedValue: Sendable, Hashable {
  /// What it is called.
  public var name: String
  /// What it is: a number in its unit, a text, a truth, a list; `nothing` when the accessory doesn't know it, or sent what
  /// can't be.
  public var value: PlainValue
  /// What it is counted in.
  public var unit: String?
  /// What it measures.
  public var quantity: String?
  /// Whether it is for the description's own use.
  public var isHidden: Bool
  /// The number that was sent, before offset and scale; nil for texts. Of lists the last one's.
  public var raw: Int?

  /// A value of these parts.
  public init(
    _ name: String, _ value: PlainValue, unit: String? = nil, quantity: String? = nil, isHidden: Bool = false,
    raw: Int? = nil
  ) {
    (self.name, self.value, self.unit, self.quantity) = (name, value, unit, quantity)
    (self.isHidden, self.raw) = (isHidden, raw)
  }
}

/// What a message says.
public struct DecodedMessage: Sendable, Hashable {
  /// The message, by its place in the description.
  public var message: Int
  /// The unit that sent it; nil where its protocol has none.
  public var unit: Int?
  /// Its values in their order; no name is there twice.
  public var values: [DescribedValue] = []
  /// Fields that could not be read: the message ended before them, or what was sent can't be, or has no
  /// meaning in the description. They are unknown.
  public var problems = 0

  /// A message that says nothing yet.
  public init(message: Int) { self.message = message }

  /// The value of this name.
  public subscript(name: String) -> DescribedValue? { values.first { $0.name == name } }

  /// Adds what the next frame of the same reply says: lists go on, of all else the last counts.
  public mutating func join(_ piece: DecodedMessage) {
    problems += piece.problems
    for value in piece.values {
      guard let place = values.firstIndex(where: { $0.name == value.name }) else {
        values.append(value)
        continue
      }
      if case .list(let more) = value.value, case .list(let earlier) = values[place].value {
        values[place].value = .list(earlier + more)
      } else {
        values[place] = value
      }
    }
  }

  /// Cuts lists to `count` values, as the last frame of a reply may be filled up. A negative count cuts nothing.
  public mutating func cutLists(to count: Int) {
    guard count >= 0 else { return }
    for place in values.indices {
      if case .list(let list) = values[place].value, list.count > count {
        values[place].value = .list(Array(list.prefix(count)))
      }
    }
  }
}
