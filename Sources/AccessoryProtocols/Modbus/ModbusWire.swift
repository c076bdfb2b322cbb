// SPDX-License-Identifier: Apache-2.0

/// How Modbus frames travel.
public enum ModbusWire: Sendable, Hashable {
  /// With a check behind them (RTU), on a serial line or through a network as they would pass on one.
  case serial
  /// With a header in front of them that numbers them (TCP), without a check.
  case network
  /// Either: for who only looks at what passes.
  case either
}

/// Frames behind the header of Modbus TCP: number, two zeros, the count of bytes that follow, unit, function, data.
enum ModbusHeader {
  /// Bytes in front of the unit.
  static let byteCount = 6
  /// Bytes from the unit on: unit, function, and up to 252 of data.
  static let counts = 3...254

  /// The frame as it is sent over a network, from the one of a serial line.
  static func wrapped(_ frame: [UInt8], number: UInt16) -> [UInt8] {
    let content = frame.dropLast(2)
    let count = UInt16(truncatingIfNeeded: content.count)
    return [UInt8(number >> 8), UInt8(number & 0xFF), 0, 0, UInt8(count >> 8), UInt8(count & 0xFF)] + content
  }

  /// What begins at `origin`: the count of all bytes of the frame, or how many must be there to tell; nil when none can.
  static func frame(_ bytes: RawSpan, at origin: Int) -> (byteCount: Int, isKnown: Bool)? {
    let available = bytes.byteCount - origin
    for offset in [2, 3, 4] where offset < available && bytes.byte(at: origin + offset) != 0 { return nil }
    guard available >= byteCount else { return (byteCount + 2, false) }
    let count = Int(bytes.byte(at: origin + 5))
    return counts.contains(count) ? (byteCount + count, true) : nil
  }

  /// The form of the frame from its unit on; nil when it has none of the known ones.
  static func form(_ content: RawSpan, isRequest: Bool) -> ModbusForm? {
    let function = Int(content.byte(at: 1))
    if function > Int(Modbus.exceptionBit) { return content.byteCount == 3 && !isRequest ? .exception : nil }
    if !isRequest, Modbus.readFunctions.contains(function) {
      return content.byteCount > 3 && content.byteCount == 3 + Int(content.byte(at: 2)) ? .reply : nil
    }
    return content.byteCount == 6 && ((1...6).contains(function) || function == 15 || function == 16) ? .request : nil
  }
}
