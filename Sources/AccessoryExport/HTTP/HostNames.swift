// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The host names that requests may contain. Without this check, any web site could make a visitor's browser send requests to this
/// machine under the site's own name (DNS rebinding) and read the replies.
package struct HostNames: Sendable {
  private let names: Set<String>

  /// Allows loopback addresses, "localhost", and these names and addresses.
  package init(_ names: [String] = []) { self.names = Set(names.map { Self.bare($0.lowercased()) }) }

  /// Whether to answer a request for this host, which may include a port.
  package func allow(_ host: String) -> Bool {
    guard let name = Self.name(host.lowercased()) else { return false }
    return name == "localhost" || names.contains(name) || (IPAddress(name)?.isLoopback ?? false)
  }

  private static func bare(_ name: String) -> String {
    name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
  }

  /// The host without its port; nil if the text isn't a host.
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
