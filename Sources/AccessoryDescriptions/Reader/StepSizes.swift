// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension [ProtocolDescription.Step] {
  /// The fewest bytes that the steps take. Can't overflow: fixed counts give at most 255 × 255 × 255 fields.
  var leastBytes: Int { reduce(0) { $0 + $1.leastBytes } }

  /// The fewest values that the steps have, counting optional steps as present.
  var leastValues: Int { reduce(0) { $0 + $1.leastValues } }
}

extension ProtocolDescription.Step {
  var leastBytes: Int {
    switch self {
    case .field(let field): field.bits?.staysHere == true ? 0 : field.type.leastBytes
    case .skip(let count): count
    case .group(let steps, .fixed(let count)): steps.leastBytes * count
    case .group(_, .prefixedBytes): 1
    case .group, .tail, .when: 0
    }
  }

  var leastValues: Int {
    switch self {
    case .field: 1
    case .skip: 0
    case .group(let steps, .fixed(let count)): steps.leastValues * count
    case .group(let steps, _), .tail(let steps), .when(_, let steps): steps.leastValues
    }
  }
}

extension ProtocolDescription.FieldType {
  /// The fewest bytes that a value of this type takes.
  var leastBytes: Int {
    switch self {
    case .number(let format): format.byteCount
    case .text(let count, _), .bytes(let count): count
    case .digits(let count): count
    case .packedDate: 2
    case .terminatedText, .prefixedText: 1
    case .scattered, .restOfText: 0
    // Types for text don't occur in bodies of bytes.
    case .decimal, .hexadecimal, .hexadecimalBytes, .bitText, .word, .plainText: 0
    }
  }
}
