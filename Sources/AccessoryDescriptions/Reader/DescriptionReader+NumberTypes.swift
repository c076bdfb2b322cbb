// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads the types of numbers in bytes.
extension DescriptionReader {
  /// The types by name, without a byte order.
  static let numberTypes: [(name: String, format: ProtocolDescription.NumberFormat)] =
    (1...8).map { ("u\($0 * 8)", .init(byteCount: $0)) }
    + (1...8).map { ("i\($0 * 8)", .init(byteCount: $0, encoding: .signed)) }
    + (1...4).map { ("m\($0 * 8)", .init(byteCount: $0, encoding: .signMagnitude)) }
    + (1...8).map { ("bcd\($0 * 8)", .init(byteCount: $0, encoding: .bcd)) }
    + [4, 8].map { ("f\($0 * 8)", .init(byteCount: $0, encoding: .float)) }

  /// The type with this name; nil when there is none.
  func numberFormat(_ name: String) -> ProtocolDescription.NumberFormat? {
    let orders: [(suffix: String, order: ByteOrder)] = [("le", .littleEndian), ("be", .bigEndian)]
    let said = orders.first { name.hasSuffix($0.suffix) }
    let plain = said == nil ? name[...] : name.dropLast(2)
    guard var format = Self.numberTypes.first(where: { $0.name == plain })?.format else { return nil }
    // A single byte has no byte order.
    guard said == nil || format.byteCount > 1 else { return nil }
    format.order = said?.order ?? order
    return format
  }

  mutating func number(_ node: YAMLNode, _ what: String) -> ProtocolDescription.NumberFormat? {
    if case .scalar(let text) = node.content, let format = numberFormat(text) { return format }
    guard case .scalar(let text) = node.content, !text.isEmpty else {
      report(node.mark, "\(what) must be a type of number, like u8 or i16le, not \(kind(node))")
      return nil
    }
    if problems.count < Self.problemLimit {
      let advice = KnownKeys.advice(text, among: Self.numberTypes.map(\.name))
      report(node.mark, "\(what): \(Quoted.text(text)) is not a type of number: \(advice)")
    }
    return nil
  }

  /// The range of a type's raw numbers; nil for floating-point types.
  static func range(of format: ProtocolDescription.NumberFormat) -> ClosedRange<Int>? {
    let bits = format.byteCount * 8
    switch format.encoding {
    case .unsigned: return 0...(bits >= 63 ? .max : (1 << bits) - 1)
    case .signed: return bits == 64 ? .min ... .max : -(1 << (bits - 1))...((1 << (bits - 1)) - 1)
    case .signMagnitude: return -((1 << (bits - 1)) - 1)...((1 << (bits - 1)) - 1)
    case .bcd: return 0...((0..<format.byteCount * 2).reduce(1) { power, _ in power * 10 } - 1)
    case .float: return nil
    }
  }
}
