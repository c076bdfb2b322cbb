// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import SystemPackage

/// The simulators that announce themselves in the user's runtime directory. Watches it; never polls.
public actor SimulatorSource: DeviceSource {
  private nonisolated let executor = DispatchExecutor(label: "accessory.discovery.simulated")
  private nonisolated let io: IOThread
  private nonisolated let directory: String?
  /// What is announced, by file name.
  private var known: [String: Announcement] = [:]
  private var watcher: FileWatcher?
  private var subscribers: [Int: AsyncStream<DeviceEvent>.Continuation] = [:]
  private var nextSubscriber = 0

  /// Files looked at; more than that are no simulators.
  private static let fileLimit = 1_024

  /// The source's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A source whose directory is watched by `io`. The directory is the user's own unless another is given.
  public init(directory: String? = nil, io: IOThread = .shared) {
    self.directory = directory
    self.io = io
  }

  deinit { watcher?.stop() }

  /// The simulators that run now, by path. Throws `misconfigured` when there is no directory of the user's own.
  public func devices() throws(AccessoryError) -> [Device] {
    let directory = try watchedDirectory()
    return Self.devices(Self.scan(directory))
  }

  private func watchedDirectory() throws(AccessoryError) -> String {
    if let directory { directory } else { try RuntimeDirectory.simulated() }
  }

  /// The simulators that run now, then those that come and go.
  public func events() throws(AccessoryError) -> AsyncStream<DeviceEvent> {
    let directory = try watchedDirectory()
    if watcher == nil {
      try watch(directory)
      known = Self.scan(directory)
    } else {
      rescan(directory)
    }
    let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream()
    for device in Self.devices(known) { continuation.yield(.added(device)) }
    let key = nextSubscriber
    nextSubscriber += 1
    subscribers[key] = continuation
    // Keeps the source for as long as somebody reads.
    continuation.onTermination = { _ in self.post { $0.unsubscribe(key) } }
    return stream
  }

  private func watch(_ directory: String) throws(AccessoryError) {
    do throws(Errno) {
      let changes: FileWatcher.Changes = [.movedIn, .deleted, .closedAfterWriting]
      watcher = try FileWatcher(directory, for: changes, io: io) { [weak self] changes in
        self?.post { source in
          source.rescan(directory)
          if changes.contains(.gone) { source.watchAgain() }
        }
      }
    } catch {
      throw AccessoryError(watching: error, "watching \(directory)")
    }
  }

  /// The directory was removed, and simulators that start will make another: better one that is watched. Where that
  /// can't be had, the streams end: nobody is to wait for what can't come.
  private func watchAgain() {
    watcher?.stop()
    watcher = nil
    guard !subscribers.isEmpty else { return }
    do throws(AccessoryError) {
      let directory = try watchedDirectory()
      try watch(directory)
      rescan(directory)
    } catch {
      for subscriber in subscribers.values { subscriber.finish() }
    }
  }

  private nonisolated func post(_ body: @escaping @Sendable (isolated SimulatorSource) -> Void) {
    executor.post { self.assumeIsolated(body) }
  }

  private func unsubscribe(_ key: Int) {
    subscribers[key] = nil
    guard subscribers.isEmpty else { return }
    watcher?.stop()
    watcher = nil
  }

  /// Compares the directory with what is known and tells the difference: those gone first, so that one that came back
  /// under another path is never there twice.
  private func rescan(_ directory: String) {
    let found = Self.scan(directory)
    let events =
      known.filter { found[$0.key] != $0.value }.map { DeviceEvent.removed($0.value.device) }
      + found.filter { known[$0.key] != $0.value }.map { DeviceEvent.added($0.value.device) }
    known = found
    for event in events {
      for subscriber in subscribers.values { subscriber.yield(event) }
    }
  }

  /// The announcements by file name.
  private static func scan(_ directory: String) -> [String: Announcement] {
    var found: [String: Announcement] = [:]
    for name in Directory.names(in: directory).prefix(fileLimit) where !name.hasPrefix(".") && name.hasSuffix(".json") {
      found[name] = AnnouncementFile.read("\(directory)/\(name)")
    }
    return found
  }

  private static func devices(_ announcements: [String: Announcement]) -> [Device] {
    announcements.values.map(\.device).sorted { $0.path < $1.path }
  }
}
