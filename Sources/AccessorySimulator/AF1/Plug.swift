// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A simulated accessory that is plugged in.
struct Plug: Sendable {
  /// The path of the terminal, or of the USB device in sysfs.
  let path: String
  /// The accessory's end of the connection.
  let transport: any Transport
  /// The transport as a USB device; nil for a terminal.
  let usb: USBDeviceTransport?
  private let presence: Presence?

  /// Plugs an accessory in. A USB device is plugged into the port at `path` again if that is free. `onLine` is called
  /// when the host changes a USB device's serial settings; `onUse` on the I/O thread when the first program opens the
  /// pseudo-terminal (true) and when the last one has closed it (false).
  static func make(
    _ connection: AF1Simulator.Connection, _ hints: DiscoveryHints, preferring path: String? = nil, io: IOThread,
    onLine: @escaping @Sendable (HostLineSettings) -> Void = { _ in }, onUse: (@Sendable (Bool) -> Void)? = nil
  ) async throws(AccessoryError) -> Plug {
    switch connection {
    case .pseudoTerminal:
      let terminal = try await PseudoTerminal.open(mode: nil, io: io, onUse: onUse)
      do throws(AccessoryError) {
        let presence = try Presence(of: terminal.path, hints)
        return Plug(path: terminal.path, transport: terminal.transport, usb: nil, presence: presence)
      } catch {
        await terminal.transport.close()
        throw error
      }
    case .usb(let identity, let host):
      // The kernel finds a USB device, so it isn't announced.
      let usb = try await USBDeviceTransport.plugIn(identity, into: host, preferring: path, io: io, onLine: onLine)
      return Plug(path: usb.label, transport: usb, usb: usb, presence: nil)
    }
  }

  /// Removes the link and the announcement.
  func removeTraces() { presence?.remove() }

  /// Unplugs the accessory and removes its link and announcement. Returns when everything is closed.
  func close() async {
    removeTraces()
    await transport.close()
  }
}
