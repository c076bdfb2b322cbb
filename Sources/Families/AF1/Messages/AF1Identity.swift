// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// The reply to IDENTIFY: six texts, each ended by a zero byte.
public struct AF1Identity: AF1Payload {
  /// The longest text that is read or written, in bytes of UTF-8.
  ///
  /// A longer text is an error and is not cut short: a cut serial number could equal the one of another accessory. The
  /// specification sets no limit; without one a host would have to keep and show a name of up to 65,535 bytes.
  public static let longestText = 256

  /// The name of the manufacturer.
  public var manufacturer: String
  /// The name that the user gave the accessory.
  public var name: String
  /// The name of the product.
  public var model: String
  /// The serial number.
  public var serialNumber: String
  /// The version of its firmware.
  public var firmwareVersion: String
  /// The version of its hardware.
  public var hardwareVersion: String

  /// An identity with these texts.
  public init(
    manufacturer: String, name: String, model: String, serialNumber: String, firmwareVersion: String,
    hardwareVersion: String
  ) {
    self.manufacturer = manufacturer
    self.name = name
    self.model = model
    self.serialNumber = serialNumber
    self.firmwareVersion = firmwareVersion
    self.hardwareVersion = hardwareVersion
  }

  /// Reads six texts; invalid UTF-8 is repaired with U+FFFD. Bytes behind the sixth text are ignored.
  ///
  /// - Throws: `AF1PayloadError.textNotEnded` or `AF1PayloadError.textTooLong`.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    var offset = 0
    var texts: [String] = []
    for index in 0..<6 {
      let end = ByteSearch.firstIndex(of: 0, in: payload, from: offset)
      guard end < payload.byteCount else { throw .textNotEnded(index: index) }
      texts.append(try payload.text(offset..<end))
      offset = end + 1
    }
    self.init(
      manufacturer: texts[0], name: texts[1], model: texts[2], serialNumber: texts[3], firmwareVersion: texts[4],
      hardwareVersion: texts[5])
  }

  /// Appends the six texts.
  ///
  /// - Throws: `AF1PayloadError.textTooLong` or `AF1PayloadError.textContainsZero`.
  public func encode(into output: inout [UInt8]) throws(AF1PayloadError) {
    let texts = [manufacturer, name, model, serialNumber, firmwareVersion, hardwareVersion]
    for text in texts { try AF1Text.check(text) }
    for text in texts {
      output.append(contentsOf: text.utf8)
      output.append(0)
    }
  }
}

/// The rules for text in payloads.
enum AF1Text {
  /// Checks a text.
  ///
  /// - Throws: `AF1PayloadError` if `text` is too long or contains a zero byte.
  static func check(_ text: String) throws(AF1PayloadError) {
    guard text.utf8.count <= AF1Identity.longestText else {
      throw .textTooLong(byteCount: text.utf8.count, maximum: AF1Identity.longestText)
    }
    guard !text.utf8.contains(0) else { throw .textContainsZero }
  }
}

extension RawSpan {
  /// The bytes of `range` as UTF-8; invalid UTF-8 is repaired with U+FFFD.
  ///
  /// - Throws: `AF1PayloadError.textTooLong` if there are more than `AF1Identity.longestText`.
  func text(_ range: Range<Int>) throws(AF1PayloadError) -> String {
    guard range.count <= AF1Identity.longestText else {
      throw .textTooLong(byteCount: range.count, maximum: AF1Identity.longestText)
    }
    return String(decoding: [UInt8](copying: extracting(range)), as: UTF8.self)
  }
}
