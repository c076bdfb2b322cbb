// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage

extension DescriptorTransport {
  /// How long connecting to one address may take.
  public static let connectLimit = Duration.seconds(5)

  /// Connects to an address on the network on a setup queue, and passes the socket to `io`.
  ///
  /// Throws `notFound` for an unknown host, `disconnected` when no program listens there, `timedOut`, and `cancelled`
  /// when the task is cancelled meanwhile.
  public static func open(
    _ address: NetworkAddress, label: String? = nil, io: IOThread = .shared
  ) async throws(AccessoryError) -> DescriptorTransport {
    let label = label ?? DeviceAddress.tcp(address).description
    let setup = SetupQueue(label: label)
    let descriptor = try await setup.run { () throws(AccessoryError) in
      try NetworkSocket.connect(to: address, limit: connectLimit)
    }
    if Task.isCancelled {
      await setup.run { SystemCall.close(descriptor) }
      throw AccessoryError(.cancelled, "connecting to \(label) was cancelled")
    }
    return DescriptorTransport(descriptor: descriptor, label: label, peer: address, io: io, setup: setup)
  }

  /// A transport over a connected socket, which the transport owns.
  fileprivate init(
    descriptor: FileDescriptor, label: String, peer: NetworkAddress, io: IOThread, setup: SetupQueue
  ) {
    self.init(
      descriptor: descriptor, label: label, timing: .instant, io: io, setup: setup, peer: peer,
      closing: .inOrder(unsent: { 0 }, hasLine: false), clock: io
    ) { _ in SystemCall.close(descriptor) }
  }
}

/// Accepts connections from the network, for simulators.
package final class NetworkListener: EventHandler {
  /// The address where it listens.
  package let address: NetworkAddress

  private let io: IOThread
  private let descriptor: FileDescriptor
  private let setup = SetupQueue(label: "tcp")
  private let onConnect: @Sendable (DescriptorTransport) -> Void
  private let token = Locked<EventToken?>(nil)

  /// Listens at `host`; port 0 selects any free port. `onConnect` is called on the I/O thread with a transport for each
  /// client.
  package static func listen(
    at host: String, port: UInt16, io: IOThread = .shared,
    onConnect: @escaping @Sendable (DescriptorTransport) -> Void
  ) async throws(AccessoryError) -> NetworkListener {
    let setup = SetupQueue(label: "tcp")
    let (descriptor, port) = try await setup.run { () throws(AccessoryError) in
      try NetworkSocket.listen(at: host, port: port)
    }
    let listener = NetworkListener(descriptor, NetworkAddress(host: host, port: port), io, onConnect)
    do throws(Errno) {
      let token = try io.watch(descriptor, for: .read, handler: listener)
      listener.token.withLock { $0 = token }
    } catch {
      SystemCall.close(descriptor)
      throw AccessoryError(errno: error, "listening at \(DeviceAddress.tcp(listener.address))")
    }
    return listener
  }

  private init(
    _ descriptor: FileDescriptor, _ address: NetworkAddress, _ io: IOThread,
    _ onConnect: @escaping @Sendable (DescriptorTransport) -> Void
  ) {
    self.descriptor = descriptor
    self.address = address
    self.io = io
    self.onConnect = onConnect
  }

  /// The I/O thread calls this when a connection waits.
  package func ready(_ readiness: Readiness) {
    guard token.withLock({ $0 != nil }), let client = try? Socket.accept(descriptor) else { return }
    NetworkSocket.configure(client)
    onConnect(
      DescriptorTransport(
        descriptor: client, label: address.description, peer: address, io: io, setup: SetupQueue(label: "tcp client")))
  }

  /// Stops accepting connections. Existing ones stay open.
  package func close() {
    io.post { [self] in
      guard
        let token = token.withLock({ token -> EventToken? in
          defer { token = nil }
          return token
        })
      else { return }
      io.unwatch(descriptor, token)
      setup.post { [descriptor] in SystemCall.close(descriptor) }
    }
  }
}
