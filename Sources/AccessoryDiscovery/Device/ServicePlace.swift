// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

/// The paths of the service's socket.
package enum ServicePlace {
  /// The socket of the service that starts with the system.
  package static let system = "/run/accessory-bridge/" + name

  /// The socket of the system's service for devices on the network.
  package static let systemNetwork = "/run/accessory-bridge-network/" + name

  private static let name = "bridge.socket"
  /// The folder, in the user's own, of a service for devices that are named.
  private static let networkFolder = "/network"

  /// The socket for a service that runs in this process: `$ACCESSORY_BRIDGE_SOCKET`; otherwise in `$RUNTIME_DIRECTORY`,
  /// which systemd sets; otherwise in the user's own directory, where a service for devices that its command names
  /// (`isForNamed`) has a folder of its own. Throws `misconfigured` when the directory can't be used.
  package static func own(forNamed isForNamed: Bool = false) throws(AccessoryError) -> String {
    if let path = variable("ACCESSORY_BRIDGE_SOCKET"), path != none { return path }
    if let directory = variable("RUNTIME_DIRECTORY")?.split(separator: ":").first { return directory + "/" + name }
    return try RuntimeDirectory.path() + (isForNamed ? networkFolder : "") + "/" + name
  }

  /// The sockets at which a client looks for services: the user's own, then the system's; in each place first that of the
  /// service for plugged-in devices, then that of the service for named devices. If `$ACCESSORY_BRIDGE_SOCKET` is set, only
  /// that socket, or no socket if it is "none".
  package static func all() -> [String] {
    if let path = variable("ACCESSORY_BRIDGE_SOCKET") { return path == none ? [] : [path] }
    let own = try? RuntimeDirectory.path()
    return [own.map { $0 + "/" + name }, own.map { $0 + networkFolder + "/" + name }, system, systemNetwork]
      .compactMap { $0 }
  }

  private static let none = "none"

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }
}
