// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// Reports when a file may have come, such as the socket of a service that has started: at once, and whenever one with
/// this name is created. The folder may not exist yet: systemd creates that of the system's service when the service or
/// its socket starts.
package final class FileArrivals: Sendable {
  /// The events, for one reader. The stream ends if neither the folder nor one above it can be watched.
  package let signals: AsyncStream<Void>

  private struct State {
    var watcher: DirectoryWatcher?
    var isOver = false
  }

  /// The names that lead to the folder, from the root.
  private let names: [String]
  /// The file's name in the folder.
  private let name: String
  private let continuation: AsyncStream<Void>.Continuation
  private let state = Locked(State())

  /// A socket's file exists a moment before the service listens.
  private static let pause = Duration.milliseconds(100)
  /// How often `watch` retries because a folder was created in the meantime. After that it relies on the next event.
  private static let attempts = 8

  /// Starts to watch the folder of the file at `place`.
  package init(at place: String) {
    (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let path = place.split(separator: "/").map(String.init)
    (names, name) = (Array(path.dropLast()), path.last ?? "")
    continuation.yield()
    if !watch() { continuation.finish() }
  }

  /// Stops watching. Must be called in the end.
  package func stop() {
    let watcher = state.withLock { state in
      state.isOver = true
      defer { state.watcher = nil }
      return state.watcher
    }
    watcher?.stop()
  }

  /// Watches the folder or, while there is none, the nearest one above it. False when none can be watched.
  private func watch() -> Bool {
    for _ in 0..<Self.attempts {
      let (watcher, missing) = nearest()
      guard let watcher else { return false }
      let old = state.withLock { state -> DirectoryWatcher? in
        if state.isOver { return watcher }
        defer { state.watcher = watcher }
        return state.watcher
      }
      old?.stop()
      // The missing folder was created before the one above it was watched, so no event reports it.
      guard let missing, FileIdentity(missing) != nil else { return true }
    }
    return true
  }

  /// A watcher of the nearest folder that can be watched, and the path of the one below it, if that doesn't exist.
  private func nearest() -> (DirectoryWatcher?, missing: String?) {
    var missing: String?
    for depth in (0...names.count).reversed() {
      let path = "/" + names[..<depth].joined(separator: "/")
      let next = depth < names.count ? names[depth] : nil
      do throws(Errno) {
        let watcher = try DirectoryWatcher(path, levels: 1, for: [.created, .movedIn]) { [weak self] event in
          self?.happened(event, next)
        }
        return (watcher, missing)
      } catch {
        missing = error == .noSuchFileOrDirectory ? path : nil
      }
    }
    return (nil, nil)
  }

  /// Handles an event of the folder, or of one above it, in which `next` must be created.
  private func happened(_ event: DirectoryWatcher.Event, _ next: String?) {
    switch (event, next) {
    // Simulators and other programs make files in the same folder.
    case (.changed(let names), nil): if names?.contains(name) ?? true { later { $0.continuation.yield() } }
    case (.changed(let names), let next?):
      if names?.contains(next) ?? true { later { $0.watchAgain() } }
    case (.gone, _): later { $0.watchAgain() }
    }
  }

  private func watchAgain() {
    guard watch() else { return continuation.finish() }
    // The socket may exist before its service listens.
    continuation.yield()
    later { $0.continuation.yield() }
  }

  private func later(_ body: @escaping @Sendable (FileArrivals) -> Void) {
    _ = IOThread.shared.schedule(at: .now + Self.pause) { [weak self] in
      guard let self, !state.withLock({ $0.isOver }) else { return }
      body(self)
    }
  }
}
