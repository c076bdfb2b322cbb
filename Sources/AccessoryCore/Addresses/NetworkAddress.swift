// SPDX-License-Identifier: Apache-2.0

/// A place on the network, as a user writes it: `tcp:HOST:PORT`, with an IPv6 address in brackets.
public struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
  /// A name or an address.
  public let host: String
  /// The TCP port.
  public let port: UInt16

  /// The first letters of what means one.
  public static let prefix = "tcp:"

  /// A place.
  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `tcp:HOST:PORT`; nil for anything else. A name has at most 253 bytes, none of them a space or a slash.
  public init?(_ text: String) {
    guard text.hasPrefix(Self.prefix) else { return nil }
    let rest = text.dropFirst(Self.prefix.count)
    guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]), port > 0 else {
      return nil
    }
    var host = rest[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    let isPlain = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    guard !host.isEmpty, host.utf8.count <= 253, isPlain else { return nil }
    self.init(host: String(host), port: port)
  }

  /// `tcp:HOST:PORT`.
  public var description: String { Self.prefix + (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
