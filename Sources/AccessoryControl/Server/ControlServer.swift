// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The server of a control socket. Descriptors are served on the I/O thread; each call runs in a task.
package actor ControlServer: EventHandler {
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
  private var socket: ControlSocket
  private let dispatcher: Dispatcher
  private let limits: Limits
  private let onClients: @Sendable (Int) -> Void
  private let onSocket: @Sendable (SocketNews) -> Void
  private var token: EventToken?
  private var pause: TimerToken?
  private var connections: [ObjectIdentifier: ServerConnection] = [:]
  /// The number of unread bytes of all clients.
  private var unsentBytes = 0
  private var lastNumber: UInt64 = 0
  /// Watches the socket's files; nil for a passed socket, and where they can't be watched.
  private var watcher: DirectoryWatcher?
  private var isMending = false
  /// Whether the files have changed while they were being restored.
  private var mustLookAgain = false
  private var mendPause = ControlServer.shortestMendPause
  private var isClosing = false
  private var isReleased = false
  private var closers: [CheckedContinuation<Void, Never>] = []

  /// The most clients accepted per event, so that other descriptors get their turn.
  private static let acceptsPerEvent = 16
  /// How long no client is accepted after the system has run out of descriptors.
  private static let exhaustionPause = Duration.seconds(1)

  /// The I/O thread, which runs this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// The pause before the next try to restore the socket's files: the first one and the longest.
  private static let (shortestMendPause, longestMendPause) = (Duration.seconds(1), Duration.seconds(60))

  /// The result of restoring the socket's files after another program has removed them.
  package enum SocketNews: Sendable {
    /// The files are restored: clients can connect.
    case mended
    /// The files can't be restored, so clients can't connect. The server tries again later.
    case lost(AccessoryError)
  }

  /// Serves `socket`, which the server takes over. `onClients` is called with the number of clients when it changes,
  /// and `onSocket` when the socket's files were removed; both on the I/O thread.
  package init(
    _ socket: ControlSocket, handler: any BridgeHandler, limits: Limits = Limits(), io: IOThread = .shared,
    onClients: @escaping @Sendable (Int) -> Void = { _ in },
    onSocket: @escaping @Sendable (SocketNews) -> Void = { _ in }
  ) throws(AccessoryError) {
    path = socket.path
    self.onSocket = onSocket
    self.io = io
    self.socket = socket
    self.limits = limits
    self.onClients = onClients
    do throws(InterfaceError) {
      dispatcher = try Dispatcher(handler)
    } catch {
      throw AccessoryError(.misconfigured, "the built-in interface is invalid: \(error)")
    }
    io.post {
      self.assumeIsolated { server in
        server.accept(true)
        server.watchFiles()
        // Changes between the creation of the files and the start of the watcher weren't reported.
        server.lookAtFiles()
      }
    }
  }

  /// The socket's path; nil for a passed socket without one.
  package nonisolated let path: String?

  /// The number of clients.
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

  /// Called on the I/O thread.
  package nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.acceptWaiting() } }

  private func acceptWaiting() {
    for _ in 0..<Self.acceptsPerEvent {
      do throws(Errno) {
        welcome(try Socket.accept(socket.descriptor))
      } catch .wouldBlock {
        return
      } catch .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .noBufferSpace {
        return accept(false)
      } catch {
        // An error of one client (ECONNABORTED): go on with the next.
      }
    }
  }

  private func welcome(_ descriptor: FileDescriptor) {
    guard let peer = try? UnixSocket.peer(of: descriptor) else { return Socket.close(descriptor) }
    let isOwn = peer.user == 0 || peer.user == geteuid()
    guard isOwn || socket.group.map({ peer.groups.contains($0) }) ?? false else {
      return refuse(descriptor, CallError(AccessoryError(.permissionDenied, Self.stranger(peer))))
    }
    let theirs = isOwn ? 0 : connections.values.count { $0.caller.peer.user == peer.user }
    guard isOwn || theirs < limits.clientsOfOneUser || makeRoom(of: peer.user) else {
      let message =
        "\(theirs) clients of user \(peer.user) are connected, which is the limit, and all of them are in use"
      return refuse(descriptor, .limitReached(limits.clientsOfOneUser, message))
    }
    guard connections.count < (isOwn ? limits.clients + limits.reservedClients : limits.clients) || makeRoom() else {
      return refuse(
        descriptor,
        .limitReached(
          limits.clients, "\(connections.count) clients are connected, which is the limit, and all of them are in use"))
    }
    let connection = ServerConnection(
      descriptor, caller: Caller(peer: peer), dispatcher: dispatcher, limits: limits, io: io,
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
    if isClosing { finishClosing() } else if token == nil { accept(true) }
  }

  // MARK: - The socket's files

  private func watchFiles() {
    watcher?.stop()
    watcher = nil
    guard !isClosing, let folder = socket.folder else { return }
    // If the files can't be watched, their removal goes unnoticed.
    watcher = try? DirectoryWatcher(folder, levels: 2, for: [.deleted, .movedOut, .movedIn], io: io) {
      [weak self] news in
      self?.assumeIsolated { server in
        if news == .gone {
          server.watcher?.stop()
          server.watcher = nil
        } else if case .changed(let names?) = news, names.isDisjoint(with: server.socket.names) {
          return
        }
        server.lookAtFiles()
      }
    }
  }

  /// Checks whether the socket's files are unchanged, and restores them if not; on a queue, since that may block.
  private func lookAtFiles() {
    guard !isClosing else { return }
    mustLookAgain = isMending
    guard !isMending else { return }
    isMending = true
    let socket = socket
    Task.detached { [self] in
      let failure: AccessoryError
      do throws(AccessoryError) {
        let mended = try await SetupQueue(label: "control").run { () throws(AccessoryError) in try socket.mended() }
        return await replaceSocket(by: mended)
      } catch {
        failure = error
      }
      await mendingFailed(failure)
    }
  }

  /// The socket is unchanged, or `new` replaces it.
  private func replaceSocket(by new: ControlSocket?) {
    isMending = false
    mendPause = Self.shortestMendPause
    if let new {
      let old = socket
      if old.descriptor != new.descriptor {
        if let token { io.unwatch(old.descriptor, token) }
        token = nil
      }
      socket = new
      old.retire(for: new)
      if isClosing { return finishClosing() }
      accept(true)
      onSocket(.mended)
    }
    if isClosing { return finishClosing() }
    let wasWatched = watcher != nil
    if !wasWatched { watchFiles() }
    // Changes while the files were being restored weren't reported.
    if mustLookAgain || !wasWatched && watcher != nil { lookAtFiles() }
  }

  private func mendingFailed(_ error: AccessoryError) {
    isMending = false
    if isClosing { return finishClosing() }
    onSocket(.lost(error))
    _ = io.schedule(at: io.now + mendPause) { [weak self] in self?.assumeIsolated { $0.lookAtFiles() } }
    mendPause = min(mendPause * 2, Self.longestMendPause)
  }

  // MARK: - The end

  /// Accepts no more clients, cancels all calls, and returns when the last call has ended and the socket's file is
  /// removed. A cancelled call may still send its reply.
  package func close() async {
    if !isClosing {
      isClosing = true
      watcher?.stop()
      watcher = nil
      accept(false)
      closeConnections()
    }
    await withCheckedContinuation { continuation in
      closers.append(continuation)
      finishClosing()
    }
    guard !isReleased else { return }
    isReleased = true
    let socket = socket
    await SetupQueue(label: "control").run { socket.release() }
  }

  private func closeConnections() {
    for connection in connections.values { connection.assumeIsolated { $0.close() } }
  }

  private func finishClosing() {
    guard connections.isEmpty, !isMending else { return }
    for closer in closers { closer.resume() }
    closers = []
  }
}
