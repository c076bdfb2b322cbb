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
  /// Called with the descriptor of each connection; the callee then owns it.
  private let onConnect: @Sendable (FileDescriptor) -> Void
  private let onClose: @Sendable () -> Void
  private var token: EventToken?
  private var pause: TimerToken?
  private var isOver = false

  /// The most connections that are accepted for one event, so that other descriptors are served in between.
  private static let acceptsPerEvent = 16
  /// How long the listener pauses after the system has run out of descriptors or memory.
  private static let exhaustionPause = Duration.seconds(1)

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Accepts connections from `descriptor`, which the listener owns. `onConnect` is called on the I/O thread. `onClose`
  /// is called once on `setup`, after the listener has ended.
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

  /// The I/O thread calls this when connections wait.
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
        continue  // the client or its network has disconnected already
      }
    }
  }

  /// Stops accepting connections, and returns when other programs can listen at the address. Existing connections stay
  /// open.
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
  /// Where a listener on the network listens.
  package struct Place: Sendable {
    package let address: IPAddress
    /// The port number.
    package let port: UInt16

    /// The address in the form that `tcp:` addresses have.
    package var network: NetworkAddress { NetworkAddress(host: address.description, port: port) }
  }

  /// Listens at `host`; port 0 selects any free port. Clients on other machines are accepted only from `networks`.
  /// Other connections are closed, and `onRefused` is called with their address. `onConnect` gets each connection as a
  /// transport. Both are called on the I/O thread. For `endsWithInput`, see `DescriptorTransport`.
  ///
  /// Throws `notFound` for an unknown host, `misconfigured` when other machines could connect and `networks` is empty,
  /// and otherwise the error of the system call.
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
      NetworkSocket.configure(client, keepAliveDelay: .seconds(30))
      // Closing a socket doesn't block. One queue for all: otherwise many clients that leave would start many threads.
      onConnect(
        DescriptorTransport(
          descriptor: client, label: "\(scheme.rawValue):\(peer)", timing: .instant, io: io, setup: setup, peer: peer,
          endsWithInput: endsWithInput, closing: .inOrder(unsent: { 0 }, hasLine: false), clock: io
        ) { _ in SystemCall.close(client) })
    }
    return (listener, place)
  }
}

// MARK: - At a path

extension ConnectionListener {
  /// Listens at a Unix socket at `path`, whose file gets the permissions `mode`. The file is removed when the listener
  /// closes. A socket file that a killed program left behind is replaced.
  ///
  /// Throws `busy` when another program listens there, `misconfigured` when the path is too long or leads to something
  /// other than a socket, and otherwise the error of the system call.
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
            descriptor: client, label: label, timing: .instant, io: io, setup: setup, endsWithInput: endsWithInput,
            closing: .inOrder(unsent: { 0 }, hasLine: false), clock: io
          ) { _ in SystemCall.close(client) })
      }, onClose: { file.remove() })
  }
}
