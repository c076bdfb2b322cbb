// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The message numbers of a protocol, which match replies with requests. A host chooses them anew in each conversation,
/// so they may differ from the recorded ones.
public enum ReplayNumbering: Sendable, Hashable {
  /// No numbers: the host must send exactly the recorded bytes.
  case none
  /// AF1: the message numbers, the nonce of HELLO, and the checksums of both.
  case af1
  /// EV3: the message numbers.
  case ev3

  /// The numbering for the protocol of the driver with this name; `none` for other drivers.
  public init(driver: String?) {
    switch driver {
    case "framed": self = .af1
    case "ev3": self = .ev3
    default: self = .none
    }
  }
}

/// A frame in a recorded stream of bytes.
struct NumberedFrame: Sendable, Hashable {
  /// The frame's offsets in the stream.
  var range: Range<Int>
  /// The offset of its message number: two bytes, little-endian.
  var numberStart: Int
  /// Its message number.
  var number: UInt16
  /// The offsets of bytes that may differ: the number, checksums, and values that the sender chooses.
  var free: [Range<Int>]
  /// Whether the frame is the reply to the request with the same number.
  var isReply: Bool

  func isFree(_ place: Int) -> Bool { free.contains { $0.contains(place) } }
}

extension ReplayNumbering {
  /// Finds the frames in a recorded stream. Bytes that belong to no frame are skipped.
  func frames(in bytes: [UInt8]) -> [NumberedFrame] {
    var frames: [NumberedFrame] = []
    var place = self == .ev3 ? Self.greetingEnd(in: bytes) : 0
    while self != .none, place < bytes.count {
      guard let frame = self == .af1 ? Self.af1Frame(in: bytes, at: place) : Self.ev3Frame(in: bytes, at: place) else {
        // EV3 frames have no start marker, so the next frame can't be found.
        if self == .ev3 { break }
        place += 1
        continue
      }
      frames.append(frame)
      place = frame.range.upperBound
    }
    return frames
  }

  /// Returns the frame with another message number and a checksum to match.
  func renumbered(_ frame: ArraySlice<UInt8>, _ found: NumberedFrame, to number: UInt16) -> [UInt8] {
    var bytes = Array(frame)
    let place = found.numberStart - found.range.lowerBound
    (bytes[place], bytes[place + 1]) = (UInt8(truncatingIfNeeded: number), UInt8(number >> 8))
    guard self == .af1 else { return bytes }
    let checksum = Self.headerChecksum(bytes[..<8])
    (bytes[8], bytes[9]) = (UInt8(truncatingIfNeeded: checksum), UInt8(checksum >> 8))
    return bytes
  }

  /// Whether the checksums of a frame that a host sent are correct.
  func isSound(_ bytes: [UInt8]) -> Bool {
    guard self == .af1 else { return true }
    guard bytes.count >= 10, Self.headerChecksum(bytes[..<8]) == Self.word(bytes, 8) else { return false }
    guard bytes.count > 10 else { return true }
    let payload = Array(bytes[10..<(bytes.count - 4)])
    let stated = UInt32(Self.word(bytes, bytes.count - 4)) | UInt32(Self.word(bytes, bytes.count - 2)) << 16
    return CRC32.checksum(of: payload.span.bytes, .crc32ISOHDLC) == stated
  }

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

  /// The offset behind the greeting with which an EV3 connection over the network begins: lines of text up to an empty
  /// line. 0 when there is no greeting.
  private static func greetingEnd(in bytes: [UInt8]) -> Int {
    guard ["GET /target", "Accept:EV3"].contains(where: { bytes.starts(with: $0.utf8) }) else { return 0 }
    let end = Array("\r\n\r\n".utf8)
    let place = bytes.indices.first { bytes[$0...].starts(with: end) }
    return place.map { $0 + end.count } ?? bytes.count
  }

  /// The EV3 message at `start`: two bytes of length, two bytes of number, then the type.
  private static func ev3Frame(in bytes: [UInt8], at start: Int) -> NumberedFrame? {
    guard bytes.count - start >= 5 else { return nil }
    let end = start + 2 + Int(word(bytes, start))
    guard end - start >= 5, end <= bytes.count else { return nil }
    let isReply = EV3MessageType(rawValue: bytes[start + 4]).isReply
    return NumberedFrame(
      range: start..<end, numberStart: start + 2, number: word(bytes, start + 2), free: [(start + 2)..<(start + 4)],
      isReply: isReply)
  }
}
