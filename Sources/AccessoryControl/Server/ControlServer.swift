// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The server of a service's sockets: `bridge.socket`, and `readings.socket` where the service has one. Descriptors are served
/// on the I/O thread; each call runs in a task. The limits of clients hold for both sockets together.
package actor ControlServer {
  /// The limits of clients.
  package struct Limits: Sendable, Hashable {
    /// The greatest number of clients. When it is reached, an idle client is disconnected for a new one.
    package var clients = 128
    /// The greatest number of clients of one user, other than root and the server's user, so that one user can't
    /// exclude others.
    package var clientsOfOneUser = 64
    /// The number of additional clients for root and the server's user, so that other users can't exclude them.
    package var reservedClients = 16
    /// The greatest length of a received message in bytes, and the most unread bytes with which a client's next call is
    /// started.
    package var messageBytes = 65_536
    /// The most unread bytes of a client that receives several replies. Beyond it the client is disconnected.
    package var unsentBytes = 1 << 20
    /// The most unread bytes of all clients together. Beyond it the client with the most is disconnected.
    package var allUnsentBytes = 16 << 20

    /// The default limits.
    package init() {}
  }

  private nonisolated let io: IOThread
  private let listeners: [ControlListener]
  private let dispatcher: Dispatcher
  private let limits: Limits
  private let onClients: @Sendable (Int) -> Void
  private var connections: [ObjectIdentifier: ServerConnection] = [:]
  /// The number of unread bytes of all clients.
  private var unsentBytes = 0
  private var lastNumber: UInt64 = 0
  private var isClosing = false
  private let closed = OneShot<Void>()

  /// The I/O thread, which runs this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// The result of restoring a socket's files after another program has removed them.
  package enum SocketNews: Sendable {
    /// The files are restored: clients can connect.
    case mended
    /// The files can't be restored, so clients can't connect. The server tries again later.
    case lost(AccessoryError)
  }

  /// Serves `socket`, and `readings` for clients that only read; the server takes both over. `onClients` is called with the
  /// number of clients when it changes, and `onSocket` when files of the socket with this path were removed; both on the I/O
  /// thread.
  package init(
    _ socket: ControlSocket, readings: ControlSocket? = nil, handler: any BridgeHandler, limits: Limits = Limits(),
    io: IOThread = .shared, onClients: @escaping @Sendable (Int) -> Void = { _ in },
    onSocket: @escaping @Sendable (_ news: SocketNews, _ path: String) -> Void = { _, _ in }
  ) throws(AccessoryError) {
    places = SocketPlaces(bridge: socket.path, readings: readings?.path)
    self.io = io
    self.limits = limits
    self.onClients = onClients
    do throws(InterfaceError) {
      dispatcher = try Dispatcher(handler, places)
    } catch {
      throw AccessoryError(.misconfigured, "the built-in interface is invalid: \(error)")
    }
    let sockets = [(socket, SocketAccess.everything)] + (readings.map { [($0, SocketAccess.readings)] } ?? [])
    listeners = sockets.map { ControlListener($0, access: $1, io: io, onSocket: onSocket) }
    io.post {
      self.assumeIsolated { server in
        for listener in server.listeners {
          let access = listener.access
          listener.assumeIsolated {
            $0.start { descriptor, group in
              self.assumeIsolated { $0.welcome(descriptor, access: access, group: group) }
            } onExhausted: {
              self.assumeIsolated { _ = $0.makeRoom() }
            }
          }
        }
      }
    }
  }

  /// The sockets' paths.
  package nonisolated let places: SocketPlaces

  /// The path of the socket for everything; nil for a passed socket without one.
  package nonisolated var path: String? { places.bridge }

  /// The number of clients.
  package var clientCount: Int { connections.count }

  // MARK: - Accepting

  /// Takes a client of a socket whose `group` may connect.
  private func welcome(_ descriptor: FileDescriptor, access: SocketAccess, group: UInt32?) {
    guard !isClosing, let peer = try? UnixSocket.peer(of: descriptor) else { return Socket.close(descriptor) }
    let isOwn = peer.user == 0 || peer.user == geteuid()
    guard isOwn || group.map({ peer.groups.contains($0) }) ?? false else {
      return refuse(descriptor, CallError(AccessoryError(.permissionDenied, Self.stranger(peer))))
    }
    let theirs = isOwn ? 0 : connections.values.count { $0.caller.peer.user == peer.user }
    guard isOwn || theirs < limits.clientsOfOneUser || makeRoom(of: peer.user) else {
      let message =
        "\(Amount.of(theirs, "client")) of user \(peer.user) \(theirs == 1 ? "is" : "are") connected, which is the limit, "
        + "and all of them are in use"
      return refuse(descriptor, .limitReached(limits.clientsOfOneUser, message))
    }
    guard connections.count < (isOwn ? limits.clients + limits.reservedClients : limits.clients) || makeRoom() else {
      return refuse(
        descriptor,
        .limitReached(
          limits.clients,
          "\(Amount.of(connections.count, "client", is: ("is", "are"))) connected, which is the limit, "
            + "and all of them are in use"))
    }
    let connection = ServerConnection(
      descriptor, caller: Caller(peer: peer, access: access), dispatcher: dispatcher, limits: limits, io: io,
      nextNumber: { self.assumeIsolated { $0.nextNumber() } },
      onUnsent: { change in self.assumeIsolated { $0.noteUnsent(change) } },
      onEnd: { connection in self.assumeIsolated { $0.forget(connection) } })
    connections[ObjectIdentifier(connection)] = connection
    onClients(connections.count)
    connection.assumeIsolated { $0.start() }
  }

  private func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Disconnects the connection that has been idle for longest: one of `user`, or else one of the user with the most
  /// connections. False when no connection is idle.
  private func makeRoom(of user: UInt32? = nil) -> Bool {
    var counts: [UInt32: Int] = [:]
    for connection in connections.values { counts[connection.caller.peer.user, default: 0] += 1 }
    let candidates = connections.values.filter { connection in
      (user == nil || connection.caller.peer.user == user) && connection.assumeIsolated { $0.isQuiet }
    }
    func rank(_ connection: ServerConnection) -> (Int, UInt64) {
      (-(counts[connection.caller.peer.user] ?? 0), connection.assumeIsolated { $0.quietSince })
    }
    guard let longest = candidates.min(by: { rank($0) < rank($1) }) else { return false }
    longest.assumeIsolated { $0.makeRoom() }
    return true
  }

  /// Counts unread bytes, and enforces the limit for all clients together.
  private func noteUnsent(_ change: Int) {
    unsentBytes += change
    guard change > 0 else { return }
    while unsentBytes > limits.allUnsentBytes {
      func count(_ connection: ServerConnection) -> Int { connection.assumeIsolated { $0.unsentCount } }
      guard let most = connections.values.max(by: { count($0) < count($1) }), count(most) > 0 else { return }
      most.assumeIsolated { $0.cutOff() }
    }
  }

  private static func stranger(_ peer: SocketPeer) -> String {
    "user \(peer.user) is neither root, nor the service's own, nor a member of the socket's group"
  }

  /// Sends the reason before any call, and closes. The send buffer of a new socket has room for it.
  private func refuse(_ descriptor: FileDescriptor, _ error: CallError) {
    _ = try? Socket.send(ReplyMessage(error).bytes[...], to: descriptor)
    Socket.close(descriptor)
  }

  private func forget(_ connection: ServerConnection) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    onClients(connections.count)
    if isClosing { return finishClosing() }
    for listener in listeners { listener.assumeIsolated { $0.acceptAgain() } }
  }

  // MARK: - The end

  /// Accepts no more clients, cancels all calls, and returns when the last call has ended and the sockets' files are
  /// removed. A cancelled call may still send its reply.
  package func close() async {
    if !isClosing {
      isClosing = true
      closeConnections()
    }
    finishClosing()
    await closed.value()
    for listener in listeners { await listener.close() }
  }

  private func closeConnections() {
    for listener in listeners { listener.assumeIsolated { $0.stop() } }
    for connection in connections.values { connection.assumeIsolated { $0.close() } }
  }

  private func finishClosing() {
    guard connections.isEmpty else { return }
    closed.finish()
  }
}
