// SPDX-License-Identifier: Apache-2.0

/// A TCP port of a host: `HOST:PORT`, with an IPv6 address in brackets.
public struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
  /// A host name or an IP address.
  public let host: String
  /// The TCP port.
  public let port: UInt16

  /// The port of a host.
  public init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`; nil for anything else. A name has at most 253 bytes, none of them a space or a slash.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
      return nil
    }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    let isPlain = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
    guard !host.isEmpty, host.utf8.count <= 253, isPlain else { return nil }
    self.init(host: String(host), port: port)
  }

  /// `HOST:PORT`.
  public var description: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
