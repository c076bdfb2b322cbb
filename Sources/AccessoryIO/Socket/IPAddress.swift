// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

/// An IPv4 or IPv6 address. An IPv4 address that is mapped into IPv6 (`::ffff:10.0.0.1`) is stored as the IPv4 address.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// Four bytes (IPv4) or sixteen (IPv6), in network order.
  public let bytes: [UInt8]

  /// Reads an address in its usual notation; nil for anything else, such as a host name.
  public init?(_ text: String) {
    guard text.utf8.count <= 64, !text.utf8.contains(0) else { return nil }
    var four = in_addr()
    var sixteen = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &sixteen) == 1 {
      bytes = Self.unmapped(withUnsafeBytes(of: sixteen) { Array($0) })
    } else {
      return nil
    }
  }

  /// The address in a `sockaddr`; nil when it is neither IPv4 nor IPv6.
  init?(_ address: UnsafeRawBufferPointer) {
    guard address.count >= MemoryLayout<sa_family_t>.size else { return nil }
    switch CInt(address.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where address.count >= MemoryLayout<sockaddr_in>.size: bytes = Array(address[4..<8])
    case AF_INET6 where address.count >= MemoryLayout<sockaddr_in6>.size:
      bytes = Self.unmapped(Array(address[8..<24]))
    default: return nil
    }
  }

  private static func unmapped(_ bytes: [UInt8]) -> [UInt8] {
    let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    return bytes.starts(with: prefix) ? Array(bytes[12...]) : bytes
  }

  /// True for a loopback address (127.0.0.0/8 or ::1).
  public var isLoopback: Bool {
    bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
  }

  /// The address in its usual notation.
  public var description: String {
    var text = [CChar](repeating: 0, count: 64)
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    return bytes.withUnsafeBytes { bytes in
      inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)).map { String(cString: $0) } ?? "?"
    }
  }
}

/// A range of addresses: all that begin with the same bits.
public struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
  /// An address in the range.
  public let address: IPAddress
  /// The number of leading bits that all addresses of the range have in common.
  public let prefixLength: Int

  /// Reads `ADDRESS/BITS`, or a single address as a range of one; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
    let all = address.bytes.count * 8
    guard parts.count == 2 else {
      (self.address, prefixLength) = (address, all)
      return
    }
    guard parts[1].allSatisfy(\.isASCII), parts[1].allSatisfy(\.isNumber), let length = Int(parts[1]), length <= all
    else {
      return nil
    }
    (self.address, prefixLength) = (address, length)
  }

  /// Whether `other` is in the range.
  public func contains(_ other: IPAddress) -> Bool {
    guard address.bytes.count == other.bytes.count else { return false }
    var left = prefixLength
    for (a, b) in zip(address.bytes, other.bytes) {
      guard left > 0 else { return true }
      let mask = left >= 8 ? 0xFF : ~(UInt8(0xFF) >> UInt8(left))
      if a & mask != b & mask { return false }
      left -= 8
    }
    return true
  }

  /// Networks that aren't the internet: those of homes and companies (RFC 1918, RFC 4193), and links.
  package static let privateNetworks = [
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10",
  ].compactMap(IPNetwork.init)

  /// The range as `ADDRESS/BITS`.
  public var description: String { "\(address)/\(prefixLength)" }
}
