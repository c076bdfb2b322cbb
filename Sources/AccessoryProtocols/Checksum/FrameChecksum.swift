// SPDX-License-Identifier: Apache-2.0

/// The checksum of a frame: any cyclic redundancy check, or one of the simple sums that small devices use.
public enum FrameChecksum: Sendable, Hashable {
  /// A cyclic redundancy check; it takes as many bytes as its width needs, rounded up.
  case crc(CRCParameters)
  /// One byte: the sum of all bytes, modulo 256.
  case sum8
  /// One byte, which makes the sum of all bytes and itself 0 modulo 256, as in Modbus ASCII and Intel HEX.
  case negatedSum8
  /// One byte: the exclusive or of all bytes, as in the STM32 boot loader.
  case xor8
  /// Two bytes: the sum of all bytes and the sum of these sums, both modulo 256; the 8-bit Fletcher algorithm of
  /// RFC 1145, which UBX uses. In little-endian order the plain sum comes first.
  case fletcher8
}

extension FrameChecksum {
  /// How many bytes the checksum takes in a frame, 1…4.
  public var byteCount: Int {
    switch self {
    case .crc(let parameters): (parameters.width + 7) / 8
    case .sum8, .negatedSum8, .xor8: 1
    case .fletcher8: 2
    }
  }

  /// The checksum of `bytes`, in the lowest `byteCount` bytes.
  ///
  /// For an algorithm outside `CRCParameters.catalogue` every call makes the tables; a codec makes them once.
  public func value(of bytes: RawSpan) -> UInt32 {
    let engine = ChecksumEngine(self)
    return engine.value(engine.advance(engine.start, over: bytes))
  }
}
