// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads checksums.
extension DescriptionReader {
  /// The checksum algorithms by name.
  static let algorithms = ProtocolDescription.Check.Algorithm.named

  mutating func check(
    _ node: YAMLNode, at place: Int, among all: [DraftElement], isHexadecimal: Bool
  ) -> ProtocolDescription.Check? {
    guard let fields = keys(node, DescriptionKeys.check), let name = fields["algorithm"], let over = fields["over"]
    else {
      return nil
    }
    let names = Self.algorithms.map(\.name)
    let algorithm = reference(name, "a checksum", among: names).map { Self.algorithms[$0].algorithm }
    let range = elements(over, "over", among: all)
    var check = ProtocolDescription.Check(
      algorithm ?? .frame(.sum8), covers: range ?? 0...0, order: order)
    set(&check.order, byteOrder(fields, "order"))
    set(&check.isPresentIfEmpty, flag(fields, "unless_empty").map { !$0 })
    set(&check.incrementedBytes, fields["bump"].map { incrementedBytes($0) })
    if let notation = word(fields, "as") {
      check.notation = notation == "hex" ? .hexadecimal : notation == "decimal" ? .decimal : .bytes
    }
    guard let algorithm, let range else { return nil }
    if range.contains(place) {
      report(over.mark, "a check can't cover itself")
      return nil
    }
    if let node = fields["as"], check.notation != .bytes {
      if isHexadecimal { report(node.mark, "with digits: hex all data is in digits already: leave out as") }
      if check.notation == .decimal, algorithm.byteCount != 1 {
        report(node.mark, "as: decimal needs a checksum of one byte, not of \(algorithm.byteCount)")
      }
    }
    return check
  }

  private mutating func incrementedBytes(_ node: YAMLNode) -> [UInt8] {
    oneOrMore(node, "bytes to bump", limit: 16).compactMap { byte($0, "each of bump") }
  }
}
