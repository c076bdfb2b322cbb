// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// One thing that a brick can be asked or told, which a batch makes code of. `Reply` is what it answers: `Void` for
/// commands that only do something.
public struct EV3Command<Reply: Sendable>: Sendable {
  /// What it is made of.
  let steps: [EV3Step]
  /// Bytes of local variables that it uses, from 0 on.
  let locals: Int
  /// Whether its reply waits for something to happen: a motor to arrive, a tone to end.
  public let isWaiting: Bool
  let read: @Sendable (EV3Results) -> Reply

  init(
    _ steps: [EV3Step], locals: Int = 0, isWaiting: Bool = false, read: @escaping @Sendable (EV3Results) -> Reply
  ) {
    self.steps = steps
    self.locals = locals
    self.isWaiting = isWaiting
    self.read = read
  }
}

/// An instruction that has not been given places for its results.
struct EV3Step: Sendable {
  let operation: EV3Operation
  let arguments: [EV3Argument]

  init(_ opcode: UInt8, _ subcode: UInt8? = nil, _ arguments: EV3Argument...) {
    self.init(opcode, subcode, arguments)
  }

  init(_ opcode: UInt8, _ subcode: UInt8? = nil, _ arguments: [EV3Argument]) {
    operation = .of(opcode, subcode)
    self.arguments = arguments
  }
}

enum EV3Argument: Sendable {
  /// A number that was chosen here, or whose type allows no wrong one.
  case number(Int)
  /// A number that the user chose, with its name and what it may be.
  case checked(String, Int, ClosedRange<Int>)
  /// A text that the user chose, and how many bytes it may have.
  case text(String, limit: Int)
  /// A place for what comes back.
  case result(EV3ResultKind)
  /// The same for so many bytes.
  case bytes(Int)
  /// A local variable, of four bytes.
  case local(Int)

  /// A time that the user chose, which the brick counts in milliseconds, and the milliseconds that are possible.
  static func time(_ name: String, _ duration: Duration, _ range: ClosedRange<Int>) -> EV3Argument {
    .checked(name, duration.inMilliseconds, range)
  }
}

/// What has come back of one command: as many values as it has places, in their order.
struct EV3Results: Sendable {
  let globals: [UInt8]
  let offsets: [Int]
  let kinds: [EV3Argument]

  /// Result number `index` as a number. What the brick writes for "not a number" is its type's least.
  func number(_ index: Int) -> Int {
    let offset = offsets[index]
    return globals.withUnsafeBytes { bytes in
      switch kinds[index] {
      case .result(.int8): Int(bytes.load(fromByteOffset: offset, as: Int8.self))
      case .result(.int16): Int(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self)))
      default: Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
      }
    }
  }

  /// Result number `index`; nil when it is "not a number".
  func value(_ index: Int) -> Int? {
    let number = number(index)
    switch kinds[index] {
    case .result(.int8): return number == Int(Int8.min) ? nil : number
    case .result(.int16): return number == Int(Int16.min) ? nil : number
    default: return number == Int(Int32.min) ? nil : number
    }
  }

  func byte(_ index: Int) -> UInt8 { globals[offsets[index]] }

  func flag(_ index: Int) -> Bool { byte(index) != 0 }

  func float(_ index: Int) -> Float {
    Float(bitPattern: UInt32(bitPattern: Int32(truncatingIfNeeded: number(index))))
  }

  /// Result number `index` up to its first zero byte.
  func text(_ index: Int) -> String { String(decoding: bytes(index).prefix { $0 != 0 }, as: UTF8.self) }

  func bytes(_ index: Int) -> ArraySlice<UInt8> {
    guard case .bytes(let count) = kinds[index] else { return [] }
    return globals[offsets[index]..<(offsets[index] + count)]
  }

  func sensorValues(_ kind: EV3ResultKind) -> [Float?] {
    offsets.indices.map { index in
      if kind != .float { return value(index).map { Float($0) } }
      let value = float(index)
      return value.isNaN ? nil : value
    }
  }
}
