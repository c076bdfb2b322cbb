// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A TCP port whose connections carry the device's bytes.
public struct NetworkEndpoint: SharingEndpoint {
  /// "tcp:127.0.0.1:7000".
  public var label: String { listener.label }
  /// The number of the port.
  public let port: UInt16
  private let listener: ConnectionListener

  /// Listens at `host`; with port 0 the system chooses a free port. Connections are accepted from this machine, and
  /// from addresses in `networks`. A connection that begins like a web browser's is closed, since any page on the web
  /// could open one.
  ///
  /// Throws `notFound` for an unknown host, `misconfigured` where other machines could connect and `networks` is empty,
  /// and the errors of the system calls.
  public static func listen(
    at host: String, port: UInt16, networks: [IPNetwork] = [], limit: EndpointLimit = EndpointLimit(),
    for hub: SharingHub
  ) async throws(AccessoryError) -> NetworkEndpoint {
    let (listener, place) = try await ConnectionListener.listen(
      at: host, port: port, networks: networks, endsWithInput: false, io: hub.io,
      onRefused: { hub.report(.refused("tcp:\($0)", reason: "its address is not allowed")) },
      onConnect: { client in
        hub.onThread { $0.clients.welcome(client, name: client.label, kind: .network, at: limit, connection: client) }
      })
    return NetworkEndpoint(port: place.port, listener: listener)
  }

  /// Accepts no more clients.
  public func close() async { await listener.close() }
}

/// A TCP port for clients of RFC 2217: telnet with the settings and modem lines of the device's serial line. Plain
/// telnet clients get the bytes only.
public struct RFC2217Endpoint: SharingEndpoint {
  /// "rfc2217:127.0.0.1:7001".
  public var label: String { listener.label }
  /// The number of the port.
  public let port: UInt16
  private let listener: ConnectionListener

  /// Listens like `NetworkEndpoint`, and throws the same errors.
  public static func listen(
    at host: String, port: UInt16, networks: [IPNetwork] = [], limit: EndpointLimit = EndpointLimit(),
    for hub: SharingHub
  ) async throws(AccessoryError) -> RFC2217Endpoint {
    let (listener, place) = try await ConnectionListener.listen(
      at: host, port: port, scheme: .rfc2217, networks: networks, endsWithInput: true, io: hub.io,
      onRefused: { hub.report(.refused("rfc2217:\($0)", reason: "its address is not allowed")) },
      onConnect: { client in
        hub.onThread { parts in
          guard
            let id = parts.clients.welcome(client, name: client.label, kind: .rfc2217, at: limit, connection: client)
          else { return }
          let urgent = parts.hub.handler { $0.telnet.urgent(id) }
          client.enter { $0.watchUrgent(urgent) }
        }
      })
    return RFC2217Endpoint(port: place.port, listener: listener)
  }

  /// Accepts no more clients.
  public func close() async { await listener.close() }
}

/// A Unix domain socket whose connections carry the device's bytes.
public struct UnixEndpoint: SharingEndpoint {
  /// "unix:./lamp.sock".
  public var label: String { listener.label }
  private let listener: ConnectionListener

  /// Listens at `path`. `mode` is the file's permission bits. The socket of a program that was killed is replaced.
  ///
  /// Throws `busy` when another program is listening there, `misconfigured` when another kind of file is there or the
  /// path is too long, and the errors of the system calls.
  public static func listen(
    at path: String, mode: UInt16 = 0o600, limit: EndpointLimit = EndpointLimit(), for hub: SharingHub
  ) async throws(AccessoryError) -> UnixEndpoint {
    let label = DeviceAddress.unix(path).description
    let listener = try await ConnectionListener.listen(unix: path, mode: mode, endsWithInput: false, io: hub.io) {
      client in
      hub.onThread { $0.clients.welcome(client, name: label, kind: .local, at: limit) }
    }
    return UnixEndpoint(listener: listener)
  }

  /// Accepts no more clients, and removes the file.
  public func close() async { await listener.close() }
}

/// This process's standard input and output. A hub can have one such endpoint.
public struct StandardStreamsEndpoint: SharingEndpoint {
  /// "standard input and output".
  public var label: String { streams.label }
  private let streams: StandardStreams

  /// Passes standard input to the device, and the device's bytes to standard output. `onEnd` is called on the I/O
  /// thread when standard input has ended and the device was silent for a while, or when the endpoint or the hub is
  /// closed.
  public static func open(for hub: SharingHub, onEnd: @escaping @Sendable () -> Void) async -> StandardStreamsEndpoint {
    let streams = StandardStreams(io: hub.io)
    await hub.join(streams, name: streams.label, kind: .local, onLeave: onEnd)
    return StandardStreamsEndpoint(streams: streams)
  }

  /// Closes both streams.
  public func close() async { await streams.close() }
}
