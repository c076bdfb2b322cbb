// SPDX-License-Identifier: Apache-2.0

/// STATUSTEXT: something for people, or a piece of it.
public struct MAVLinkStatusText: Sendable, Hashable {
  /// The message's number.
  public static let number: UInt32 = 253
  /// Bytes of a text, or of a piece.
  public static let byteCount = 50

  /// How grave it is, from 0, an emergency, to 7, of no interest but to developers.
  public var severity: UInt8
  /// The text as it came: at most 50 bytes, without a zero.
  public var bytes: [UInt8]
  /// Which text this is a piece of; 0 for a text in one piece. An extension.
  public var id: UInt16 = 0
  /// Which piece it is, from 0 on. An extension.
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

  /// How grave it is, in a word; nil for numbers that mean nothing.
  public var severityWord: String? {
    Self.severities.indices.contains(Int(severity)) ? Self.severities[Int(severity)] : nil
  }

  private static let severities = ["emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"]
}
