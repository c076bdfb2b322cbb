// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import SystemPackage

/// Accepts connections to a listening socket, on the I/O thread.
package actor ConnectionListener: EventHandler, IOActor {
  /// The address for people: "tcp:127.0.0.1:7000", "unix:./lamp.sock".
  package nonisolated let label: String
  package nonisolated let io: IOThread
  private let descriptor: FileDescriptor
  private let setup: SetupQueue
  /// Called with each connection, which the callee then owns.
  private let onConnect: @Sendable (FileDescriptor) -> Void
  private let onClose: @Sendable () -> Void
  private var token: EventToken?
  private var pause: TimerToken?
  private var isOver = false

  /// Connections that are accepted for one event, so that other descriptors have their turn.
  private static let acceptsPerEvent = 16
  /// How long no connection is accepted after the system had no descriptor left.
  private static let exhaustionPause = Duration.seconds(1)

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Accepts connections from `descriptor`, which it owns. `onConnect` is called on the I/O thread; `onClose` on
  /// `setup`, once, after the end.
  init(
    _ descriptor: FileDescriptor, label: String, setup: SetupQueue, io: IOThread,
    onConnect: @escaping @Sendable (FileDescriptor) -> Void, onClose: @escaping @Sendable () -> Void = {}
  ) {
    self.descriptor = descriptor
    self.label = label
    self.setup = setup
    self.io = io
    self.onConnect = onConnect
    self.onClose = onClose
    io.post { self.assumeIsolated { $0.watch() } }
  }

  private func watch() {
    guard !isOver, token == nil else { return }
    pause = nil
    token = try? io.watch(descriptor, for: .read, handler: self)
    if token == nil { pauseForAWhile() }
  }

  private func pauseForAWhile() {
    if let token { io.unwatch(descriptor, token) }
    token = nil
    pause = io.schedule(at: io.now + Self.exhaustionPause) { self.assumeIsolated { $0.watch() } }
  }

  /// Called by the loop.
  package nonisolated func ready(_ readiness: Readiness) { enter { $0.acceptWaiting() } }

  private func acceptWaiting() {
    for _ in 0..<Self.acceptsPerEvent where !isOver {
      do throws(Errno) {
        onConnect(try Socket.accept(descriptor))
      } catch .wouldBlock {
        return
      } catch .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory {
        return pauseForAWhile()
      } catch .noBufferSpace {
        return pauseForAWhile()
      } catch {
        continue  // the client was gone again, or its network
      }
    }
  }

  /// Stops accepting connections, and returns when the address is free for others. Existing connections stay open.
  package func close() async {
    end()
    await setup.run {}
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    if let token { io.unwatch(descriptor, token) }
    if let pause { io.cancel(pause) }
    (token, pause) = (nil, nil)
    setup.post { [descriptor, onClose] in
      SystemCall.close(descriptor)
      onClose()
    }
  }
}

// MARK: - On the network

extension ConnectionListener {
  /// A listener on the network, and the clients that it accepts.
  package struct Place: Sendable {
    /// The address, numeric.
    package let address: IPAddress
    /// The port that is listened at.
    package let port: UInt16

    /// As `tcp:` addresses have it.
    package var network: NetworkAddress { NetworkAddress(host: address.description, port: port) }
  }

  /// Listens at `host`, where port 0 is any that is free. Clients of other machines are accepted only from `networks`;
  /// other connections are closed, and `onRefused` is called. `onConnect` is given each connection as a transport, on
  /// the I/O thread; `keepsOutput` as for `DescriptorTransport.endsWithInput`.
  ///
  /// Throws `notFound` for a host that isn't known, `misconfigured` where others than this machine could connect and
  /// `networks` is empty, and what the system says.
  package static func listen(
    at host: String, port: UInt16, scheme: TransportKind = .tcp, networks: [IPNetwork], endsWithInput: Bool,
    io: IOThread = .shared, onRefused: @escaping @Sendable (IPAddress) -> Void,
    onConnect: @escaping @Sendable (DescriptorTransport) -> Void
  ) async throws(AccessoryError) -> (listener: ConnectionListener, place: Place) {
    let setup = SetupQueue(label: host)
    let (descriptor, place) = try await setup.run { () throws(AccessoryError) in
      try NetworkSocket.listen(at: host, port: port, isOpenToOthers: !networks.isEmpty)
    }
    let label = "\(scheme.rawValue):\(place.network)"
    let listener = ConnectionListener(descriptor, label: label, setup: setup, io: io) { client in
      guard let peer = NetworkSocket.peer(of: client), let address = IPAddress(peer.host) else {
        return SystemCall.close(client)
      }
      guard address.isLoopback || networks.contains(where: { $0.contains(address) }) else {
        SystemCall.close(client)
        return onRefused(address)
      }
      NetworkSocket.configure(client, patience: .seconds(30))
      onConnect(
        DescriptorTransport(
          descriptor: client, label: "\(scheme.rawValue):\(peer)", timing: .instant, io: io,
          setup: SetupQueue(label: "client"), peer: peer, endsWithInput: endsWithInput,
          closing: .inOrder(unsent: { 0 }, hasLine: false), clock: io
        ) { _ in SystemCall.close(client) })
    }
    return (listener, place)
  }
}

// MARK: - At a path

extension ConnectionListener {
  /// Listens at a socket with a path, which is removed in the end, with a file of this mode. The socket of a program
  /// that was killed is replaced.
  ///
  /// Throws `busy` when another program listens there, `misconfigured` when something else is there or the path is too
  /// long, and what the system says.
  package static func listen(
    unix path: String, mode: UInt16, endsWithInput: Bool, io: IOThread = .shared,
    onConnect: @escaping @Sendable (DescriptorTransport) -> Void
  ) async throws(AccessoryError) -> ConnectionListener {
    let setup = SetupQueue(label: path)
    let label = DeviceAddress.unix(path).description
    let (descriptor, file) = try await setup.run { () throws(AccessoryError) in
      try SocketFile.listen(at: path, mode: mode)
    }
    return ConnectionListener(
      descriptor, label: label, setup: setup, io: io,
      onConnect: { client in
        onConnect(
          DescriptorTransport(
            descriptor: client, label: label, timing: .instant, io: io, setup: SetupQueue(label: "client"),
            endsWithInput: endsWithInput, closing: .inOrder(unsent: { 0 }, hasLine: false), clock: io
          ) { _ in SystemCall.close(client) })
      }, onClose: { file.remove() })
  }
}
