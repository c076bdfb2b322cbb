// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension ReplayNumbering {
  /// The EV3's message numbers.
  public static let ev3 = ReplayNumbering(frames: { stream in
    var frames: [NumberedFrame] = []
    var place = greetingEnd(in: stream)
    // Nothing marks where a frame begins, so behind an impossible one the next can't be found.
    while place < stream.count, let frame = ev3Frame(in: stream, at: place) {
      frames.append(frame)
      place = frame.range.upperBound
    }
    return frames
  })

  private static func word(_ bytes: [UInt8], _ place: Int) -> UInt16 {
    UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8
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
