// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension ProtocolDescription.Formula {
  /// Whether a value can be turned back into the number that is sent: each branch of `if` is linear in `raw`.
  package var isInvertible: Bool {
    linear != nil || root.branches.allSatisfy { Linear($0, in: $0.variable, sent: { _ in 1 }) != nil }
  }

  /// The number to send so that the field has a value nearest to `number`; nil if no branch of the formula can be inverted.
  package func inverse(
    _ number: Double, of field: ProtocolDescription.Field, sent: (String) -> Int?
  ) -> Int? {
    var best: (raw: Int, error: Double)?
    for branch in root.branches {
      guard let linear = Linear(branch, in: branch.variable, sent: sent),
        let solution = Int(exactly: linear.inverse(number).rounded()),
        let (raw, bits) = field.encoded(solution, as: branch.variable),
        let value = field.meaning(of: raw, bits: bits, sent: sent).asNumber
      else { continue }
      let error = abs(value - number)
      if error < best?.error ?? .infinity { best = (raw, error) }
    }
    return best?.raw
  }
}

extension ProtocolDescription.Formula.Node {
  /// What the formula can be, by its conditions.
  fileprivate var branches: [Self] {
    if case .call(.when, let parts) = self { return parts.dropFirst().flatMap(\.branches) }
    return [self]
  }

  /// The first part that is the field's own number.
  fileprivate var variable: Self {
    var found: Self?
    visit { if found == nil, case .raw = $0 { found = $0 } }
    return found ?? .raw(nil)
  }
}

extension ProtocolDescription.Field {
  /// The number that is sent so that `variable` is `number`, and its bits; nil if the field can't have it.
  fileprivate func encoded(
    _ number: Int, as variable: ProtocolDescription.Formula.Node
  ) -> (raw: Int, bits: UInt64?)? {
    if let bits {
      guard case .raw(.signed?) = variable else {
        return number >= 0 && (bits.count >= 63 || number < 1 << bits.count) ? (number, nil) : nil
      }
      let mask: UInt64 = bits.count >= 63 ? .max >> 1 : 1 << UInt64(bits.count) - 1
      let sent = UInt64(bitPattern: Int64(number)) & mask
      return bits.signed(sent) == number ? (Int(sent), sent << UInt64(bits.lowest)) : nil
    }
    guard case .number(let own) = type, own.encoding != .float else { return (number, nil) }
    var format = own
    if case .raw(let encoding?) = variable { format.encoding = encoding }
    guard let bits = format.bits(of: number), let raw = own.whole(bits) else { return nil }
    return (raw, bits)
  }
}
