// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension ReplayNumbering {
  /// AF1's message numbers, the nonce of HELLO, and the checksums of both.
  public static let af1 = ReplayNumbering(
    frames: { stream in
      var frames: [NumberedFrame] = []
      var place = 0
      while place < stream.count {
        guard let frame = af1Frame(in: stream, at: place) else {
          place += 1
          continue
        }
        frames.append(frame)
        place = frame.range.upperBound
      }
      return frames
    },
    correct: { frame in
      let checksum = headerChecksum(frame[..<8])
      (frame[8], frame[9]) = (UInt8(truncatingIfNeeded: checksum), UInt8(checksum >> 8))
    },
    isSound: { frame in
      guard frame.count >= 10, headerChecksum(frame[..<8]) == word(frame, 8) else { return false }
      guard frame.count > 10 else { return true }
      let payload = Array(frame[10..<(frame.count - 4)])
      let stated = UInt32(word(frame, frame.count - 4)) | UInt32(word(frame, frame.count - 2)) << 16
      return CRC32.checksum(of: payload.span.bytes, .crc32ISOHDLC) == stated
    })

  private static func word(_ bytes: [UInt8], _ place: Int) -> UInt16 {
    UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
  }

  private static func headerChecksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    CRC16.checksum(of: Array(bytes).span.bytes, .crc16IBM3740)
  }

  /// The frame at `start`; nil unless its header is valid and all of its bytes are there. The checksum of the payload
  /// isn't checked.
  private static func af1Frame(in bytes: [UInt8], at start: Int) -> NumberedFrame? {
    guard bytes.count - start >= 10, bytes[start] == 0x0F, bytes[start + 1] == 0xF0,
      headerChecksum(bytes[start..<(start + 8)]) == word(bytes, start + 8)
    else { return nil }
    let length = Int(word(bytes, start + 6))
    let end = start + (length == 0 ? 10 : length + 14)
    guard end <= bytes.count else { return nil }
    var free = [(start + 4)..<(start + 6), (start + 8)..<(start + 10)]
    // The whole payload of a HELLO is a nonce that the host chooses.
    if bytes[start + 3] == AF1Command.hello.rawValue, length > 0 { free.append((start + 10)..<end) }
    let isReply = AF1Header.Flags(rawValue: bytes[start + 2]).contains(.reply)
    return NumberedFrame(
      range: start..<end, numberStart: start + 4, number: word(bytes, start + 4), free: free, isReply: isReply)
  }
}
