// SPDX-License-Identifier: Apache-2.0

/// The format of records that end with a delimiter, such as lines of text.
public struct DelimitedFormat: Sendable, Hashable {
  /// The bytes that end a record.
  public enum Delimiter: Sendable, Hashable {
    /// This sequence of 1…4 bytes.
    case sequence([UInt8])
    /// Any one of these bytes, 1…3. `sent`, which consists of one or more of them, is sent.
    case anyOf([UInt8], sent: [UInt8])
  }

  /// A byte that changes the meaning of the next byte, so that a record can contain any byte.
  public struct Escape: Sendable, Hashable {
    /// The escape byte.
    public var byte: UInt8
    /// The value that is combined with the next byte by exclusive or: 20 in HDLC; 0 if the next byte stands for itself.
    public var mask: UInt8

    /// An escape.
    public init(_ byte: UInt8, mask: UInt8 = 0) {
      self.byte = byte
      self.mask = mask
    }
  }

  /// The bytes that end a record.
  public var delimiter: Delimiter
  /// The escape with which a record can contain the delimiter. Without it, such a record can't be sent.
  public var escape: Escape?
  /// Whether two delimiters in a row make an empty record. If not, the second is ignored.
  public var keepsEmpty: Bool

  /// A format. The parameters are only checked when a codec is made.
  public init(_ delimiter: Delimiter, escape: Escape? = nil, keepsEmpty: Bool = false) {
    self.delimiter = delimiter
    self.escape = escape
    self.keepsEmpty = keepsEmpty
  }

  /// Lines that end with a line feed.
  public static let lineFeed = DelimitedFormat(.sequence([0x0A]))
  /// Lines that end with a carriage return.
  public static let carriageReturn = DelimitedFormat(.sequence([0x0D]))
  /// Lines that end with a carriage return and a line feed; either alone is part of the line.
  public static let carriageReturnLineFeed = DelimitedFormat(.sequence([0x0D, 0x0A]))
  /// Lines that end with a carriage return or a line feed or both; sent with both.
  public static let anyLineEnd = DelimitedFormat(.anyOf([0x0D, 0x0A], sent: [0x0D, 0x0A]))
  /// The octet-stuffed framing of RFC 1662: flag 7E, escape 7D, exclusive or with 20. For its checksum, use
  /// `CheckedCodec` with CRC-16/IBM-SDLC.
  public static let hdlc = DelimitedFormat(.sequence([0x7E]), escape: Escape(0x7D, mask: 0x20))
}

extension DelimitedFormat {
  /// Checks that records can have this format.
  ///
  /// - Throws: An error for the first parameter that is wrong.
  public func validate() throws(FramingParameterError) {
    let bytes: [UInt8]
    switch delimiter {
    case .sequence(let sequence):
      guard (1...4).contains(sequence.count) else {
        throw FramingParameterError("delimiter", "must be 1 to 4 bytes")
      }
      bytes = sequence
    case .anyOf(let set, let sent):
      guard (1...3).contains(set.count) else { throw FramingParameterError("delimiter", "must be one of 1 to 3 bytes") }
      guard !sent.isEmpty, sent.allSatisfy(set.contains) else {
        throw FramingParameterError("delimiter.sent", "must be made of delimiters")
      }
      // The first of these bytes would end a record, and the others would add empty records.
      guard sent.count == 1 || !keepsEmpty else {
        throw FramingParameterError("delimiter.sent", "must be one byte if empty records are kept")
      }
      bytes = set
    }
    guard let escape else { return }
    if bytes.contains(escape.byte) { throw FramingParameterError("escape.byte", "must not be in the delimiter") }
    if escape.mask == 0 { return }
    for special in bytes + [escape.byte] where (bytes + [escape.byte]).contains(special ^ escape.mask) {
      throw FramingParameterError("escape.mask", "must not turn the delimiter or the escape into one of them")
    }
  }
}
