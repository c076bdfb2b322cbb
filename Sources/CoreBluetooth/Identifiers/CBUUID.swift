// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CoreFoundation
import Foundation

/// The UUID of a service, a characteristic or a descriptor, of 16, 32 or 128 bits.
///
/// The forms are one value: `FFE1`, `0000FFE1` and `0000FFE1-0000-1000-8000-00805F9B34FB` are equal. `uuidString` is
/// the shortest one.
///
/// `@unchecked Sendable`: its only stored property never changes. A class that others may inherit from can't be checked.
open class CBUUID: NSObject, NSCopying, @unchecked Sendable {
  /// In the shortest form: 2, 4 or 16 bytes, the highest first.
  private let bytes: [UInt8]

  /// The bytes after the 32 bits of a short number.
  private static let base: [UInt8] = [0, 0, 0x10, 0, 0x80, 0, 0, 0x80, 0x5F, 0x9B, 0x34, 0xFB]

  /// The UUID in a text: 4, 8 or 32 hexadecimal digits, the last with hyphens (8-4-4-4-12), with or without `0x` in front.
  ///
  /// Any other text ends the program, like the exception on Apple's systems, with the same words. For a user's text use
  /// `init(validating:)`.
  public convenience init(string theString: String) {
    guard let bytes = Self.bytes(of: theString) else {
      fatalError(
        "CBUUID(string:): String \(SafeText.escape(theString)) does not represent a valid UUID, which has 4, 8 or 32 "
          + "hexadecimal digits, the last with hyphens")
    }
    self.init(bytes)
  }

  /// The UUID 0000, which is nothing's: for sources that need some object.
  public override convenience init() { self.init([0, 0]) }

  /// The UUID that this text says; nil for any other text. Apple's framework doesn't have this.
  public convenience init?(validating text: String) {
    guard let bytes = Self.bytes(of: text) else { return nil }
    self.init(bytes)
  }

  /// The UUID with these 2, 4 or 16 bytes, the highest first. Any other number of bytes ends the program.
  public convenience init(data theData: Data) {
    guard [2, 4, 16].contains(theData.count) else {
      fatalError("CBUUID(data:): Data of \(theData.count) bytes does not represent a valid UUID, which has 2, 4 or 16")
    }
    self.init(Array(theData))
  }

  /// The UUID with the 128 bits of `theUUID`.
  public convenience init(nsuuid theUUID: UUID) {
    self.init(withUnsafeBytes(of: theUUID.uuid) { Array($0) })
  }

  /// The UUID with the 128 bits of `theUUID`.
  public convenience init(cfuuid theUUID: CFUUID) {
    self.init(withUnsafeBytes(of: CFUUIDGetUUIDBytes(theUUID)) { Array($0) })
  }

  /// The UUID in BlueZ's form.
  convenience init(_ uuid: BluetoothUUID) { self.init(Self.bytes(of: uuid.text) ?? [0, 0]) }

  /// From 2, 4 or 16 bytes.
  private init(_ bytes: [UInt8]) {
    var short = bytes[...]
    if short.count == 16, short.suffix(12).elementsEqual(Self.base) { short = short.prefix(4) }
    if short.count == 4, short.prefix(2).elementsEqual([0, 0]) { short = short.suffix(2) }
    self.bytes = Array(short)
  }

  private static func bytes(of text: String) -> [UInt8]? {
    let digits = text.prefix(2).lowercased() == "0x" ? text.dropFirst(2) : text[...]
    return BluetoothUUID(digits).flatMap { Hexadecimal.bytes($0.text.filter { $0 != "-" }) }
  }

  /// The bytes in the shortest form, the highest first: 2, 4 or 16.
  open var data: Data { Data(bytes) }

  /// The digits in the shortest form, in upper case: `FFE1`, or all 32 with hyphens.
  open var uuidString: String {
    var text = bytes.map { Hexadecimal.string($0) }.joined().uppercased()
    guard bytes.count == 16 else { return text }
    for place in [20, 16, 12, 8] { text.insert("-", at: text.index(text.startIndex, offsetBy: place)) }
    return text
  }

  /// For people: the name of what Apple's framework names, such as `Heart Rate`, and otherwise the digits.
  open override var description: String { AssignedNames.name(of: uuidString) ?? uuidString }

  /// BlueZ's form.
  var bluetooth: BluetoothUUID {
    // Each form can be parsed.
    BluetoothUUID(uuidString) ?? BluetoothUUID(short: 0)
  }

  /// Whether both are the same UUID, in any form.
  open override func isEqual(_ object: Any?) -> Bool { (object as? CBUUID)?.bytes == bytes }

  /// Equal UUIDs have equal numbers.
  open override var hash: Int { bytes.hashValue }

  /// Itself: a UUID never changes.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The descriptor with more properties of its characteristic.
public let CBUUIDCharacteristicExtendedPropertiesString = "2900"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The descriptor with a text about its characteristic.
public let CBUUIDCharacteristicUserDescriptionString = "2901"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The descriptor that turns notifications for this central on.
public let CBUUIDClientCharacteristicConfigurationString = "2902"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The descriptor that turns broadcasts of the value on.
public let CBUUIDServerCharacteristicConfigurationString = "2903"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The descriptor with the format of the value.
public let CBUUIDCharacteristicFormatString = "2904"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The descriptor that names several formats.
public let CBUUIDCharacteristicAggregateFormatString = "2905"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The descriptor with the smallest and the largest value.
public let CBUUIDCharacteristicValidRangeString = "2906"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The descriptor that says when a device looks at something.
public let CBUUIDCharacteristicObservationScheduleString = "2910"
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The characteristic with the number of an L2CAP channel.
public let CBUUIDL2CAPPSMCharacteristicString = "ABDD3056-28FA-441D-A470-55A75A52553A"
