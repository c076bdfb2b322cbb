// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// What a pretended brick is connected by, for as long as it is.
struct EV3Socket: Sendable {
  /// Where it is.
  let path: String
  /// The brick's end of the way to its host; over the network there is none until one comes.
  private(set) var transport: (any Transport)?

  private let plug: Plug?
  private let listener: NetworkListener?
  private let announcement: AnnouncementFile?
  /// What a host over the network has said of its greeting; nil when it is through.
  private var greeted: [UInt8]?

  var isNetwork: Bool { listener != nil }
  var isGreeting: Bool { greeted != nil }

  /// Connects; a USB device at `path` if that is free, where it was before. `onClient` is told of hosts that come over the network.
  static func open(
    _ configuration: EV3Simulator.Configuration, preferring path: String?, io: IOThread,
    onClient: @escaping @Sendable (DescriptorTransport) -> Void
  ) async throws(AccessoryError) -> EV3Socket {
    switch configuration.connection {
    case .pseudoTerminal: return EV3Socket(try await Plug.make(.pseudoTerminal, configuration.traces, io: io))
    case .usb(let host):
      let identity = SimulatedUSBIdentity.ev3(serialNumber: configuration.device.serialNumber)
      return EV3Socket(try await Plug.make(.usb(identity, host: host), configuration.traces, preferring: path, io: io))
    case .network(let host, let port):
      let listener = try await NetworkListener.listen(at: host, port: port, io: io, onConnect: onClient)
      do throws(AccessoryError) {
        return EV3Socket(listener, try announce(listener.address, configuration.traces))
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

  private static func announce(
    _ address: NetworkAddress, _ traces: Traces
  ) throws(AccessoryError) -> AnnouncementFile? {
    guard var announcement = traces.announcement else { return nil }
    announcement.path = DeviceAddress.tcp(address).description
    return try AnnouncementFile(announcement, name: "tcp-\(address.port)", directory: traces.directory)
  }

  // MARK: - Greetings

  enum Greeting {
    case unfinished
    case accepted([UInt8])
    case refused
  }

  /// A host has come.
  mutating func greet(_ client: DescriptorTransport) {
    transport = client
    greeted = []
  }

  /// The host has gone.
  mutating func lose() {
    transport = nil
    greeted = nil
  }

  /// Takes more of what the host says before it may send commands: two lines of which the first begins with
  /// `GET /target?sn=` and the second names the protocol. The end of the second line may be missing.
  mutating func greeting(_ more: [UInt8]) -> Greeting {
    let said = (greeted ?? []) + more
    greeted = said
    let text = String(decoding: said.prefix(256), as: UTF8.self)
    let start = "GET /target?sn="
    guard text.hasPrefix(start) || start.hasPrefix(text), said.count < 256 else { return .refused }
    // Who ends lines like that ends the last one, too.
    let isFormal = said.contains(UInt8(ascii: "\r"))
    guard said.contains(UInt8(ascii: "\n")), text.hasSuffix(isFormal ? "EV3\r\n\r\n" : "EV3") else {
      return .unfinished
    }
    greeted = nil
    return .accepted(Array("Accept:EV340\r\n\r\n".utf8))
  }

  // MARK: - The end

  func beginClose() {
    plug?.removeTraces()
    announcement?.remove()
    listener?.close()
    transport?.beginClose()
  }

  /// Returns when it is closed; to be called behind `beginClose`, or instead of it.
  func close() async {
    if let plug { await plug.transport.close() } else { await transport?.close() }
  }
}

extension EV3Simulator.Configuration {
  /// By what it is found where no kernel tells of it.
  var traces: Traces {
    var announcement = Announcement(
      path: "", driver: "ev3", name: device.name, manufacturer: "LEGO", model: "EV3", serial: device.serialNumber)
    announcement.firmware = device.firmwareVersion
    announcement.hardware = device.hardwareVersion
    return Traces(link: link, announcement: isAnnounced ? announcement : nil, directory: announcementDirectory)
  }
}

extension SimulatedUSBIdentity {
  /// A brick, as it shows itself (the firmware's d_usbdev.c).
  static func ev3(serialNumber: String) -> SimulatedUSBIdentity {
    var identity = SimulatedUSBIdentity(.reports)
    (identity.vendorID, identity.productID, identity.release) = (0x0694, 0x0005, 0x0216)
    identity.manufacturer = "LEGO Group"
    identity.product = "EV3 brick    "
    identity.serialNumber = serialNumber
    return identity
  }
}
