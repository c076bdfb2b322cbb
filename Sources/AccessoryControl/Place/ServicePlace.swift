// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The paths of the service's sockets: `bridge.socket`, and in the same folder `readings.socket`, on which clients only
/// read.
package enum ServicePlace {
  /// The socket of the service that starts with the system.
  package static let system = systemFolder + name

  /// The socket of the system's service for devices on the network.
  package static let systemNetwork = systemNetworkFolder + name

  private static let (systemFolder, systemNetworkFolder) = ("/run/accessory-bridge/", "/run/accessory-bridge-network/")
  private static let (name, readingsName) = ("bridge.socket", "readings.socket")
  /// The folder, in the user's own, of a service for devices that are named.
  private static let networkFolder = "/network"

  /// The socket for a service that runs in this process: `$ACCESSORY_BRIDGE_SOCKET`; otherwise in `$RUNTIME_DIRECTORY`,
  /// which systemd sets; otherwise in the user's own directory, where a service for devices that its command names
  /// (`isForNamed`) has a folder of its own. Throws `misconfigured` when the directory can't be used.
  package static func own(forNamed isForNamed: Bool = false) throws(AccessoryError) -> String {
    if let path = variable("ACCESSORY_BRIDGE_SOCKET"), path != none { return path }
    if let directory = variable("RUNTIME_DIRECTORY")?.split(separator: ":").first { return directory + "/" + name }
    return try UserDirectory.path() + (isForNamed ? networkFolder : "") + "/" + name
  }

  /// The sockets at which a client looks for services: the user's own, then the system's; in each place first that of the
  /// service for plugged-in devices, then that of the service for named devices. If `$ACCESSORY_BRIDGE_SOCKET` is set, only
  /// that socket, or no socket if it is "none".
  package static func all() -> [String] {
    if let path = variable("ACCESSORY_BRIDGE_SOCKET") { return path == none ? [] : [path] }
    return usual(name)
  }

  // MARK: - Readings

  /// The sockets at which a client that only reads looks for services, in the order of `all()`. If
  /// `$ACCESSORY_BRIDGE_READINGS_SOCKET` is set, only that socket, or no socket if it is "none"; otherwise, if
  /// `$ACCESSORY_BRIDGE_SOCKET` is set, only the one beside that.
  package static func allReadings() -> [String] { allReadings(variable) }

  static func allReadings(_ variable: (String) -> String?) -> [String] {
    if let path = variable(readingsVariable) { return path == none ? [] : [path] }
    if let path = variable("ACCESSORY_BRIDGE_SOCKET") { return path == none ? [] : [readings(beside: path)] }
    return usual(readingsName)
  }

  /// The socket for readings of a service whose other socket is at `path`: `$ACCESSORY_BRIDGE_READINGS_SOCKET`, and otherwise
  /// the one beside `path`; nil if the variable is "none".
  package static func ownReadings(beside path: String) -> String? {
    guard let chosen = variable(readingsVariable) else { return readings(beside: path) }
    return chosen == none ? nil : chosen
  }

  /// The path of the socket for readings that belongs to the socket at `path`: `readings.socket` beside `bridge.socket`,
  /// and `NAME-readings.socket` beside another `NAME.socket`.
  package static func readings(beside path: String) -> String {
    let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    let (folder, file) = (path[..<start], path[start...])
    if file == name { return folder + readingsName }
    let ending = ".socket"
    return folder + (file.hasSuffix(ending) ? file.dropLast(ending.count) : file) + "-" + readingsName
  }

  private static func usual(_ name: String) -> [String] {
    let own = try? UserDirectory.path()
    return [
      own.map { $0 + "/" + name }, own.map { $0 + networkFolder + "/" + name }, systemFolder + name,
      systemNetworkFolder + name,
    ].compactMap { $0 }
  }

  private static let readingsVariable = "ACCESSORY_BRIDGE_READINGS_SOCKET"
  private static let none = "none"

  private static func variable(_ name: String) -> String? { UserDirectory.variable(name) }
}
