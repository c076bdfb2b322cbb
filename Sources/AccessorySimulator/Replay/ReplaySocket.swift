// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// The terminal, USB device or network port of a replayed accessory while it is plugged in.
struct ReplaySocket: Sendable {
  /// The path or network address that hosts open.
  let path: String
  /// The accessory's transport to its host; nil on the network while no host is connected.
  var transport: (any Transport)?
  private let plug: Plug?
  private let listener: NetworkListener?
  private let announcement: AnnouncementFile?

  var isNetwork: Bool { listener != nil }

  /// Plugs the accessory in. `port` is the network port (nil: that of the configuration), and `path` is the preferred
  /// path of a USB device. `onUse` is called on the I/O thread when a pseudo-terminal is opened (true) and closed
  /// (false), `onClient` when a host connects over the network.
  ///
  /// Throws what `Plug.make` and `NetworkListener.listen` throw.
  static func open(
    _ configuration: ReplaySimulator.Configuration, preferring path: String?, port: UInt16?, io: IOThread,
    onUse: @escaping @Sendable (Bool) -> Void, onClient: @escaping @Sendable (DescriptorTransport) -> Void
  ) async throws(AccessoryError) -> ReplaySocket {
    switch configuration.connection {
    case .pseudoTerminal:
      return ReplaySocket(
        try await Plug.make(.pseudoTerminal, configuration.hints, io: io, onUse: onUse))
    case .usb(let identity, let host):
      return ReplaySocket(
        try await Plug.make(.usb(identity, host: host), configuration.hints, preferring: path, io: io))
    case .network(let host, let wanted):
      let listener = try await NetworkListener.listen(at: host, port: port ?? wanted, io: io, onConnect: onClient)
      do throws(AccessoryError) {
        return ReplaySocket(listener, try configuration.hints.announce(at: listener.address))
      } catch {
        listener.close()
        throw error
      }
    }
  }

  private init(_ plug: Plug) {
    (self.plug, path, transport) = (plug, plug.path, plug.transport)
    (listener, announcement) = (nil, nil)
  }

  private init(_ listener: NetworkListener, _ announcement: AnnouncementFile?) {
    (self.listener, self.announcement) = (listener, announcement)
    path = DeviceAddress.tcp(listener.address).description
    plug = nil
  }

  /// The network port at which it listens; nil for other connections.
  var port: UInt16? { listener?.address.port }

  /// Unplugs the accessory and ends its connection, without waiting.
  func beginClose() {
    plug?.removeTraces()
    announcement?.remove()
    listener?.close()
    transport?.beginClose()
  }

  /// Waits until the transport is closed. Call `beginClose` first.
  func close() async {
    if let plug { await plug.transport.close() } else { await transport?.close() }
  }
}
