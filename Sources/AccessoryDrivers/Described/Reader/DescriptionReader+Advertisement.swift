// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads what the accessories of a protocol advertise.
extension DescriptionReader {
  /// The bytes of a company's data in a packet that is advertised.
  private static let packetLimit = 254
  /// The longest nonce, so that there is room for the number of the block.
  private static let nonceLimit = 12

  mutating func advertisement(
    _ node: YAMLNode, _ all: [String: YAMLNode]
  ) -> ProtocolDescription.Advertisement? {
    for key in ["line", "requests", "units", "modbus", "registers"] {
      if let other = all[key] {
        report(other.mark, "\(key) can't be combined with advertisement: such accessories are only heard")
      }
    }
    guard let fields = fields(node, "advertisement", DescriptionKeys.advertisement) else { return nil }
    guard let company = fields["manufacturer"] else {
      report(node.mark, "manufacturer is missing: the number of the company whose data are read, like 0x02E1")
      return nil
    }
    let number = integer(company, "the number of a company", 0...0xFFFF)
    var advertisement = ProtocolDescription.Advertisement(manufacturer: UInt16(clamping: number ?? 0))
    advertisement.beginning = fields["begins"].flatMap { bytes($0, "begins", limit: 16) } ?? []
    advertisement.encryption = fields["aes_ctr"].flatMap { counterMode($0) }
    return advertisement
  }

  private mutating func counterMode(_ node: YAMLNode) -> ProtocolDescription.Advertisement.Encryption? {
    guard let fields = fields(node, "aes_ctr", DescriptionKeys.counterMode) else { return nil }
    guard let nonceNode = fields["nonce"], let from = fields["from"] else {
      report(node.mark, "aes_ctr needs nonce and from: {nonce: 5..6, from: 8}, bytes of the data, from 0 on")
      return nil
    }
    guard let begin = integer(from, "from", 1...Self.packetLimit) else { return nil }
    guard case .scalar(let text) = nonceNode.content, let nonce = Self.range(text[...]), nonce.upperBound < begin,
      nonce.count <= Self.nonceLimit
    else {
      report(
        nonceNode.mark,
        "nonce must be at most \(Self.nonceLimit) bytes in front of the encrypted ones, like 5..6, not "
          + kind(nonceNode))
      return nil
    }
    let keyByte = fields["key_byte"].flatMap { integer($0, "key_byte", 0...(begin - 1)) }
    return .init(nonce: nonce, keyByte: keyByte, begin: begin)
  }
}
