// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A value that was read from an accessory with a description.
public struct DescribedValue: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The value: a number in its unit, a text, a boolean, a list; `nothing` when the accessory doesn't know it, or sent
  /// something impossible.
  public var value: PlainValue
  /// The unit; nil if there is none.
  public var unit: String?
  /// The quantity; nil if the unit implies it, or there is none.
  public var quantity: String?
  /// What it is for programs that know devices of its kind: "ups.load"; nil where the description doesn't say.
  public var role: String?
  /// Whether only the description uses the value, so that it isn't shown to anybody.
  public var isHidden: Bool
  /// The raw number, before offset and scale; nil for texts. For a list, the raw number of its last element.
  public var raw: Int?

  /// A value of these parts.
  public init(
    _ name: String, _ value: PlainValue, unit: String? = nil, quantity: String? = nil, role: String? = nil,
    isHidden: Bool = false, raw: Int? = nil
  ) {
    (self.name, self.value, self.unit, self.quantity, self.role) = (name, value, unit, quantity, role)
    (self.isHidden, self.raw) = (isHidden, raw)
  }
}

/// The contents of a message.
public struct DecodedMessage: Sendable, Hashable {
  /// The index of the message in the description.
  public var message: Int
  /// The unit that sent it; nil where its protocol has none.
  public var unit: Int?
  /// The values in their order; each name occurs once.
  public var values: [DescribedValue] = []
  /// How many fields could not be read: the message ended before them, or their bytes are impossible or have no meaning
  /// in the description. The values of these fields are unknown.
  public var problemCount = 0

  /// Which numbers can't be: their values are unknown, and they count as problems, too.
  package var plausibility = Plausibility()

  /// A message without values.
  public init(message: Int) { self.message = message }

  /// The value with this name; nil if there is none.
  public subscript(name: String) -> DescribedValue? { values.first { $0.name == name } }

  /// Adds the contents of the next frame of the same reply. Lists are continued; other values are replaced.
  public mutating func join(_ piece: DecodedMessage) {
    problemCount += piece.problemCount
    plausibility.join(piece.plausibility)
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

  /// Shortens lists to `count` elements, as the last frame of a reply may be padded. A negative count changes nothing.
  public mutating func cutLists(to count: Int) {
    guard count >= 0 else { return }
    for place in values.indices {
      if case .list(let list) = values[place].value, list.count > count {
        values[place].value = .list(Array(list.prefix(count)))
      }
    }
  }
}
