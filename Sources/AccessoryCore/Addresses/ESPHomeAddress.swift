// SPDX-License-Identifier: Apache-2.0

/// A serial port of an ESPHome node: `//HOST[:6053][/PORT]`, where PORT is its number or its name.
public struct ESPHomeAddress: Sendable, Hashable, CustomStringConvertible {
  /// The port of the native API that nodes have if nothing else is set.
  public static let usualPort: UInt16 = 6_053

  /// The node.
  public let node: NetworkAddress
  /// The number of its serial port, or the port's name; nil means its only one.
  public let port: String?

  /// A serial port of a node.
  public init(node: NetworkAddress, port: String? = nil) { (self.node, self.port) = (node, port) }

  /// Reads `//HOST`, `//HOST:6053`, `//HOST/PORT`, also without the two slashes; nil for anything else. In the name of a port, `%2F` is a
  /// slash, and so on.
  public init?(_ text: String) {
    let place = text.hasPrefix("//") ? text.dropFirst(2) : text[...]
    let parts = place.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let host = String(parts[0])
    // A query, as other programs have behind it, isn't a part of the host.
    guard !host.contains(where: { "?#".contains($0) }),
      let node = NetworkAddress(host) ?? NetworkAddress("\(host):\(Self.usualPort)")
    else { return nil }
    guard parts.count == 2, !parts[1].isEmpty else {
      self.init(node: node)
      return
    }
    guard let port = Self.decoded(parts[1]) else { return nil }
    self.init(node: node, port: port)
  }

  /// `//HOST`, with the port of the API if it isn't the usual one, and the serial port.
  public var description: String {
    let node = node.description
    let host = self.node.port == Self.usualPort ? String(node.dropLast(":\(Self.usualPort)".utf8.count)) : node
    return "//" + host + (port.map { "/" + Self.encoded($0) } ?? "")
  }

  /// The longest name of a port, in bytes.
  private static let nameLimit = 120

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }

  private static func encoded(_ name: String) -> String {
    name.utf8.map { isPlain($0) ? String(UnicodeScalar($0)) : "%" + Hexadecimal.string([$0]).uppercased() }.joined()
  }

  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      // Nor of the name.
      guard byte != UInt8(ascii: "/"), byte != UInt8(ascii: "?"), byte != UInt8(ascii: "#") else { return nil }
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let value = Hexadecimal.bytes(String(decoding: rest.prefix(2), as: UTF8.self)), value.count == 1 else {
        return nil
      }
      bytes += value
      rest = rest.dropFirst(2)
    }
    guard bytes.count <= nameLimit, !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
