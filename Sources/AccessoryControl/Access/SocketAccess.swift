// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What a client of a socket may do.
package enum SocketAccess: Sendable, Hashable, CaseIterable {
  /// Everything: `bridge.socket`.
  case everything
  /// Read, and perform the commands that the service's configuration names: `readings.socket`.
  case readings

  /// The methods that clients of `readings.socket` may call. All others are refused there, so that a new method is
  /// refused until it is added here.
  package static let readingMethods: Set<String> = [
    "org.varlink.service.GetInfo", "org.varlink.service.GetInterfaceDescription",
    Bridge.GetService.method, Bridge.List.method, Bridge.GetInfo.method, Bridge.GetStatus.method,
    Bridge.GetBattery.method, Bridge.GetValues.method, Bridge.GetHistory.method, Bridge.GetCommands.method,
    Bridge.Subscribe.method,
    // The service's configuration says which commands.
    Bridge.Perform.method,
  ]

  /// Whether clients may call this method, which has its interface's name in front.
  package func permits(_ method: String) -> Bool { self == .everything || Self.readingMethods.contains(method) }

  /// Throws `permissionDenied` if clients may not call this method. `places` are the paths of the server's sockets.
  func check(_ method: String, _ places: SocketPlaces) throws(CallError) {
    guard !permits(method) else { return }
    let name = method.split(separator: ".").last.map(String.init) ?? method
    let (here, there) = (places.readings ?? "this socket", places.bridge ?? "the service's bridge.socket")
    throw CallError(
      AccessoryError(
        .permissionDenied, "\(name) is not answered on \(here), which is for reading: call it on \(there)"))
  }
}

/// The paths of a server's sockets; nil for a passed socket without a path, and for a socket that the server doesn't have.
package struct SocketPlaces: Sendable, Hashable {
  package var bridge, readings: String?

  package init(bridge: String? = nil, readings: String? = nil) { (self.bridge, self.readings) = (bridge, readings) }
}
