// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CLinuxShims
import Glibc
import SystemPackage

/// The inotify descriptor of an I/O thread. All watchers of the thread share it, because a user may have no more than
/// 128 (fs.inotify.max_user_instances).
actor Inotify: EventHandler {
  private struct Watch: Sendable {
    var path: String
    var watchers: [FileWatcher]
  }

  private nonisolated let io: IOThread
  private nonisolated let descriptor: FileDescriptor
  private nonisolated let watches = Locked<[CInt: Watch]>([:])

  /// The I/O thread.
  nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  init(io: IOThread) throws(Errno) {
    self.io = io
    descriptor = FileDescriptor(
      rawValue: try SystemCall.run(.inotify) { inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) })
  }

  /// Starts to read the descriptor, for as long as the I/O thread runs.
  nonisolated func start() throws(Errno) {
    do throws(Errno) {
      _ = try io.watch(descriptor, for: .read, handler: self)
    } catch {
      SystemCall.close(descriptor)
      throw error
    }
  }

  /// Watches `path` for `watcher`. The kernel has one watch for each file, which all watchers of the file share.
  nonisolated func add(_ watcher: FileWatcher, _ path: String) throws(Errno) {
    // The lock is taken around the system call, so that no event arrives before its watcher is registered, and no other
    // watcher of the file removes the kernel's watch meanwhile.
    try watches.withLock { watches throws(Errno) in
      let watch = try SystemCall.run(.inotify, on: descriptor.rawValue) {
        inotify_add_watch(descriptor.rawValue, path, watcher.changes.rawValue | UInt32(IN_MASK_ADD))
      }
      watches[watch, default: Watch(path: path, watchers: [])].watchers.append(watcher)
    }
  }

  /// Ends the watch of `watcher`.
  nonisolated func remove(_ watcher: FileWatcher) {
    watches.withLock { watches in
      guard let watch = watches.first(where: { $0.value.watchers.contains { $0 === watcher } })?.key else { return }
      watches[watch]?.watchers.removeAll { $0 === watcher }
      guard watches[watch]?.watchers.isEmpty == true else { return }
      watches[watch] = nil
      // Fails when the file was removed, because the kernel has then removed its watch.
      _ = try? SystemCall.run(.inotify, on: descriptor.rawValue) { inotify_rm_watch(descriptor.rawValue, watch) }
    }
  }

  /// The I/O thread calls this when the descriptor is readable.
  nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.read() } }

  private func read() {
    var seen: [CInt: [FileWatcher.Occurrence]] = [:]
    withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
      guard let count = try? SystemCall.read(descriptor, into: buffer) else { return }
      var offset = 0
      while offset + MemoryLayout<inotify_event>.size <= count {
        let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
        let start = offset + MemoryLayout<inotify_event>.size
        offset = min(count, start + Int(event.len))
        // The name is padded with zeros. It is empty for events of the watched directory itself.
        let name = buffer[start..<offset].prefix { $0 != 0 }
        seen[event.wd, default: []].append(
          .init(
            change: FileWatcher.Changes(rawValue: event.mask),
            name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)))
      }
    }
    let lost = seen.removeValue(forKey: -1) ?? []  // -1: the kernel's queue overflowed, which concerns all watches
    let reports = watches.withLock { watches in
      watches.flatMap { watch, entry in
        let concerns = (seen[watch] ?? []) + lost
        return concerns.isEmpty ? [] : entry.watchers.map { ($0, concerns) }
      }
    }
    for (watcher, changes) in reports { watcher.report(changes) }
  }
}

extension IOThread {
  /// The inotify descriptor that this thread serves.
  func inotify() throws(Errno) -> Inotify {
    try shared { io throws(Errno) in
      let new = try Inotify(io: io)
      try new.start()
      return new
    }
  }
}
