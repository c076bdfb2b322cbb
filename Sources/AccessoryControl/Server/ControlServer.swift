// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import SystemPackage

/// Answers clients on a socket. Descriptors are served by the I/O thread, calls are tasks.
package actor ControlServer: EventHandler {
  /// What clients may cost.
  package struct Limits: Sendable, Hashable {
    /// Clients at a time.
    package var clients = 128
    /// As many more of root and of the server's own user, whom others must not lock out.
    package var reservedClients = 16
    /// Bytes of a message that comes, and of answers that a client has not taken when its next call begins.
    package var messageBytes = 65_536
    /// Bytes that a client with a stream of answers may leave unread. Beyond, it is disconnected.
    package var unsentBytes = 1 << 20

    /// As said.
    package init() {}
  }

  private nonisolated let io: IOThread
  private let socket: ControlSocket
  private let dispatcher: Dispatcher
  private let limits: Limits
  private let onClients: @Sendable (Int) -> Void
  private var token: EventToken?
  private var pause: TimerToken?
  private var connections: [ObjectIdentifier: ServerConnection] = [:]
  private var isClosing = false
  private var closers: [CheckedContinuation<Void, Never>] = []

  /// Clients accepted for one event, so that others have their turn.
  private static let acceptsPerEvent = 16
  /// How long nobody is accepted after the system had no descriptor left for it.
  private static let exhaustionPause = Duration.seconds(1)

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Serves `socket`, which belongs to the server from now on. `onClients` is told on the I/O thread how many clients
  /// there are, whenever that changes.
  package init(
    _ socket: ControlSocket, handler: any BridgeHandler, limits: Limits = Limits(), io: IOThread = .shared,
    onClients: @escaping @Sendable (Int) -> Void = { _ in }
  ) throws(AccessoryError) {
    self.io = io
    self.socket = socket
    self.limits = limits
    self.onClients = onClients
    do throws(InterfaceError) {
      dispatcher = try Dispatcher(handler)
    } catch {
      throw AccessoryError(.misconfigured, "the interface that is built in: \(error)")
    }
    io.post { self.assumeIsolated { $0.accept(true) } }
  }

  /// The path that it answers on; nil for a passed socket without one.
  package nonisolated var path: String? { socket.path }

  /// Clients that there are.
  package var clientCount: Int { connections.count }

  // MARK: - Accepting

  private func accept(_ accepting: Bool) {
    if let pause { io.cancel(pause) }
    pause = nil
    if !accepting || isClosing {
      if let token { io.unwatch(socket.descriptor, token) }
      token = nil
    } else if token == nil {
      token = try? io.watch(socket.descriptor, for: .read, handler: self)
    }
    guard !isClosing, token == nil else { return }
    pause = io.schedule(at: io.now + Self.exhaustionPause) { self.assumeIsolated { $0.accept(true) } }
  }

  /// Called by the loop.
  package nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.acceptWaiting() } }

  private func acceptWaiting() {
    for _ in 0..<Self.acceptsPerEvent {
      do throws(Errno) {
        welcome(try UnixSocket.accept(socket.descriptor))
      } catch .wouldBlock {
        return
      } catch .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .noBufferSpace {
        return accept(false)
      } catch {
        // The client's own trouble (ECONNABORTED): on to the next.
      }
    }
  }

  private func welcome(_ descriptor: FileDescriptor) {
    guard let peer = try? UnixSocket.peer(of: descriptor) else { return UnixSocket.close(descriptor) }
    let isOwn = peer.user == 0 || peer.user == geteuid()
    guard isOwn || socket.group.map({ peer.groups.contains($0) }) ?? false else {
      return refuse(descriptor, CallError(AccessoryError(.permissionDenied, Self.stranger(peer))))
    }
    guard connections.count < (isOwn ? limits.clients + limits.reservedClients : limits.clients) else {
      return refuse(descriptor, .limitReached(limits.clients, "\(connections.count) clients are connected already"))
    }
    let connection = ServerConnection(
      descriptor, caller: Caller(peer: peer), dispatcher: dispatcher, limits: limits, io: io
    ) { connection in
      self.assumeIsolated { $0.forget(connection) }
    }
    connections[ObjectIdentifier(connection)] = connection
    onClients(connections.count)
    connection.assumeIsolated { $0.start() }
  }

  private static func stranger(_ peer: SocketPeer) -> String {
    "user \(peer.user) is neither root, nor the service's own, nor a member of the socket's group"
  }

  /// Says why, before anything was asked, and closes. There is space for that in a new socket.
  private func refuse(_ descriptor: FileDescriptor, _ error: CallError) {
    _ = try? UnixSocket.send(ReplyMessage(error).bytes[...], to: descriptor)
    UnixSocket.close(descriptor)
  }

  private func forget(_ connection: ServerConnection) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    onClients(connections.count)
    if isClosing { finishClosing() } else if token == nil { accept(true) }
  }

  // MARK: - The end

  /// Takes no more clients, cancels all calls, and returns when the last is over and the socket's file is gone. A call
  /// that is cancelled may still answer.
  package func close() async {
    if !isClosing {
      isClosing = true
      accept(false)
      closeConnections()
      let socket = socket
      await SetupQueue(label: "control").run { socket.release() }
    }
    await withCheckedContinuation { continuation in
      closers.append(continuation)
      finishClosing()
    }
  }

  private func closeConnections() {
    for connection in connections.values { connection.assumeIsolated { $0.close() } }
  }

  private func finishClosing() {
    guard connections.isEmpty else { return }
    for closer in closers { closer.resume() }
    closers = []
  }
}
