// SPDX-License-Identifier: Apache-2.0

/// The known devices, kept up to date by scans of sysfs and by hints. A value without I/O and clock.
///
/// A hint says that something happened; a scan of the file system tells what is there now. So a scan corrects lost,
/// repeated and late hints. Four cases need care:
/// - A device that is gone is told so at once, though the kernel may show its directory a little longer: the directory
///   is passed over until it is gone too, or the device is told to have come again.
/// - A look takes time. What a hint touches meanwhile stays as it is, and is looked at again.
/// - A device that went and came between two looks is another one: its directory and its address are new.
/// - When a terminal goes, mostly all of the accessory goes, a part after the other. What is left of it is not told as an
///   accessory without a terminal until some time has passed; the owner of the model measures that.
struct UdevModel: Sendable {
  /// Whether a device is reported only after udev has processed it.
  private let onlyInitialized: Bool
  private var records: [String: UdevRecord] = [:]
  /// What messages told of devices that udev has nothing written down of.
  private var told: [String: UdevProperties] = [:]
  /// The instances that are gone, by devpath, whose directories may still be there.
  private var gone: [String: UInt64] = [:]
  /// The devpaths of the hints that came since the look began that is under way.
  private var touched: Set<String> = []
  private var entries: [String: UdevAssembly.Entry] = [:]
  /// The devices on USB that have lost a terminal, and how often, until `release`.
  private var held: [String: Int] = [:]
  /// Those of them that are new since this was last emptied.
  private var newlyHeld: [String] = []

  init(onlyInitialized: Bool) { self.onlyInitialized = onlyInitialized }

  /// The accessories that are there, sorted by path.
  var devices: [Device] { entries.values.map(\.device).sorted { ($0.address, $0.id) < ($1.address, $1.id) } }

  /// Handles a hint and returns the changes that are certain at once. Every hint must be followed by a scan.
  mutating func apply(_ hint: UdevHint) -> [DeviceEvent] {
    touched.insert(hint.devpath)
    switch hint.action {
    case .removed:
      // Of one that was there before this one.
      if let address = hint.address, let known = records[hint.devpath]?.number("devnum"), known != address { return [] }
      return remove(hint.devpath)
    case .moved(let old):
      touched.insert(old)
      move(from: old, to: hint.devpath)
    case .changed: break
    }
    gone[hint.devpath] = nil
    if let properties = hint.properties {
      told[hint.devpath] = properties
      records[hint.devpath]?.isInitialized = true
      records[hint.devpath]?.properties = properties
    }
    return []
  }

  /// Returns the devices whose remaining parts are to be reported later, by `release`.
  mutating func takeNewlyHeld() -> [String] {
    defer { newlyHeld = [] }
    return newlyHeld
  }

  /// Call this some time after this USB device lost a terminal. A scan must follow.
  mutating func release(_ devpath: String) {
    guard let count = held[devpath] else { return }
    held[devpath] = count > 1 ? count - 1 : nil
  }

  /// Call this when hints were lost.
  mutating func overflow() {
    gone = [:]
    told = [:]
  }

  private mutating func remove(_ path: String) -> [DeviceEvent] {
    for record in records.values where record.isAtOrBelow(path) {
      gone[record.devpath] = record.instance
      records[record.devpath] = nil
    }
    told = told.filter { $0.key != path && !$0.key.hasPrefix(path + "/") }
    let lost = entries.filter { $0.key == path || $0.key.hasPrefix(path + "/") }
    for (key, entry) in lost {
      entries[key] = nil
      held[key] = nil
      if entry.device.terminal != nil, let device = entry.device.usb?.devpath, lost[device] == nil, device != path,
        records[device] != nil
      {
        held[device, default: 0] += 1
        newlyHeld.append(device)
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

  // MARK: - Looking

  /// A look at sysfs begins.
  mutating func beginLook() { touched = [] }

  /// Handles the result of a scan, and returns the changes.
  mutating func endLook(_ found: [UdevRecord]) -> [DeviceEvent] {
    var next: [String: UdevRecord] = [:]
    for var record in found {
      if gone[record.devpath] == record.instance { continue }
      if let properties = told[record.devpath], !record.isInitialized {
        record.isInitialized = true
        record.properties = properties
      }
      next[record.devpath] = record
    }
    let instances = Dictionary(found.map { ($0.devpath, $0.instance) }) { $1 }
    if touched.isEmpty {
      gone = gone.filter { instances[$0.key] == $0.value }
      told = told.filter { next[$0.key] != nil }
    } else {
      next = next.filter { !isTouched($0.value) }
      next.merge(records.filter { isTouched($0.value) }) { $1 }
    }
    records = next
    return tell(
      UdevAssembly.entries(next.values, onlyInitialized: onlyInitialized).filter {
        // Where there is a terminal, the key is the terminal's.
        held[$0.key] == nil
      })
  }

  private func isTouched(_ record: UdevRecord) -> Bool { touched.contains { record.isAtOrBelow($0) } }

  /// The changes, removals first, so that a device that came back under another path is never there twice.
  private mutating func tell(_ new: [String: UdevAssembly.Entry]) -> [DeviceEvent] {
    var removed: [Device] = []
    var changed: [DeviceEvent] = []
    var added = new.filter { entries[$0.key] == nil }
    for (key, old) in entries {
      if let entry = new[key], entry.isSame(as: old) {
        if entry.device != old.device { changed.append(.changed(entry.device, from: old.device)) }
      } else if let (key, successor) = added.filter({ $0.value.continues(old, at: key) }).min(by: { $0.key < $1.key }) {
        // A terminal has come to what had none.
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

  /// Whether this is a terminal of the device on USB that the other, at this devpath, was without one.
  fileprivate func continues(_ other: Self, at devpath: String) -> Bool {
    other.device.terminal == nil && device.terminal != nil && device.usb?.devpath == devpath
      && device.id == other.device.id && device.usb?.address == other.device.usb?.address
      && instances.first == other.instances.first
  }
}
