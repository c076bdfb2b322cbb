// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// The simulators that announce themselves in the user's runtime directory. The source watches the directory and never
/// polls.
public actor SimulatorSource: DeviceSource {
  private nonisolated let executor = DispatchExecutor(label: "accessory.discovery.simulated")
  private nonisolated let io: IOThread
  private nonisolated let directory: String?
  /// The current announcements, by file name.
  private var known: [String: Announcement] = [:]
  private var watcher: DirectoryWatcher?
  private var subscribers: [Int: AsyncStream<DeviceEvent>.Continuation] = [:]
  private var nextSubscriber = 0

  /// The most files that are read. The kernel has 4,096 pseudo-terminals by default (`/proc/sys/kernel/pty/max`).
  private static let fileLimit = 4_096

  /// The source's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A source that watches `directory` on `io`; by default the user's own directory.
  public init(directory: String? = nil, io: IOThread = .shared) {
    self.directory = directory
    self.io = io
  }

  deinit { watcher?.stop() }

  /// The simulators that run now, sorted by path. Throws `misconfigured` when the user's own directory can't be used.
  public func devices() throws(AccessoryError) -> [Device] {
    let directory = try watchedDirectory()
    return Self.devices(Self.scan(directory))
  }

  /// Whether this simulator runs now. Reads only one file if the file is known.
  public func isPresent(_ device: Device) throws(AccessoryError) -> Bool {
    let directory = try watchedDirectory()
    func isMeant(_ announcement: Announcement) -> Bool {
      announcement.device.isHere(device)
    }
    if watcher != nil, let name = known.first(where: { isMeant($0.value) })?.key {
      if let announcement = AnnouncementFile.read("\(directory)/\(name)"), isMeant(announcement) { return true }
    }
    return Self.scan(directory).values.contains(where: isMeant)
  }

  private func watchedDirectory() throws(AccessoryError) -> String {
    if let directory { directory } else { try RuntimeDirectory.simulated() }
  }

  /// The simulators that run now, and then the changes.
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
    // The handler retains the source for as long as the stream is read.
    continuation.onTermination = { _ in self.post { $0.unsubscribe(key) } }
    return stream
  }

  private func watch(_ directory: String) throws(AccessoryError) {
    do throws(Errno) {
      // This package creates the user's own directory and the one above it; either may be removed.
      watcher = try DirectoryWatcher(
        directory, levels: self.directory == nil ? 2 : 1, for: [.movedIn, .movedOut, .deleted, .closedAfterWriting],
        io: io
      ) { [weak self] news in
        self?.post { source in
          switch news {
          case .changed(let names?): source.look(at: names, in: directory)
          case .changed(nil): source.rescan(directory)
          case .gone: source.watchAgain()
          }
        }
      }
    } catch {
      throw AccessoryError(watching: error, "watching \(directory)")
    }
  }

  /// Watches again after the directory was removed or renamed. The user's own directory is created again for that,
  /// because simulators that start later would create it as well. If watching fails, the streams end, because no more
  /// events could come.
  private func watchAgain() {
    watcher?.stop()
    watcher = nil
    guard !subscribers.isEmpty else { return }
    do throws(AccessoryError) {
      let directory = try watchedDirectory()
      try watch(directory)
      rescan(directory)
    } catch {
      report(known, [:])
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

  /// Reads the whole directory again.
  private func rescan(_ directory: String) { report(known, Self.scan(directory)) }

  /// Reads only the files that have changed, so that the work doesn't grow with the number of files.
  private func look(at names: Set<String>, in directory: String) {
    let names = names.filter(Self.isAnnouncement)
    let found = names.compactMap { name in
      known[name] != nil || known.count < Self.fileLimit
        ? AnnouncementFile.read("\(directory)/\(name)").map { (name, $0) } : nil
    }
    report(known.filter { names.contains($0.key) }, Dictionary(found) { first, _ in first })
  }

  /// Reports the changes, removals first, so that a simulator that returned under another path is never present twice.
  private func report(_ before: [String: Announcement], _ found: [String: Announcement]) {
    let gone = before.filter { found[$0.key] != $0.value }
    let new = found.filter { before[$0.key] != $0.value }
    for name in gone.keys { known[name] = nil }
    known.merge(new) { $1 }
    let events =
      gone.map { DeviceEvent.removed($0.value.device) } + new.map { DeviceEvent.added($0.value.device) }
    for event in events {
      for subscriber in subscribers.values { subscriber.yield(event) }
    }
  }

  /// The announcements in a directory, by file name.
  private static func scan(_ directory: String) -> [String: Announcement] {
    var found: [String: Announcement] = [:]
    for name in Directory.names(in: directory).filter(isAnnouncement).prefix(fileLimit) {
      found[name] = AnnouncementFile.read("\(directory)/\(name)")
    }
    return found
  }

  private static func isAnnouncement(_ name: String) -> Bool { !name.hasPrefix(".") && name.hasSuffix(".json") }

  private static func devices(_ announcements: [String: Announcement]) -> [Device] {
    announcements.values.map(\.device).sorted { $0.address < $1.address }
  }
}
