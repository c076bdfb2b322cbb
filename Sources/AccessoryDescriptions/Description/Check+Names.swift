// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension ProtocolDescription.Check.Algorithm {
  /// The checksums that descriptions can name. CRCs of the catalogue have their names there, in lower case.
  public static let named: [(name: String, algorithm: ProtocolDescription.Check.Algorithm)] =
    [
      ("sum8", .frame(.sum8)), ("negated-sum8", .frame(.negatedSum8)), ("sum8-0x55", .sumTo55),
      ("sum8-0xff", .sumToFF), ("xor8", .frame(.xor8)),
      ("sum16", .sum16), ("sum32", .sum32), ("negated-sum16", .negatedSum16), ("fletcher8", .frame(.fletcher8)),
    ] + CRCParameters.catalogue.map { ($0.name.lowercased(), .frame(.crc($0))) }

  /// The checksum's name in descriptions; nil for a CRC that isn't in the catalogue.
  public var name: String? { Self.named.first { $0.algorithm == self }?.name }
}
