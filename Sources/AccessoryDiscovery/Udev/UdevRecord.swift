// SPDX-License-Identifier: Apache-2.0

/// The data of one kernel device in sysfs and udev's database.
struct UdevRecord: Sendable, Hashable {
  /// The kinds that are looked at.
  enum Kind: Sendable, Hashable {
    /// A device on USB.
    case device
    /// An interface of one.
    case interface
    /// A terminal.
    case terminal
  }

  var kind: Kind
  /// Its directory below /sys; what it is known by.
  var devpath: String
  /// Another for one that took its place under the same devpath: the inode of its directory, which the kernel makes anew.
  var instance: UInt64
  /// Its node below /dev.
  var node: String?
  /// The driver that has it.
  var driver: String?
  /// Whether udev's rules have been applied to it.
  var isInitialized = false
  /// What udev knows of it, of what is used here.
  var properties = UdevProperties()
  /// Small files of its directory, of those that are used here, without the newline in the end.
  var attributes: [String: String] = [:]
  /// Its descriptors, of a device on USB.
  var descriptors: [UInt8] = []

  /// The last part of the devpath.
  var name: Substring { devpath.split(separator: "/").last ?? "" }

  /// Whether this is `path` or lies below it.
  func isAtOrBelow(_ path: String) -> Bool { devpath == path || devpath.hasPrefix(path + "/") }

  /// An attribute as a number.
  func number(_ attribute: String, radix: Int = 10) -> Int? {
    attributes[attribute].flatMap { Int($0.drop { $0 == " " }, radix: radix) }
  }
}

/// Properties that udev gives to a device, of those that are used here. The texts come from the device: they are cut to
/// a length, and say nothing that is relied on.
struct UdevProperties: Sendable, Hashable {
  /// The names of the properties that are kept.
  static let names = [
    "DEVLINKS", "ID_VENDOR_ENC", "ID_MODEL_ENC", "ID_SERIAL_SHORT", "ID_VENDOR_FROM_DATABASE", "ID_MODEL_FROM_DATABASE",
    "ID_MM_CANDIDATE", "ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE", "BRLTTY_BRAILLE_DRIVER",
  ]
  /// Bytes that are kept of one: a string of USB has at most 126 UTF-16 units, of which udev writes each byte as four.
  static let limit = 2_048

  private var values: [String: String] = [:]

  subscript(name: String) -> String? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// The links to the node, sorted; not more than 32.
  var links: [String] {
    (values["DEVLINKS"] ?? "").split(separator: " ").map(String.init).filter { $0.hasPrefix("/dev/") }.prefix(32)
      .sorted()
  }

  /// A text in which udev has written bytes as `\x20`.
  func decoded(_ name: String) -> String? { values[name].map(UdevText.decode) }
}

/// Texts of devices as udev and sysfs hand them on.
enum UdevText {
  /// Characters of a text that are kept; a string of USB has no more UTF-16 units.
  static let limit = 126

  /// Undoes `\x20`, and cuts. What is no UTF-8 becomes U+FFFD.
  static func decode(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3, rest.first == UInt8(ascii: "x"),
        rest[rest.startIndex + 1] != UInt8(ascii: "+"),
        let value = UInt8(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return cut(String(decoding: bytes, as: UTF8.self))
  }

  /// The text without blanks around it, and no more of it than a device can have said; nil for an empty one.
  static func clean(_ text: String?) -> String? {
    guard let text else { return nil }
    let cut = cut(text.drop { $0 == " " || $0 == "\n" })
    let trimmed = cut.reversed().drop { $0 == " " || $0 == "\n" || $0 == "\0" }.reversed()
    return trimmed.isEmpty ? nil : String(trimmed)
  }

  /// Scalars are counted: a character may have any number of them.
  private static func cut(_ text: some StringProtocol) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
  }
}
