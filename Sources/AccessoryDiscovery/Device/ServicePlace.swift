// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

/// Where the service answers.
package enum ServicePlace {
  /// The socket of the service that is started with the system.
  package static let system = "/run/accessory-bridge/" + name

  private static let name = "bridge.socket"

  /// The socket for a service that runs in this process: `$ACCESSORY_BRIDGE_SOCKET`; or in `$RUNTIME_DIRECTORY`, as
  /// systemd sets it; or in the user's own directory. Throws `misconfigured` when there is no such directory.
  package static func own() throws(AccessoryError) -> String {
    if let path = variable("ACCESSORY_BRIDGE_SOCKET"), path != none { return path }
    if let directory = variable("RUNTIME_DIRECTORY")?.split(separator: ":").first { return directory + "/" + name }
    return try RuntimeDirectory.path() + "/" + name
  }

  /// The sockets at which a client looks for services: the user's own, then the system's. `$ACCESSORY_BRIDGE_SOCKET`
  /// names another one instead; with "none" there is none.
  package static func all() -> [String] {
    if let path = variable("ACCESSORY_BRIDGE_SOCKET") { return path == none ? [] : [path] }
    return [(try? RuntimeDirectory.path()).map { $0 + "/" + name }, system].compactMap { $0 }
  }

  private static let none = "none"

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
