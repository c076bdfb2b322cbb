// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// The connection of a simulated brick, while it is connected.
struct EV3Socket: Sendable {
  /// The path of the terminal, of the USB device in sysfs, or of the TCP address.
  let path: String
  /// The brick's end of the connection; nil on the network while no host is connected.
  private(set) var transport: (any Transport)?

  private let plug: Plug?
  private let listener: NetworkListener?
  private let announcement: AnnouncementFile?
  /// The greeting that a host on the network has sent so far; nil when it is complete.
  private var greeted: [UInt8]?

  var isNetwork: Bool { listener != nil }
  var isGreeting: Bool { greeted != nil }

  /// Connects a brick. A USB device is plugged into the port at `path` again if that is free. `onClient` is called for
  /// each host that connects on the network.
  static func open(
    _ configuration: EV3Simulator.Configuration, preferring path: String?, io: IOThread,
    onClient: @escaping @Sendable (DescriptorTransport) -> Void
  ) async throws(AccessoryError) -> EV3Socket {
    switch configuration.connection {
    case .pseudoTerminal: return EV3Socket(try await Plug.make(.pseudoTerminal, configuration.hints, io: io))
    case .usb(let host):
      let identity = SimulatedUSBIdentity.ev3(serialNumber: configuration.device.serialNumber)
      return EV3Socket(try await Plug.make(.usb(identity, host: host), configuration.hints, preferring: path, io: io))
    case .network(let host, let port):
      let listener = try await NetworkListener.listen(at: host, port: port, io: io, onConnect: onClient)
      do throws(AccessoryError) {
        return EV3Socket(listener, try configuration.hints.announce(at: listener.address))
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

  // MARK: - Greetings

  enum Greeting {
    case unfinished
    case accepted([UInt8])
    case refused
  }

  /// Starts the greeting of a host that has connected.
  mutating func greet(_ client: DescriptorTransport) {
    transport = client
    greeted = []
  }

  /// Handles the end of the connection to a host.
  mutating func lose() {
    transport = nil
    greeted = nil
  }

  /// Handles further bytes of the greeting that a host must send before commands: two lines, of which the first begins
  /// with `GET /target?sn=` and the second names the protocol. The end of the second line may be missing.
  mutating func greeting(_ more: [UInt8]) -> Greeting {
    let said = (greeted ?? []) + more
    greeted = said
    let text = String(decoding: said.prefix(256), as: UTF8.self)
    let start = "GET /target?sn="
    guard text.hasPrefix(start) || start.hasPrefix(text), said.count < 256 else { return .refused }
    // A host that ends lines with CR LF also ends the last line.
    let isFormal = said.contains(UInt8(ascii: "\r"))
    guard said.contains(UInt8(ascii: "\n")), text.hasSuffix(isFormal ? "EV3\r\n\r\n" : "EV3") else {
      return .unfinished
    }
    greeted = nil
    return .accepted(Array("Accept:EV340\r\n\r\n".utf8))
  }

  // MARK: - Closing

  func beginClose() {
    plug?.removeTraces()
    announcement?.remove()
    listener?.close()
    transport?.beginClose()
  }

  /// Closes the transport, and returns when that is done. Call it after `beginClose`, or instead of it.
  func close() async {
    if let plug { await plug.transport.close() } else { await transport?.close() }
  }
}

extension EV3Simulator.Configuration {
  /// The link and the announcement, for connections that the kernel doesn't report to other programs.
  var hints: DiscoveryHints {
    var announcement = Announcement(
      path: "", driver: "ev3", name: device.name, manufacturer: "LEGO", model: "EV3", serial: device.serialNumber)
    announcement.firmware = device.firmwareVersion
    announcement.hardware = device.hardwareVersion
    return DiscoveryHints(link: link, announcement: isAnnounced ? announcement : nil, directory: announcementDirectory)
  }
}

extension SimulatedUSBIdentity {
  /// The USB identity of a brick (d_usbdev.c in the firmware).
  static func ev3(serialNumber: String) -> SimulatedUSBIdentity {
    var identity = SimulatedUSBIdentity(.reports)
    (identity.vendorID, identity.productID, identity.release) = (0x0694, 0x0005, 0x0216)
    identity.manufacturer = "LEGO Group"
    identity.product = "EV3 brick    "
    identity.serialNumber = serialNumber
    return identity
  }
}
