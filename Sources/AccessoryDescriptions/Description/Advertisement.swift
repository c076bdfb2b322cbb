// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// What accessories of a protocol advertise: they are read without a connection, and nothing can be sent to them.
  public struct Advertisement: Sendable, Hashable {
    /// The number of the company whose data they send.
    public var manufacturer: UInt16
    /// The bytes with which the data begin.
    public var beginning: [UInt8] = []
    /// How the data are encrypted; nil where they aren't.
    public var encryption: Encryption?

    /// The data of this company.
    public init(manufacturer: UInt16) { self.manufacturer = manufacturer }

    /// Encryption by AES-128 in counter mode, with a key that the user knows.
    public struct Encryption: Sendable, Hashable {
      /// The bytes of the data that count the messages, the lowest first; they begin each block of counters. 1 to 12.
      public var nonce: ClosedRange<Int>
      /// The byte of the data that is the key's first one; nil where there is none.
      public var keyByte: Int?
      /// The first byte that is encrypted, behind all of these.
      public var begin: Int

      /// Bytes of the data, from 0 on.
      public init(nonce: ClosedRange<Int>, keyByte: Int?, begin: Int) {
        (self.nonce, self.keyByte, self.begin) = (nonce, keyByte, begin)
      }
    }
  }
}
