// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// A listening socket of a server, on the I/O thread: accepts clients, and restores the socket's files.
actor ControlListener: EventHandler {
  /// Takes a client; `group` is the group whose members may use the socket.
  typealias Welcome = @Sendable (_ descriptor: FileDescriptor, _ group: UInt32?) -> Void

  private nonisolated let io: IOThread
  /// What the socket's clients may do.
  nonisolated let access: SocketAccess
  private let onSocket: @Sendable (ControlServer.SocketNews, _ path: String) -> Void
  private var socket: ControlSocket
  private var welcome: Welcome?
  private var onExhausted: (@Sendable () -> Void)?
  /// For a client, when accessories have all other descriptors.
  private var spare = SpareDescriptor()
  private var token: EventToken?
  private var pause: TimerToken?
  /// Watches the socket's files; nil for a passed socket, and where they can't be watched.
  private var watcher: DirectoryWatcher?
  private var isMending = false
  /// Whether the files have changed while they were being restored.
  private var mustLookAgain = false
  private var mendPause = ControlListener.shortestMendPause
  private var isClosing = false
  private var isReleased = false
  private let closed = OneShot<Void>()

  /// The most clients accepted per event, so that other descriptors get their turn.
  private static let acceptsPerEvent = 16
  /// How long no client is accepted after the system has run out of descriptors.
  private static let exhaustionPause = Duration.seconds(1)
  /// The pause before the next try to restore the socket's files: the first one and the longest.
  private static let (shortestMendPause, longestMendPause) = (Duration.seconds(1), Duration.seconds(60))

  /// The I/O thread, which runs this actor.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Takes `socket` over. `onSocket` is called on the I/O thread when the socket's files were removed.
  init(
    _ socket: ControlSocket, access: SocketAccess, io: IOThread,
    onSocket: @escaping @Sendable (ControlServer.SocketNews, _ path: String) -> Void
  ) {
    (self.socket, self.access, self.io, self.onSocket) = (socket, access, io, onSocket)
    // Reserve it at once, before the service opens other files.
    spare.keep()
  }

  /// Begins to accept clients. On the I/O thread, `welcome` is called for each client, and `onExhausted` when a client
  /// waits and there is no descriptor for it.
  func start(_ welcome: @escaping Welcome, onExhausted: @escaping @Sendable () -> Void) {
    guard !isClosing else { return }
    (self.welcome, self.onExhausted) = (welcome, onExhausted)
    accept(true)
    watchFiles()
    // Changes between the creation of the files and the start of the watcher weren't reported.
    lookAtFiles()
  }

  // MARK: - Accepting

  /// Accepts clients again after the system had run out of descriptors.
  func acceptAgain() {
    spare.keep()
    if token == nil { accept(true) }
  }

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
    pause = io.schedule(at: io.now + Self.exhaustionPause) { self.assumeIsolated { $0.acceptAgain() } }
  }

  /// Called on the I/O thread.
  nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.acceptWaiting() } }

  private func acceptWaiting() {
    for _ in 0..<Self.acceptsPerEvent {
      do throws(Errno) {
        welcome?(try Socket.accept(socket.descriptor), socket.group)
      } catch .wouldBlock {
        return
      } catch .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory, .noBufferSpace {
        if spare.give() { continue }
        // The next client can use the descriptor of a client that leaves now.
        accept(false)
        onExhausted?()
        return
      } catch {
        // An error of one client (ECONNABORTED): continue with the next.
      }
    }
  }

  // MARK: - The socket's files

  private func watchFiles() {
    watcher?.stop()
    watcher = nil
    guard !isClosing, let folder = socket.folder else { return }
    // If the files can't be watched, their removal goes unnoticed.
    watcher = try? DirectoryWatcher(folder, levels: 2, for: [.deleted, .movedOut, .movedIn], io: io) {
      [weak self] news in
      self?.assumeIsolated { listener in
        if news == .gone {
          listener.watcher?.stop()
          listener.watcher = nil
        } else if case .changed(let names?) = news, names.isDisjoint(with: listener.socket.names) {
          return
        }
        listener.lookAtFiles()
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
      await attempt { () throws(AccessoryError) in
        let mended = try await SetupQueue(label: "control").run { () throws(AccessoryError) in try socket.mended() }
        await replaceSocket(by: mended)
      } or: { failure in
        await mendingFailed(failure)
      }
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
      onSocket(.mended, new.path ?? "")
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
    onSocket(.lost(error), socket.path ?? "")
    _ = io.schedule(at: io.now + mendPause) { [weak self] in self?.assumeIsolated { $0.lookAtFiles() } }
    mendPause = min(mendPause * 2, Self.longestMendPause)
  }

  // MARK: - The end

  /// Accepts no more clients.
  func stop() {
    guard !isClosing else { return }
    isClosing = true
    watcher?.stop()
    watcher = nil
    accept(false)
    _ = spare.give()
    (welcome, onExhausted) = (nil, nil)
  }

  /// Accepts no more clients, and returns when the socket's file is removed.
  func close() async {
    stop()
    finishClosing()
    await closed.value()
    guard !isReleased else { return }
    isReleased = true
    let socket = socket
    await SetupQueue(label: "control").run { socket.release() }
  }

  private func finishClosing() {
    guard !isMending else { return }
    closed.finish()
  }
}
