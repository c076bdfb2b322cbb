// SPDX-License-Identifier: Apache-2.0

/// A parameter of an instruction in the EV3's code, with its encoding.
public struct EV3Parameter: Sendable, Hashable {
  /// The value of a parameter.
  public enum Value: Sendable, Hashable {
    /// A number.
    case constant(Int32)
    /// A text, without the zero byte that ends it.
    case text([UInt8])
    /// The local variable at this offset, in bytes.
    case local(Int)
    /// The global variable at this offset, in bytes. The reply contains the global variables.
    case global(Int)
  }

  /// The encoding of a parameter. The brick accepts a number or an offset in any form that has room for it.
  public enum Form: UInt8, Sendable, Hashable, CaseIterable {
    /// Within the first byte: LC0, LV0, GV0.
    case short
    /// One byte behind the first: LC1, LV1, GV1.
    case one
    /// Two bytes behind the first: LC2, LV2, GV2.
    case two
    /// Four bytes behind the first: LC4, LV4, GV4.
    case four
    /// A text: LCS.
    case text
    /// A text as in LEGO's first examples, which begins with 80 instead of 84.
    case oldText
  }

  /// The value.
  public let value: Value
  /// The encoding.
  public let form: Form

  private init(_ value: Value, _ form: Form) {
    self.value = value
    self.form = form
  }

  // MARK: - Construction

  /// A number in the shortest form.
  public static func constant(_ value: Int32) -> EV3Parameter {
    let form: Form =
      switch value {
      case -32...31: .short
      case -127...127: .one
      case -32_767...32_767: .two
      default: .four
      }
    return EV3Parameter(.constant(value), form)
  }

  /// A number in the given form, or in the next longer one that has room for it.
  public static func constant(_ value: Int32, atLeast form: Form) -> EV3Parameter {
    let shortest = constant(value)
    return shortest.form.rawValue >= form.rawValue ? shortest : EV3Parameter(.constant(value), min(form, .four))
  }

  /// A text.
  ///
  /// - Throws: `textContainsZero` if there is a zero byte in it.
  public static func text(_ bytes: [UInt8]) throws(EV3MessageError) -> EV3Parameter {
    if bytes.contains(0) { throw .textContainsZero }
    return EV3Parameter(.text(bytes), .text)
  }

  /// A text.
  ///
  /// - Throws: `textContainsZero` if there is a zero byte in it.
  public static func text(_ text: String) throws(EV3MessageError) -> EV3Parameter { try .text(Array(text.utf8)) }

  /// The global variable at an offset, 0 or more, in the shortest form that has room for it and is not shorter than
  /// `form`.
  public static func global(_ offset: Int, atLeast form: Form = .short) -> EV3Parameter {
    EV3Parameter(.global(offset), max(min(form, .four), shortestForm(offset)))
  }

  /// The local variable at an offset, 0 or more, in the shortest form that has room for it and is not shorter than
  /// `form`.
  public static func local(_ offset: Int, atLeast form: Form = .short) -> EV3Parameter {
    EV3Parameter(.local(offset), max(min(form, .four), shortestForm(offset)))
  }

  private static func shortestForm(_ offset: Int) -> Form {
    switch offset {
    case ...31: .short
    case ...0x7F: .one
    case ...0x7FFF: .two
    default: .four
    }
  }

  // MARK: - On the wire

  /// Appends the encoded parameter to `output`.
  public func encode(into output: inout [UInt8]) {
    switch value {
    case .constant(let number):
      append(UInt32(bitPattern: number), short: UInt8(truncatingIfNeeded: number) & 0x3F, long: 0x80, &output)
    case .local(let offset): append(offset, short: 0x40, long: 0xC0, &output)
    case .global(let offset): append(offset, short: 0x60, long: 0xE0, &output)
    case .text(let bytes):
      output.append(form == .oldText ? 0x80 : 0x84)
      output += bytes
      output.append(0)
    }
  }

  private func append(_ offset: Int, short: UInt8, long: UInt8, _ output: inout [UInt8]) {
    append(UInt32(truncatingIfNeeded: offset), short: short | UInt8(offset & 0x1F), long: long, &output)
  }

  private func append(_ bits: UInt32, short: UInt8, long: UInt8, _ output: inout [UInt8]) {
    switch form {
    case .short: output.append(short)
    case .one:
      output.append(long | 1)
      output.append(UInt8(truncatingIfNeeded: bits))
    case .two:
      output.append(long | 2)
      output.append(littleEndian: UInt16(truncatingIfNeeded: bits))
    case .four, .text, .oldText:
      output.append(long | 3)
      output.append(littleEndian: bits)
    }
  }

  /// Reads the parameter at `offset` of the code, and moves `offset` behind it.
  ///
  /// - Throws: `unknownParameter`, `codeEnds`, `textNotEnded`.
  public init(decoding code: RawSpan, at offset: inout Int) throws(EV3MessageError) {
    let start = offset
    guard start < code.byteCount else { throw .codeEnds(offset: start) }
    let first = code.byte(at: start)
    if first & 0x80 == 0 {
      offset += 1
      switch first & 0x60 {
      case 0x40: self.init(.local(Int(first & 0x1F)), .short)
      case 0x60: self.init(.global(Int(first & 0x1F)), .short)
      default: self.init(.constant(Int32(Int8(bitPattern: first << 2) >> 2)), .short)
      }
      return
    }
    // Handles, addresses and labels don't occur in direct commands.
    guard first & 0x18 == 0, first & 0x60 != 0x20 else { throw .unknownParameter(first, offset: start) }
    let isVariable = first & 0x40 != 0
    if !isVariable, first & 7 == 0 || first & 7 == 4 {
      var bytes: [UInt8] = []
      var end = start + 1
      while end < code.byteCount, code.byte(at: end) != 0 {
        bytes.append(code.byte(at: end))
        end += 1
      }
      guard end < code.byteCount else { throw .textNotEnded }
      offset = end + 1
      self.init(.text(bytes), first & 7 == 0 ? .oldText : .text)
      return
    }
    let forms: [UInt8: (form: Form, count: Int)] = [1: (.one, 1), 2: (.two, 2), 3: (.four, 4)]
    guard let (form, count) = forms[first & 7] else { throw .unknownParameter(first, offset: start) }
    guard start + 1 + count <= code.byteCount else { throw .codeEnds(offset: start) }
    let bits = code.integer(at: start + 1, byteCount: count, .littleEndian)
    offset = start + 1 + count
    if isVariable {
      self.init(first & 0x20 == 0 ? .local(Int(bits)) : .global(Int(bits)), form)
    } else {
      let unused = UInt32(32 - 8 * count)
      self.init(.constant(Int32(bitPattern: bits << unused) >> Int32(unused)), form)
    }
  }
}

extension EV3Parameter.Form: Comparable {
  /// Orders forms by the room that they have.
  public static func < (a: EV3Parameter.Form, b: EV3Parameter.Form) -> Bool { a.rawValue < b.rawValue }
}
