// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The address of a broker as a user writes it: `mqtt[s]://[USER@]HOST[:PORT]`.
package struct BrokerAddress: Sendable, Hashable, CustomStringConvertible {
  /// The host name or IP address. With TLS, the broker's certificate must be issued for it.
  package var host: String
  /// The TCP port.
  package var port: Int
  /// Whether the connection is encrypted.
  package var usesTLS: Bool
  /// The user name to log in with; nil for none.
  package var user: String?

  /// The registered ports of MQTT and of MQTT over TLS.
  private static let standardPorts = (plain: 1_883, encrypted: 8_883)
  /// The longest host name in DNS.
  private static let longestHost = 253
  private static let longestUser = 256

  /// Reads an address. Throws `misconfigured`. A password in the address is an error, since other users can see a program's
  /// arguments.
  package init(_ text: String) throws(AccessoryError) {
    func wrong(_ reason: String) -> AccessoryError {
      AccessoryError(
        .misconfigured,
        "\(SafeText.escape(text)) isn't the address of a broker: \(reason); write mqtt://[USER@]HOST[:PORT], "
          + "or mqtts:// for TLS")
    }
    var rest = text[...]
    if rest.hasPrefix("mqtt://") {
      usesTLS = false
    } else if rest.hasPrefix("mqtts://") {
      usesTLS = true
    } else {
      throw wrong("it doesn't begin with mqtt:// or mqtts://")
    }
    rest = rest[rest.range(of: "://").upperBound...]
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    if let at = rest.lastIndex(of: "@") {
      let name = rest[..<at]
      guard !name.contains(":") else {
        // Don't repeat the password in the error.
        throw AccessoryError(
          .misconfigured,
          "the broker's address has a password in it, which every user of this machine could see: put it into "
            + "a file, and name that with --password-file")
      }
      guard let plain = Self.withoutEscapes(name), !plain.isEmpty, plain.utf8.count <= Self.longestUser else {
        throw wrong("the user's name is empty, too long, or has an invalid % escape")
      }
      user = plain
      rest = rest[rest.index(after: at)...]
    }
    var portText: Substring?
    if rest.hasPrefix("[") {
      guard let end = rest.firstIndex(of: "]") else { throw wrong("a ] is missing") }
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      let after = rest[rest.index(after: end)...]
      guard after.isEmpty || after.hasPrefix(":") else {
        throw wrong("there is something after the ] that is not a port")
      }
      portText = after.isEmpty ? nil : after.dropFirst()
    } else {
      let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2 else { throw wrong("an IPv6 address needs brackets, like [::1]") }
      host = String(parts.first ?? "")
      portText = parts.count == 2 ? parts[1] : nil
    }
    guard !host.isEmpty, host.utf8.count <= Self.longestHost,
      host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
    else { throw wrong("the host is missing or invalid") }
    guard let portText else {
      port = usesTLS ? Self.standardPorts.encrypted : Self.standardPorts.plain
      return
    }
    guard let number = Int(portText), (1...65_535).contains(number) else {
      throw wrong("the port isn't from 1 to 65535")
    }
    port = number
  }

  /// The address without the user's name.
  package var description: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(usesTLS ? "mqtts" : "mqtt")://\(name):\(port)"
  }

  /// Decodes percent escapes such as `%40`. Returns nil if the result isn't UTF-8.
  private static func withoutEscapes(_ text: Substring) -> String? {
    var (bytes, rest) = ([UInt8](), text.utf8[...])
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let digits = String(rest.prefix(2)), digits.utf8.count == 2, let value = UInt8(digits, radix: 16),
        value >= 0x20
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension Substring {
  /// The range of the first occurrence of `text`, which must exist.
  fileprivate func range(of text: String) -> Range<Index> {
    var start = startIndex
    while !self[start...].hasPrefix(text) { start = index(after: start) }
    return start..<index(start, offsetBy: text.count)
  }
}
