// SPDX-License-Identifier: Apache-2.0

import CLinuxShims
import Glibc
import SystemPackage

/// Tells of changes to one file or directory (inotify). Its descriptor is served by the I/O thread.
public actor FileWatcher: EventHandler {
  /// What to be told of; several can be combined.
  public struct Changes: OptionSet, Sendable, Hashable {
    /// The bits of inotify(7).
    public let rawValue: UInt32
    /// A set of these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A file appeared in the directory, complete, by being renamed into it.
    public static let movedIn = Changes(rawValue: UInt32(IN_MOVED_TO))
    /// A file was removed from the directory.
    public static let deleted = Changes(rawValue: UInt32(IN_DELETE))
    /// A file that was open for writing was closed; also when its writer was killed.
    public static let closedAfterWriting = Changes(rawValue: UInt32(IN_CLOSE_WRITE))
    /// More happened than the kernel keeps: look for yourself.
    public static let overflow = Changes(rawValue: UInt32(IN_Q_OVERFLOW))
    /// The watched file or directory itself is gone; nothing more will come.
    public static let gone = Changes(rawValue: UInt32(IN_IGNORED))
  }

  private nonisolated let io: IOThread
  private let descriptor: FileDescriptor
  private let body: @Sendable (Changes) -> Void
  private var token: EventToken?
  private var isOver = false
  private static let closing = SetupQueue(label: "inotify")

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Watches `path` and calls `body` on the I/O thread with what changed, everything since the last call in one.
  /// Call `stop` in the end. Throws the errno of inotify_add_watch(2).
  public init(
    _ path: String, for changes: Changes, io: IOThread = .shared, _ body: @escaping @Sendable (Changes) -> Void
  ) throws(Errno) {
    self.io = io
    self.body = body
    let descriptor = FileDescriptor(
      rawValue: try SystemCall.run(.inotify) { inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK)) })
    do throws(Errno) {
      _ = try SystemCall.run(.inotify, on: descriptor.rawValue) {
        inotify_add_watch(descriptor.rawValue, path, changes.rawValue)
      }
    } catch {
      SystemCall.close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    io.post { self.assumeIsolated { $0.start() } }
  }

  private func start() {
    guard !isOver else { return }
    token = try? io.watch(descriptor, for: .read, handler: self)
  }

  /// Called by the loop.
  public nonisolated func ready(_ readiness: Readiness) { assumeIsolated { $0.read() } }

  private func read() {
    var changes: Changes = []
    withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
      guard let count = try? SystemCall.read(descriptor, into: buffer) else { return }
      var offset = 0
      while offset + MemoryLayout<inotify_event>.size <= count {
        let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
        changes.insert(Changes(rawValue: event.mask))
        offset += MemoryLayout<inotify_event>.size + Int(event.len)
      }
    }
    if !changes.isEmpty { body(changes) }
  }

  /// Ends the watch; a call that is under way finishes.
  public nonisolated func stop() { io.post { self.assumeIsolated { $0.finish() } } }

  private func finish() {
    guard !isOver else { return }
    isOver = true
    if let token { io.unwatch(descriptor, token) }
    token = nil
    // Closing takes the kernel some 16 ms: it waits until nobody can be looking at the watches any more.
    Self.closing.post { [descriptor] in SystemCall.close(descriptor) }
  }
}
