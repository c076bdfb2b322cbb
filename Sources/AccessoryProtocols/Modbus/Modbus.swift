// SPDX-License-Identifier: Apache-2.0

/// Constants of Modbus: functions, limits, and the meanings of exceptions.
public enum Modbus {
  /// Functions that only read: coils (1), discrete inputs (2), holding registers (3), input registers (4).
  public static let readFunctions: ClosedRange<Int> = 1...4
  /// The most registers that one request may read.
  public static let registersPerRequest = 125
  /// The most coils or discrete inputs that one request may read.
  public static let bitsPerRequest = 2_000
  /// The bit that is set in the function of an exception.
  public static let exceptionBit: UInt8 = 0x80
  /// The longest frame on a serial line, in bytes: unit, 253 bytes of function and data, check.
  public static let frameLimit = 256
  /// The TCP port of Modbus TCP.
  public static let port: UInt16 = 502

  /// Whether a function reads bits, eight to a byte, and not registers of two bytes.
  public static func isBits(_ function: Int) -> Bool { function == 1 || function == 2 }

  /// How many bytes `count` registers or bits take in a reply.
  public static func byteCount(of count: Int, function: Int) -> Int {
    isBits(function) ? (count + 7) / 8 : 2 * count
  }

  /// What the codes of exceptions mean.
  public static let exceptions: [Int: String] = [
    1: "it doesn't know this function", 2: "it has no such registers", 3: "it doesn't take this count or value",
    4: "it failed to do so", 5: "it has taken it and needs time for it", 6: "it is busy",
    8: "its memory has an error", 10: "the gateway has no way to it", 11: "it doesn't answer the gateway",
  ]

  /// The shortest silence between frames, in nanoseconds. It applies above 19200 baud.
  package static let shortestSilence: Int64 = 1_750_000

  /// The silence that ends a frame, in nanoseconds: the time of 3.5 bytes, and at least 1.75 ms; 0 if bytes take no
  /// time, as there is no serial line then.
  public static func silence(nanosecondsPerByte: Int64) -> Int64 {
    guard nanosecondsPerByte > 0 else { return 0 }
    return max(shortestSilence, min(nanosecondsPerByte, 1_000_000_000) * 7 / 2)
  }
}

/// The forms of Modbus frames, in the order of a description's framings.
package enum ModbusForm: Int, CaseIterable, Sendable {
  /// Unit, function, count of bytes, data, check: the reply to a read request.
  case reply
  /// Unit, function, two numbers of two bytes, check: a read request, a request to write one register, and the reply to
  /// any write request.
  case request
  /// Unit, function with its highest bit set, code, check.
  case exception

  /// The length in bytes of the frame of this form at `origin`, as far as it is known; nil if none begins there. If the
  /// count of a reply hasn't arrived, it is the length of the shortest reply.
  package func byteCount(_ bytes: RawSpan, at origin: Int) -> Int? {
    guard origin + 1 < bytes.byteCount else { return minimum }
    let function = bytes.byte(at: origin + 1)
    switch self {
    case .exception: return function > Modbus.exceptionBit ? 5 : nil
    case .request: return (1...6).contains(function) || function == 15 || function == 16 ? 8 : nil
    case .reply:
      guard (1...4).contains(function) else { return nil }
      guard origin + 2 < bytes.byteCount else { return minimum }
      let count = Int(bytes.byte(at: origin + 2))
      // Registers have two bytes each.
      return count > 0 && (function < 3 || count.isMultiple(of: 2)) && count <= 2 * Modbus.registersPerRequest
        ? 5 + count : nil
    }
  }

  /// The length of the shortest frame of this form, in bytes.
  private var minimum: Int {
    switch self {
    case .reply: 6
    case .request: 8
    case .exception: 5
    }
  }

  /// The range of the body in a frame of this length.
  package func body(_ byteCount: Int) -> Range<Int> {
    switch self {
    case .reply: 3..<(byteCount - 2)
    case .request: 6..<6
    case .exception: 3..<3
    }
  }
}

/// The check at the end of Modbus frames on serial lines.
package struct ModbusCheck: Sendable {
  private let engine = ChecksumEngine(.crc(.crc16MODBUS))

  package init() {}

  /// Whether the last two bytes are the right check of the bytes in front of them.
  package func isGood(_ frame: RawSpan) -> Bool {
    guard frame.byteCount > 2 else { return false }
    let end = frame.byteCount - 2
    return frame.integer(at: end, byteCount: 2, .littleEndian) == value(of: frame.extracting(0..<end))
  }

  /// Appends the check of all bytes of `frame`.
  package func append(to frame: inout [UInt8]) {
    let value = value(of: frame.span.bytes)
    frame.append(UInt8(truncatingIfNeeded: value))
    frame.append(UInt8(truncatingIfNeeded: value >> 8))
  }

  private func value(of bytes: RawSpan) -> UInt32 { engine.value(engine.advance(engine.start, over: bytes)) }
}
