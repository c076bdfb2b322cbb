// SPDX-License-Identifier: Apache-2.0

/// What a user calls an accessory, and where it is: "House battery", "Attic". Nothing is found or stored by it: an accessory's identity,
/// its topics and its history stay when it gets another name.
public struct GivenName: Codable, Sendable, Hashable {
  /// The name; nil where it has none.
  public var name: String?
  /// The place; nil where it has none.
  public var area: String?

  /// This name and this place.
  public init(name: String? = nil, area: String? = nil) { (self.name, self.area) = (name, area) }

  /// Whether it says nothing.
  public var isEmpty: Bool { name == nil && area == nil }

  /// The longest name and the longest place, in bytes of UTF-8.
  public static let byteLimit = 128

  /// Why the text can't be a name or a place: a sentence without its subject and its period. Nil where it can.
  package static func problem(of text: String) -> String? {
    if text.utf8.count > byteLimit { return "has more than \(byteLimit) bytes" }
    if !text.unicodeScalars.allSatisfy(SafeText.isHarmless) { return "has control characters" }
    if text.first == " " || text.last == " " { return "begins or ends with a space" }
    if text.hasPrefix("/") || text.hasPrefix(Device.keyWord) { return "would be taken for an address" }
    return nil
  }
}

extension Device {
  /// What to call it: the name that the user gave it, otherwise its identity.
  public var title: String { given?.name ?? id }

  /// The same with the identity, where the name isn't that: "House battery (SIM0001)".
  package var fullTitle: String { given?.name.map { "\($0) (\(id))" } ?? id }

  /// The same device with this name and this place, nil for none.
  package func called(_ given: GivenName?) -> Device {
    guard self.given != given else { return self }
    var device = self
    device.given = given
    return device
  }
}
