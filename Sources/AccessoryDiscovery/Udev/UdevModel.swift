// SPDX-License-Identifier: Apache-2.0

/// The known devices, kept up to date by scans of sysfs and by hints. A value type without I/O or clock.
///
/// A hint says that something happened; a scan of the file system finds out what is present now. So a scan corrects
/// lost, repeated and late hints. Four cases need care:
/// - A device that was removed is reported at once, though the kernel may show its directory a little longer. The
///   directory is ignored until it is gone, or until a hint says that the device was added again.
/// - A scan takes time. Devices that a hint concerns meanwhile keep their state, and are scanned again.
/// - A device that was removed and added between two scans is a new one: its directory and its address are new.
/// - When a terminal is removed, usually the whole accessory is, one part after another. The remaining parts aren't
///   reported as an accessory without a terminal until some time has passed. The owner of the model measures that time.
struct UdevModel: Sendable {
  /// Whether a device is reported only after udev has processed it.
  private let onlyInitialized: Bool
  private var records: [String: UdevRecord] = [:]
  /// Properties from messages about devices that udev's database doesn't contain yet.
  private var messageProperties: [String: UdevProperties] = [:]
  /// The removed instances, by devpath, whose directories may still exist.
  private var gone: [String: UInt64] = [:]
  /// The devpaths of the hints that came since the current scan began.
  private var touched: Set<String> = []
  private var entries: [String: UdevAssembly.Entry] = [:]
  /// USB devices that have lost terminals, with the number of calls of `release` that must follow. Until then, their
  /// remaining parts aren't reported.
  private var unreported: [String: Int] = [:]
  /// The USB devices that were added to `unreported` since `takeNewlyUnreported` was called.
  private var newlyUnreported: [String] = []

  init(onlyInitialized: Bool) { self.onlyInitialized = onlyInitialized }

  /// The accessories that are present, sorted by path.
  var devices: [Device] { entries.values.map(\.device).sorted { ($0.address, $0.id) < ($1.address, $1.id) } }

  /// Handles a hint and returns the changes that are certain at once. Every hint must be followed by a scan.
  mutating func apply(_ hint: UdevHint) -> [DeviceEvent] {
    touched.insert(hint.devpath)
    switch hint.action {
    case .removed:
      // The hint concerns an earlier device at the same devpath.
      if let address = hint.address, let known = records[hint.devpath]?.number("devnum"), known != address { return [] }
      return remove(hint.devpath)
    case .moved(let old):
      touched.insert(old)
      move(from: old, to: hint.devpath)
    case .changed: break
    }
    gone[hint.devpath] = nil
    if let properties = hint.properties {
      messageProperties[hint.devpath] = properties
      records[hint.devpath]?.isInitialized = true
      records[hint.devpath]?.properties = properties
    }
    return []
  }

  /// Returns the USB devices whose remaining parts must be reported later. The owner calls `release` for them.
  mutating func takeNewlyUnreported() -> [String] {
    defer { newlyUnreported = [] }
    return newlyUnreported
  }

  /// Call this some time after this USB device lost a terminal. A scan must follow.
  mutating func release(_ devpath: String) {
    guard let count = unreported[devpath] else { return }
    unreported[devpath] = count > 1 ? count - 1 : nil
  }

  /// Call this when messages were lost.
  mutating func overflow() {
    gone = [:]
    messageProperties = [:]
  }

  private mutating func remove(_ path: String) -> [DeviceEvent] {
    for record in records.values where record.isAtOrBelow(path) {
      gone[record.devpath] = record.instance
      records[record.devpath] = nil
    }
    messageProperties = messageProperties.filter { $0.key != path && !$0.key.hasPrefix(path + "/") }
    let lost = entries.filter { $0.key == path || $0.key.hasPrefix(path + "/") }
    for (key, entry) in lost {
      entries[key] = nil
      unreported[key] = nil
      if entry.device.terminal != nil, let device = entry.device.usb?.devpath, lost[device] == nil, device != path,
        records[device] != nil
      {
        unreported[device, default: 0] += 1
        newlyUnreported.append(device)
      }
    }
    return lost.values.map(\.device).sorted { $0.address < $1.address }.map { .removed($0) }
  }

  private mutating func move(from old: String, to new: String) {
    func moved(_ path: String) -> String? {
      path == old || path.hasPrefix(old + "/") ? new + path.dropFirst(old.count) : nil
    }
    for (path, var record) in records {
      guard let target = moved(path) else { continue }
      record.devpath = target
      records[path] = nil
      records[target] = record
    }
    for (path, entry) in entries {
      guard let target = moved(path) else { continue }
      entries[path] = nil
      entries[target] = entry
    }
  }

  // MARK: - Scans

  /// Call this before a scan of sysfs.
  mutating func beginScan() { touched = [] }

  /// Handles the result of a scan, and returns the changes.
  mutating func endScan(_ found: [UdevRecord]) -> [DeviceEvent] {
    var next: [String: UdevRecord] = [:]
    for var record in found {
      if gone[record.devpath] == record.instance { continue }
      if let properties = messageProperties[record.devpath], !record.isInitialized {
        record.isInitialized = true
        record.properties = properties
      }
      next[record.devpath] = record
    }
    let instances = Dictionary(found.map { ($0.devpath, $0.instance) }) { $1 }
    if touched.isEmpty {
      gone = gone.filter { instances[$0.key] == $0.value }
      messageProperties = messageProperties.filter { next[$0.key] != nil }
    } else {
      next = next.filter { !isTouched($0.value) }
      next.merge(records.filter { isTouched($0.value) }) { $1 }
    }
    records = next
    return report(
      UdevAssembly.entries(next.values, onlyInitialized: onlyInitialized).filter {
        // If the accessory has a terminal, the key is the terminal's devpath.
        unreported[$0.key] == nil
      })
  }

  private func isTouched(_ record: UdevRecord) -> Bool { touched.contains { record.isAtOrBelow($0) } }

  /// Returns the changes, removals first, so that a device that returned under another path is never present twice.
  private mutating func report(_ new: [String: UdevAssembly.Entry]) -> [DeviceEvent] {
    var removed: [Device] = []
    var changed: [DeviceEvent] = []
    var added = new.filter { entries[$0.key] == nil }
    for (key, old) in entries {
      if let entry = new[key], entry.isSame(as: old) {
        if entry.device != old.device { changed.append(.changed(entry.device, from: old.device)) }
      } else if let (key, successor) = added.filter({ $0.value.continues(old, at: key) }).min(by: { $0.key < $1.key }) {
        // A device that had no terminal has got one.
        changed.append(.changed(successor.device, from: old.device))
        added[key] = nil
      } else {
        removed.append(old.device)
        if let entry = new[key] { added[key] = entry }
      }
    }
    entries = new
    return removed.sorted { $0.address < $1.address }.map { .removed($0) } + changed
      + added.values.map(\.device).sorted { $0.address < $1.address }.map { .added($0) }
  }
}

extension UdevAssembly.Entry {
  /// Whether this is the same device as the other, without an unplug in between.
  fileprivate func isSame(as other: Self) -> Bool {
    instances == other.instances && device.id == other.device.id && device.usb?.address == other.device.usb?.address
  }

  /// Whether this is a terminal of the USB device that the other entry, at this devpath, described without a terminal.
  fileprivate func continues(_ other: Self, at devpath: String) -> Bool {
    other.device.terminal == nil && other.device.address.transport != .hidraw && device.terminal != nil
      && device.usb?.devpath == devpath
      && device.id == other.device.id && device.usb?.address == other.device.usb?.address
      && instances.first == other.instances.first
  }
}
