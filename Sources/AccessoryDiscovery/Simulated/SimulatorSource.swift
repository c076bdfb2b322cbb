// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import SystemPackage

/// The simulators that announce themselves in the user's runtime directory. Watches it; never polls.
public actor SimulatorSource: DeviceSource {
  private nonisolated let executor = DispatchExecutor(label: "accessory.discovery.simulated")
  private nonisolated let io: IOThread
  private nonisolated let directory: String?
  /// What is announced, by file name.
  private var known: [String: Announcement] = [:]
  private var watcher: DirectoryWatcher?
  private var subscribers: [Int: AsyncStream<DeviceEvent>.Continuation] = [:]
  private var nextSubscriber = 0

  /// The most files that are read.
  private static let fileLimit = 1_024

  /// The source's dispatch queue.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// A source that watches `directory` on `io`; by default the user's own directory.
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

  /// Whether this simulator runs now; one file is looked at where it is known which.
  public func isPresent(_ device: Device) throws(AccessoryError) -> Bool {
    let directory = try watchedDirectory()
    func isMeant(_ announcement: Announcement) -> Bool {
      announcement.path == device.address.description && announcement.device.id == device.id
    }
    if watcher != nil, let name = known.first(where: { isMeant($0.value) })?.key {
      if let announcement = AnnouncementFile.read("\(directory)/\(name)"), isMeant(announcement) { return true }
    }
    return Self.scan(directory).values.contains(where: isMeant)
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
      // The user's own is two directories that are made below one that isn't.
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

  /// The directory was removed or renamed, and simulators that start will make another: better one that is watched.
  /// Where that can't be had, the streams end: nobody is to wait for what can't come.
  private func watchAgain() {
    watcher?.stop()
    watcher = nil
    guard !subscribers.isEmpty else { return }
    do throws(AccessoryError) {
      let directory = try watchedDirectory()
      try watch(directory)
      rescan(directory)
    } catch {
      tell(known, [:])
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

  /// Looks at all of the directory again.
  private func rescan(_ directory: String) { tell(known, Self.scan(directory)) }

  /// Reads the files that have changed, and no others, so that the work doesn't grow with their number.
  private func look(at names: Set<String>, in directory: String) {
    let names = names.filter(Self.isAnnouncement)
    let found = names.compactMap { name in
      known[name] != nil || known.count < Self.fileLimit
        ? AnnouncementFile.read("\(directory)/\(name)").map { (name, $0) } : nil
    }
    tell(known.filter { names.contains($0.key) }, Dictionary(found) { first, _ in first })
  }

  /// Reports the changes: removed simulators first, so that one that came back under another path is never there twice.
  private func tell(_ before: [String: Announcement], _ found: [String: Announcement]) {
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

  /// The announcements by file name.
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
