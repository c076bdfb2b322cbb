// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// What a simulated accessory is connected to.
public enum SimulatorConnection: Sendable {
  /// A pseudo-terminal, which looks like a serial port. Other programs find it by its announcement.
  case pseudoTerminal
  /// A TCP port for one client at a time, which is announced; with port 0 the kernel chooses a free port.
  case network(host: String, port: UInt16)
  /// A serial port over Bluetooth Low Energy, for whatever finds it.
  case bluetooth(GATTUARTServer.Settings)
  /// A USB port of `host`, where the kernel finds the device like a real one.
  case usb(SimulatedUSBIdentity, host: any USBHost = KernelHost())
}

/// A simulated accessory that is plugged in.
package struct Plug: Sendable {
  /// What the transports of a plug tell. They are called on any thread.
  struct Listeners: Sendable {
    /// The host has changed a USB device's serial settings.
    var line: (@Sendable (HostLineSettings) -> Void)?
    /// The first program has opened the pseudo-terminal (true), or the last one has closed it (false).
    var use: (@Sendable (Bool) -> Void)?
    /// A host has connected over the network or the air.
    var client: @Sendable (any Transport) -> Void
  }

  /// The path of the terminal, of the USB device in sysfs, or of the TCP address; or the name on the air, as `ble:NAME`.
  package let path: String
  /// The accessory's end of the connection; nil on the network and the air while no host is connected.
  package var transport: (any Transport)?
  private let presence: Presence?
  private let listener: NetworkListener?
  private var air: GATTUARTServer?
  private var usb: USBDeviceTransport?

  /// Plugs an accessory in. A USB device is plugged into the port at `path` again if that is free.
  static func make(
    _ connection: SimulatorConnection, _ hints: DiscoveryHints, preferring path: String?, io: IOThread,
    _ listeners: Listeners
  ) async throws(AccessoryError) -> Plug {
    switch connection {
    case .pseudoTerminal:
      let terminal = try await PseudoTerminal.open(mode: nil, io: io, onUse: listeners.use)
      return try await attempt { () throws(AccessoryError) in
        let presence = try Presence(of: terminal.path, hints)
        return Plug(path: terminal.path, transport: terminal.transport, presence: presence, listener: nil)
      } onFailure: { _ in
        await terminal.transport.close()
      }
    case .network(let host, let port):
      let listener = try await NetworkListener.listen(at: host, port: port, io: io, onConnect: listeners.client)
      do throws(AccessoryError) {
        let path = DeviceAddress.tcp(listener.address).description
        return Plug(path: path, presence: try Presence(at: listener.address, hints), listener: listener)
      } catch {
        listener.close()
        throw error
      }
    case .bluetooth(let settings):
      if let refusal = settings.refusal { throw AccessoryError(.misconfigured, refusal) }
      let first = OneShot<AccessoryError?>()
      let server = GATTUARTServer(settings, io: io, onConnect: listeners.client) { news in
        switch news {
        case .offered: first.finish(nil)
        case .trouble(let error, _): first.finish(error)
        case .unheard: break
        }
      }
      await server.offer()
      if let error = await first.value() {
        await server.close()
        throw error
      }
      var plug = Plug(path: "ble:\(SafeText.escape(settings.name))", presence: nil, listener: nil)
      plug.air = server
      return plug
    case .usb(let identity, let host):
      // The kernel finds a USB device, so it isn't announced.
      let usb = try await USBDeviceTransport.plugIn(
        identity, into: host, preferring: path, io: io, onLine: listeners.line)
      return Plug(path: usb.label, transport: usb, presence: nil, listener: nil, usb: usb)
    }
  }

  /// Whether hosts connect over the network or the air, one after another.
  package var isNetwork: Bool { listener != nil || air != nil }
  /// The network port at which it listens; nil for other connections.
  var port: UInt16? { listener?.address.port }

  /// A fault on the bus of a USB device.
  package enum BusFault: Sendable {
    /// The IN endpoint is halted.
    case stall
    /// One IN transfer fails.
    case protocolError
  }

  /// Causes a fault, after everything that was sent before. Returns false if the accessory isn't a USB device.
  package func fail(_ fault: BusFault) -> Bool {
    guard let usb else { return false }
    usb.fail(fault)
    return true
  }

  /// Unplugs the accessory without waiting, and removes its link and announcement.
  func beginClose() {
    presence?.remove()
    listener?.close()
    transport?.beginClose()
    if let air { Task { await air.close() } }
  }

  /// Unplugs the accessory. Returns when everything is closed.
  func close() async {
    beginClose()
    await transport?.close()
    await air?.close()
  }
}
