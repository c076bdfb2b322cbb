// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The sockets of a service.
package struct ControlSockets: Sendable {
  /// The socket for everything.
  package let bridge: ControlSocket
  /// The socket for clients that only read; nil if the service has none.
  package var readings: ControlSocket?

  package init(bridge: ControlSocket, readings: ControlSocket? = nil) {
    (self.bridge, self.readings) = (bridge, readings)
  }
}

// Sockets that systemd passes.

extension ControlSockets {
  /// The first descriptor that systemd passes: sd_listen_fds(3).
  private static let firstPassed: CInt = 3
  /// The name of the socket for readings (`FileDescriptorName=`). The other socket may have any name.
  private static let readingsName = "readings"

  /// The sockets that systemd passes to this process (sd_listen_fds(3)); nil when there are none. Throws
  /// `misconfigured` unless they are one for everything and at most one for readings, and listening stream sockets of
  /// the family AF_UNIX. Call it once.
  package static func passed() throws(AccessoryError) -> ControlSockets? {
    func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    guard text("LISTEN_PID").flatMap({ Int($0) }) == Int(getpid()), let count = text("LISTEN_FDS").flatMap({ Int($0) }),
      count > 0
    else { return nil }
    let places = try places(ofNames: text("LISTEN_FDNAMES"), count: count)
    func socket(_ place: Int) throws(AccessoryError) -> ControlSocket {
      try ControlSocket.adopt(FileDescriptor(rawValue: firstPassed + CInt(place)))
    }
    var sockets = ControlSockets(bridge: try socket(places.bridge))
    if let readings = places.readings { sockets.readings = try socket(readings) }
    return sockets
  }

  /// The places of the sockets among `count` passed ones with these names, which are separated by colons.
  static func places(ofNames names: String?, count: Int) throws(AccessoryError) -> (bridge: Int, readings: Int?) {
    guard count <= 2 else {
      throw AccessoryError(
        .misconfigured,
        "systemd passed \(count) sockets, and one or two were expected: check the .socket units of this service")
    }
    let names = (names ?? "").split(separator: ":", omittingEmptySubsequences: false)
    let readings = (0..<count).filter { $0 < names.count && names[$0] == readingsName }
    guard let bridge = (0..<count).first(where: { !readings.contains($0) }), readings.count == count - 1 else {
      let problem =
        readings.isEmpty
        ? "systemd passed two sockets, and none of them has FileDescriptorName=\(readingsName)"
        : "systemd passed no socket but those with FileDescriptorName=\(readingsName)"
      throw AccessoryError(.misconfigured, "\(problem): check the .socket units of this service")
    }
    return (bridge, readings.first)
  }
}

extension ControlSocket {
  /// Takes over a listening socket that another program has created, and will remove.
  package static func adopt(_ descriptor: FileDescriptor) throws(AccessoryError) -> ControlSocket {
    guard UnixSocket.isListening(descriptor) else {
      throw AccessoryError(
        .misconfigured, "the descriptor that systemd passed is not a listening stream socket: check the .socket unit")
    }
    Socket.adopt(descriptor)
    let path = UnixSocket.path(of: descriptor)
    var file = stat()
    let group = path.flatMap { lstat($0, &file) == 0 ? file.st_gid : nil }
    return ControlSocket(passed: descriptor, path: path, group: group)
  }
}
