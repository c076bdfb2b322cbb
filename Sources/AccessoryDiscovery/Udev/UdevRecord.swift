// SPDX-License-Identifier: Apache-2.0

/// The data of one kernel device in sysfs and udev's database.
struct UdevRecord: Sendable, Hashable {
  /// The kinds of devices that are read.
  enum Kind: Sendable, Hashable {
    /// A USB device.
    case device
    /// An interface of a USB device.
    case interface
    case terminal
    /// The reports of a human interface device.
    case hid
  }

  var kind: Kind
  /// The device's directory below /sys, which identifies it.
  var devpath: String
  /// Distinguishes devices that have the same devpath one after another: the inode of the directory, which the kernel
  /// creates anew.
  var instance: UInt64
  /// The node below /dev.
  var node: String?
  /// The driver that is bound to the device.
  var driver: String?
  /// Whether udev's rules have been applied to the device.
  var isInitialized = false
  /// The properties in udev's database, of those that are used here.
  var properties = UdevProperties()
  /// The contents of small files in the device's directory, of those that are used here, without the final newline.
  var attributes: [String: String] = [:]
  /// The descriptors of a USB device, or the report descriptor of a human interface device.
  var descriptors: [UInt8] = []

  /// The last part of the devpath.
  var name: Substring { devpath.split(separator: "/").last ?? "" }

  /// Whether this device's directory is `path` or lies below it.
  func isAtOrBelow(_ path: String) -> Bool { devpath == path || devpath.hasPrefix(path + "/") }

  /// An attribute as a number.
  func number(_ attribute: String, radix: Int = 10) -> Int? {
    attributes[attribute].flatMap { Int($0.drop { $0 == " " }, radix: radix) }
  }
}

/// The properties that udev gives to a device, of those that are used here. The texts come from the device: they are
/// cut to a length, and nothing relies on their contents.
struct UdevProperties: Sendable, Hashable {
  /// The names of the properties that are kept.
  static let names = [
    "DEVLINKS", "ID_VENDOR_ENC", "ID_MODEL_ENC", "ID_SERIAL_SHORT", "ID_VENDOR_FROM_DATABASE", "ID_MODEL_FROM_DATABASE",
    "ID_MM_CANDIDATE", "ID_MM_DEVICE_IGNORE", "ID_MM_PORT_IGNORE", "BRLTTY_BRAILLE_DRIVER",
  ]
  /// The most bytes that are kept of a property: a USB string has at most 126 UTF-16 units, and udev writes each byte
  /// as four.
  static let limit = 2_048

  private var values: [String: String] = [:]

  subscript(name: String) -> String? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// The links to the node, sorted; at most 32.
  var links: [String] {
    (values["DEVLINKS"] ?? "").split(separator: " ").map(String.init).filter { $0.hasPrefix("/dev/") }.prefix(32)
      .sorted()
  }

  /// A property in which udev has escaped bytes, like `\x20`.
  func decoded(_ name: String) -> String? { values[name].map(UdevText.decode) }
}

/// Texts of devices as udev and sysfs provide them.
enum UdevText {
  /// The most characters that are kept of a text; a USB string has no more UTF-16 units.
  static let limit = 126

  /// Decodes escapes like `\x20`, and cuts the text. Invalid UTF-8 becomes U+FFFD.
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

  /// The text without surrounding blanks, cut to the length that a device can report; nil when it is empty.
  static func clean(_ text: String?) -> String? {
    guard let text else { return nil }
    let cut = cut(text.drop { $0 == " " || $0 == "\n" })
    let trimmed = cut.reversed().drop { $0 == " " || $0 == "\n" || $0 == "\0" }.reversed()
    return trimmed.isEmpty ? nil : String(trimmed)
  }

  /// Counts scalars, because a character may consist of any number of them.
  private static func cut(_ text: some StringProtocol) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit)))
  }
}
