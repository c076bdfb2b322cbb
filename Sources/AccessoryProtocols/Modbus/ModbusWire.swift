// SPDX-License-Identifier: Apache-2.0

/// The form in which Modbus frames travel.
public enum ModbusWire: Sendable, Hashable {
  /// With a check behind each frame (RTU): on a serial line, or over a network in the form of a serial line.
  case serial
  /// With a header in front of each frame that has a number (TCP), without a check.
  case network
  /// In either form; for programs that only watch a line.
  case either
}

/// Reads and writes frames with the header of Modbus TCP: number, two zeros, the count of bytes that follow, unit,
/// function, data.
package enum ModbusHeader {
  /// The size of the header in front of the unit, in bytes.
  package static let byteCount = 6
  /// The allowed counts of bytes from the unit on: unit, function, and up to 252 bytes of data.
  package static let counts = 3...254

  /// The frame in the form of Modbus TCP, made from a frame of a serial line.
  package static func wrapped(_ frame: [UInt8], number: UInt16) -> [UInt8] {
    let content = frame.dropLast(2)
    let count = UInt16(truncatingIfNeeded: content.count)
    return [UInt8(number >> 8), UInt8(number & 0xFF), 0, 0, UInt8(count >> 8), UInt8(count & 0xFF)] + content
  }

  /// The length of the frame at `origin`; while that isn't known, how many bytes are needed to know it. Nil if no frame
  /// can begin there.
  package static func frame(_ bytes: RawSpan, at origin: Int) -> (byteCount: Int, isKnown: Bool)? {
    let available = bytes.byteCount - origin
    for offset in [2, 3, 4] where offset < available && bytes.byte(at: origin + offset) != 0 { return nil }
    guard available >= byteCount else { return (byteCount + 2, false) }
    let count = Int(bytes.byte(at: origin + 5))
    return counts.contains(count) ? (byteCount + count, true) : nil
  }

  /// The form of the frame whose bytes from the unit on are `content`; nil if it is unknown.
  package static func form(_ content: RawSpan, isRequest: Bool) -> ModbusForm? {
    let function = Int(content.byte(at: 1))
    if function > Int(Modbus.exceptionBit) { return content.byteCount == 3 && !isRequest ? .exception : nil }
    if !isRequest, Modbus.readFunctions.contains(function) {
      return content.byteCount > 3 && content.byteCount == 3 + Int(content.byte(at: 2)) ? .reply : nil
    }
    return content.byteCount == 6 && ((1...6).contains(function) || function == 15 || function == 16) ? .request : nil
  }
}
