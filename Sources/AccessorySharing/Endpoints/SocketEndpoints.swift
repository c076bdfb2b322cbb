// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A TCP port whose connections carry the device's bytes.
public struct NetworkEndpoint: SharingEndpoint {
  /// "tcp:127.0.0.1:7000".
  public var label: String { listener.label }
  /// The port.
  public let port: UInt16
  private let listener: ConnectionListener

  /// Listens at `host`, where port 0 is any that is free. Only this machine's programs can connect, and machines with addresses
  /// in `networks`. A connection that begins as a web browser's does is closed: any page on the web could make one.
  ///
  /// Throws `notFound` for a host that isn't known, `misconfigured` where other machines could connect and `networks` is empty,
  /// and what the system says.
  public static func listen(
    at host: String, port: UInt16, networks: [IPNetwork] = [], limit: EndpointLimit = EndpointLimit(),
    for hub: SharingHub
  ) async throws(AccessoryError) -> NetworkEndpoint {
    let (listener, place) = try await ConnectionListener.listen(
      at: host, port: port, networks: networks, endsWithInput: false, io: hub.io,
      onRefused: { hub.tell(.refused("tcp:\($0)", reason: "its address is not allowed")) },
      onConnect: { client in
        hub.enter { $0.welcome(client, name: client.label, kind: .network, at: limit) }
      })
    return NetworkEndpoint(port: place.port, listener: listener)
  }

  /// Takes no more clients in.
  public func close() async { await listener.close() }
}

/// A TCP port for clients of RFC 2217: telnet, with the settings and modem lines of the device's line. Clients that know nothing of
/// that get the bytes.
public struct RFC2217Endpoint: SharingEndpoint {
  /// "rfc2217:127.0.0.1:7001".
  public var label: String { listener.label }
  /// The port.
  public let port: UInt16
  private let listener: ConnectionListener

  /// Listens as `NetworkEndpoint` does, and throws the same.
  public static func listen(
    at host: String, port: UInt16, networks: [IPNetwork] = [], limit: EndpointLimit = EndpointLimit(),
    for hub: SharingHub
  ) async throws(AccessoryError) -> RFC2217Endpoint {
    let (listener, place) = try await ConnectionListener.listen(
      at: host, port: port, scheme: .rfc2217, networks: networks, endsWithInput: true, io: hub.io,
      onRefused: { hub.tell(.refused("rfc2217:\($0)", reason: "its address is not allowed")) },
      onConnect: { client in
        hub.enter { $0.welcome(client, name: client.label, kind: .rfc2217, at: limit) }
      })
    return RFC2217Endpoint(port: place.port, listener: listener)
  }

  /// Takes no more clients in.
  public func close() async { await listener.close() }
}

/// A socket with a path whose connections carry the device's bytes.
public struct UnixEndpoint: SharingEndpoint {
  /// "unix:./lamp.sock".
  public var label: String { listener.label }
  private let listener: ConnectionListener

  /// Listens at `path`; the file has this mode. A socket that a killed program left behind is replaced.
  ///
  /// Throws `busy` when somebody listens there, `misconfigured` when something else is there or the path is too long, and what
  /// the system says.
  public static func listen(
    at path: String, mode: UInt16 = 0o600, limit: EndpointLimit = EndpointLimit(), for hub: SharingHub
  ) async throws(AccessoryError) -> UnixEndpoint {
    let label = DeviceAddress.unix(path).description
    let listener = try await ConnectionListener.listen(unix: path, mode: mode, endsWithInput: false, io: hub.io) {
      client in
      hub.enter { $0.welcome(client, name: label, kind: .local, at: limit) }
    }
    return UnixEndpoint(listener: listener)
  }

  /// Takes no more clients in, and removes the file.
  public func close() async { await listener.close() }
}

/// This process's standard input and output. There can be one.
public struct StandardStreamsEndpoint: SharingEndpoint {
  /// "standard input and output".
  public var label: String { streams.label }
  private let streams: StandardStreams

  /// Passes what comes on standard input to the device, and what the device sends to standard output. `onEnd` is called on the
  /// I/O thread when standard input has ended and the device has been silent for a while, or when all is closed.
  public static func open(for hub: SharingHub, onEnd: @escaping @Sendable () -> Void) async -> StandardStreamsEndpoint {
    let streams = StandardStreams(io: hub.io)
    await hub.join(streams, name: streams.label, kind: .local, onLeave: onEnd)
    return StandardStreamsEndpoint(streams: streams)
  }

  /// Ends both.
  public func close() async { await streams.close() }
}
