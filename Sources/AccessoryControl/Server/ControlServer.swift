// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import SystemPackage

/// The server of a socket. Descriptors are served on the I/O thread; each call is a task.
package actor ControlServer: EventHandler {
  /// What clients may cost.
  package struct Limits: Sendable, Hashable {
    /// The most clients at a time. When there are that many, an idle one is disconnected for the next.
    package var clients = 128
    /// The most clients at a time of one user, except root and the server's own user, so that there is room for others.
    package var clientsOfOneUser = 64
    /// This many more for root and the server's own user, so that others can't lock them out.
    package var reservedClients = 16
    /// The most bytes of a received message, and of unread answers when a client's next call begins.
    package var messageBytes = 65_536
    /// Bytes that a client with a stream of answers may leave unread. Beyond, it is disconnected.
    package var unsentBytes = 1 << 20
    /// Bytes that all clients together may leave unread. Beyond, the one that leaves most is disconnected.
    package var allUnsentBytes = 16 << 20

    /// As said.
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
  /// Bytes that wait for clients.
  private var unsentBytes = 0
  private var lastNumber: UInt64 = 0
  /// Watches the socket's files; nil for a passed socket, and while they can't be watched.
  private var watcher: DirectoryWatcher?
  private var isMending = false
  /// Something happened to the files while they were being mended.
  private var mustLookAgain = false
  private var mendPause = ControlServer.shortestMendPause
  private var isClosing = false
  private var isReleased = false
  private var closers: [CheckedContinuation<Void, Never>] = []

  /// Clients accepted for one event, so that others have their turn.
  private static let acceptsPerEvent = 16
  /// How long no client is accepted after the system had no descriptor left.
  private static let exhaustionPause = Duration.seconds(1)

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// How long it is until a socket that could not be mended is tried again, first and at most.
  private static let (shortestMendPause, longestMendPause) = (Duration.seconds(1), Duration.seconds(60))

  /// The result of restoring the socket's files, which somebody has removed.
  package enum SocketNews: Sendable {
    /// They are there again: clients find the server.
    case mended
    /// They are not, and clients don't find the server; it is tried again.
    case lost(AccessoryError)
  }

  /// Serves `socket`, which the server owns from now on. `onClients` is called with the number of clients when it
  /// changes, and `onSocket` when somebody has removed the socket's files; both on the I/O thread.
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
      throw AccessoryError(.misconfigured, "the interface that is built in: \(error)")
    }
    io.post {
      self.assumeIsolated { server in
        server.accept(true)
        server.watchFiles()
        // What happened since they were made was told to nobody.
        server.lookAtFiles()
      }
    }
  }

  /// The path that it answers on; nil for a passed socket without one.
  package nonisolated let path: String?

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
        welcome(try Socket.accept(socket.descriptor))
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
    guard let peer = try? UnixSocket.peer(of: descriptor) else { return Socket.close(descriptor) }
    let isOwn = peer.user == 0 || peer.user == geteuid()
    guard isOwn || socket.group.map({ peer.groups.contains($0) }) ?? false else {
      return refuse(descriptor, CallError(AccessoryError(.permissionDenied, Self.stranger(peer))))
    }
    let theirs = isOwn ? 0 : connections.values.count { $0.caller.peer.user == peer.user }
    guard isOwn || theirs < limits.clientsOfOneUser || makeRoom(of: peer.user) else {
      let message = "\(theirs) clients of user \(peer.user) are connected already, all of them busy"
      return refuse(descriptor, .limitReached(limits.clientsOfOneUser, message))
    }
    guard connections.count < (isOwn ? limits.clients + limits.reservedClients : limits.clients) || makeRoom() else {
      return refuse(
        descriptor,
        .limitReached(limits.clients, "\(connections.count) clients are connected already, all of them busy"))
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

  /// Ends a connection that asks for nothing: of this user, or else of the user who has most of them; that which has
  /// been quiet for longest. False when there is none.
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

  /// Counts unread bytes; there is one limit for all clients together.
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

  /// Sends the reason before any call, and closes. A new socket has space for that.
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
    // Where they can't be watched, as before they were: nobody notices when they are taken away.
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

  /// Looks whether the socket's files are what they were, and makes them again if not; on a queue, since that may block.
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

  /// The socket is where it was, or a new one is there.
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
    // What happened in between was told to nobody.
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

  /// Takes no more clients, cancels all calls, and returns when the last is over and the socket's file is gone. A call
  /// that is cancelled may still answer.
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
