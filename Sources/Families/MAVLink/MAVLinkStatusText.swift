// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// STATUSTEXT: a text for people, or a piece of one.
public struct MAVLinkStatusText: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 253
  /// The size of the text field, in bytes.
  public static let byteCount = 50

  /// The severity, from 0, an emergency, to 7, a message for developers.
  public var severity: UInt8
  /// The bytes of the text as they were received: at most 50, without zeros.
  public var bytes: [UInt8]
  /// The number of the text that this is a piece of; 0 for a text in one piece. An extension.
  public var id: UInt16 = 0
  /// The number of the piece, from 0. An extension.
  public var piece: UInt8 = 0

  /// A text, cut at 50 bytes.
  public init(_ text: String, severity: UInt8 = 6) {
    self.severity = severity
    bytes = Array(text.utf8.prefix { $0 != 0 }.prefix(Self.byteCount))
  }

  init(_ payload: RawSpan) {
    severity = payload.padded(0)
    bytes = Array(payload.padded(1..<51).prefix { $0 != 0 })
    id = payload.padded(51)
    piece = payload.padded(53)
  }

  var payload: [UInt8] {
    var bytes: [UInt8] = [severity]
    bytes.append(self.bytes, count: Self.byteCount)
    bytes.append(littleEndian: id)
    bytes.append(piece)
    return bytes
  }

  /// The severity in a word; nil for unknown numbers.
  public var severityWord: String? {
    Self.severities.indices.contains(Int(severity)) ? Self.severities[Int(severity)] : nil
  }

  private static let severities = ["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"]
}
