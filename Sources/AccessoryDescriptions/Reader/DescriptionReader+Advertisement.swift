// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryProtocols

// Reads what the accessories of a protocol advertise.
extension DescriptionReader {
  /// The bytes of a company's data in a packet that is advertised.
  static let packetLimit = 254
  /// The longest nonce, so that there is room for the number of the block.
  private static let nonceLimit = 12

  mutating func advertisement(
    _ node: YAMLNode, _ all: KeyedNodes
  ) -> ProtocolDescription.Advertisement? {
    for key in ["line", "requests", "units", "modbus", "registers"] {
      if let other = all[key] {
        report(other.mark, "\(key) can't be combined with advertisement: such accessories are only heard")
      }
    }
    guard let fields = keys(node, DescriptionKeys.advertisement), fields["manufacturer"] != nil else { return nil }
    var advertisement = ProtocolDescription.Advertisement(manufacturer: number(fields, "manufacturer") ?? 0)
    advertisement.beginning = bytes(fields, "begins") ?? []
    advertisement.encryption = fields["aes_ctr"].flatMap { counterMode($0) }
    return advertisement
  }

  private mutating func counterMode(_ node: YAMLNode) -> ProtocolDescription.Advertisement.Encryption? {
    guard let fields = keys(node, DescriptionKeys.counterMode), let nonceNode = fields["nonce"],
      let begin: Int = number(fields, "from")
    else { return nil }
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
