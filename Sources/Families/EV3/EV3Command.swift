// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A command to a brick; a batch turns commands into code. `Reply` is the type of its result: `Void` for commands that
/// have none.
public struct EV3Command<Reply: Sendable>: Sendable {
  /// The instructions of the command.
  let steps: [EV3Step]
  /// How many bytes of local variables the command uses, from offset 0.
  let localByteCount: Int
  /// Whether the reply comes only after something has happened: a movement or a tone has ended.
  public let isWaiting: Bool
  let read: @Sendable (EV3Results) -> Reply

  init(
    _ steps: [EV3Step], localByteCount: Int = 0, isWaiting: Bool = false,
    read: @escaping @Sendable (EV3Results) -> Reply
  ) {
    self.steps = steps
    self.localByteCount = localByteCount
    self.isWaiting = isWaiting
    self.read = read
  }
}

/// An instruction whose results have no places yet.
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
  /// A number from this library, or of a type that has no invalid values.
  case number(Int)
  /// A number from the user, with its name and its range.
  case checked(String, Int, ClosedRange<Int>)
  /// A text from the user, with the greatest number of bytes that it may have.
  case text(String, limit: Int)
  /// A place for a number that is returned.
  case result(EV3ResultKind)
  /// A place for this many bytes that are returned.
  case bytes(Int)
  /// A local variable, of four bytes.
  case local(Int)

  /// A time from the user, which is sent in milliseconds, with its range in milliseconds.
  static func time(_ name: String, _ duration: Duration, _ range: ClosedRange<Int>) -> EV3Argument {
    .checked(name, duration.inMilliseconds, range)
  }
}

/// The results of one command, in the order of their places.
struct EV3Results: Sendable {
  let globals: [UInt8]
  let offsets: [Int]
  let kinds: [EV3Argument]

  /// Result number `index` as a number. For "not a number" the brick sends the least number of the type.
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

  /// Result number `index`; nil for "not a number".
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

  /// Result number `index` as a text, up to its first zero byte.
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
