// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// What a simulated accessory is plugged into, for as long as it is.
struct Plug: Sendable {
  /// Where it is.
  let path: String
  /// The accessory's end.
  let transport: any Transport
  /// The same as a USB device, where it is one.
  let usb: USBDeviceTransport?
  private let presence: Presence?

  /// Plugs in; a USB device at `path` if that is free, where it was before. `onLine` is told what a host asks of a USB device's serial line.
  static func make(
    _ connection: AF1Simulator.Connection, _ traces: Traces, preferring path: String? = nil, io: IOThread,
    onLine: @escaping @Sendable (HostLineSettings) -> Void = { _ in }
  ) async throws(AccessoryError) -> Plug {
    switch connection {
    case .pseudoTerminal:
      let terminal = try await PseudoTerminal.open(io: io)
      do throws(AccessoryError) {
        let presence = try Presence(of: terminal.path, traces)
        return Plug(path: terminal.path, transport: terminal.transport, usb: nil, presence: presence)
      } catch {
        await terminal.transport.close()
        throw error
      }
    case .usb(let identity, let host):
      // Found by the system's own means: no announcement.
      let usb = try await USBDeviceTransport.plugIn(identity, into: host, preferring: path, io: io, onLine: onLine)
      return Plug(path: usb.label, transport: usb, usb: usb, presence: nil)
    }
  }

  /// Takes away what others found it by.
  func removeTraces() { presence?.remove() }

  /// Pulls the cable and takes away what others found it by; returns when all is closed.
  func close() async {
    removeTraces()
    await transport.close()
  }
}
