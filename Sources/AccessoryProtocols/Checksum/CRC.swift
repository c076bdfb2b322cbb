// SPDX-License-Identifier: Apache-2.0

/// An incremental cyclic redundancy check: pass bytes to `update`; `value` is the checksum of all of them.
///
/// `Value` is the unsigned integer of the algorithm's width: `CRC<UInt16>(.crc16MODBUS)`. Passing bytes in pieces gives
/// the same value as passing them at once.
public struct CRC<Value: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  private var engine: CRCEngine

  /// A check that has seen no bytes.
  ///
  /// Algorithms of `CRCParameters.catalogue` share their tables; for others this computes them.
  ///
  /// - Precondition: `Value` has room for the algorithm's width.
  public init(_ parameters: CRCParameters) {
    precondition(Value.bitWidth >= parameters.width, "the CRC is wider than its value type")
    engine = CRCEngine(parameters)
  }

  /// The algorithm.
  public var parameters: CRCParameters { engine.parameters }

  /// The checksum of the bytes seen so far.
  public var value: Value { Value(truncatingIfNeeded: engine.value) }

  /// Updates the checksum with `bytes`, which follow those seen before.
  public mutating func update(_ bytes: RawSpan) { engine.update(bytes) }

  /// Forgets the bytes seen so far.
  public mutating func reset() { engine.reset() }

  /// The checksum of `bytes` alone.
  public static func checksum(of bytes: RawSpan, _ parameters: CRCParameters) -> Value {
    var check = CRC(parameters)
    check.update(bytes)
    return check.value
  }
}

/// A CRC of eight bits.
public typealias CRC8 = CRC<UInt8>
/// A CRC of sixteen bits.
public typealias CRC16 = CRC<UInt16>
/// A CRC of thirty-two bits.
public typealias CRC32 = CRC<UInt32>

/// The implementation of `CRC`, with one register of 32 bits for all widths, so that the hot path has no generic code.
struct CRCEngine: Sendable {
  let parameters: CRCParameters
  private let table: CRCTable
  private var register: UInt32

  init(_ parameters: CRCParameters) {
    self.parameters = parameters
    table = CRCTable.table(for: parameters)
    register = Self.start(parameters)
  }

  var value: UInt32 {
    let aligned = parameters.reflected ? register : register >> UInt32(32 - parameters.width)
    return aligned ^ parameters.xorOut
  }

  mutating func update(_ bytes: RawSpan) {
    register =
      parameters.reflected
      ? table.reflected(register, bytes)
      : CRCKernels.forward(register, bytes, table.entries.span)
  }

  mutating func reset() { register = Self.start(parameters) }

  private static func start(_ parameters: CRCParameters) -> UInt32 {
    let aligned = parameters.initial << UInt32(32 - parameters.width)
    return parameters.reflected ? aligned.bitReversed : aligned
  }
}
