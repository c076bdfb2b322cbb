// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The hosts by which a server may be asked. A page of any web site can make its visitor's browser ask this machine under
/// that site's own name (DNS rebinding), and would then be let to read the answer.
package struct HostNames: Sendable {
  private let names: Set<String>

  /// Loopback addresses, "localhost", and these names and addresses.
  package init(_ names: [String] = []) { self.names = Set(names.map { Self.bare($0.lowercased()) }) }

  /// Whether a request for this host, with a port or without, is answered.
  func allow(_ host: String) -> Bool {
    guard let name = Self.name(host.lowercased()) else { return false }
    return name == "localhost" || names.contains(name) || (IPAddress(name)?.isLoopback ?? false)
  }

  private static func bare(_ name: String) -> String {
    name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
  }

  /// The host without its port; nil where it isn't one.
  private static func name(_ host: String) -> String? {
    let name: Substring
    let rest: Substring
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return nil }
      (name, rest) = (host[..<end].dropFirst(), host[host.index(after: end)...])
    } else {
      name = host.prefix { $0 != ":" }
      rest = host[name.endIndex...]
    }
    guard rest.isEmpty || rest.first == ":" && rest.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) else {
      return nil
    }
    return String(name)
  }
}
