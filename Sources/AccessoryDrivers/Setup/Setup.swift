// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryIO
import Glibc

/// A plan held against what is on a machine, and carried out as a whole or not at all.
///
/// The record of the setup is written first and names everything that will be there, so a setup whose process was killed can be undone or
/// repeated. A setup of the same name is changed. All calls block.
package struct Setup: Sendable {
  /// What becomes of a file.
  package enum Change: String, Sendable, Hashable { case new, changed, same, removed }

  /// A file of the setup.
  package struct Entry: Sendable, Hashable {
    package let path: String
    package let role: SetupRole?
    package let change: Change
    /// The text that will be there; nil for a file that is removed.
    package let text: String?
  }

  package let plan: SetupPlan
  /// The files, in the order in which they are written.
  package let entries: [Entry]
  /// The units that are enabled and started.
  package let units: [String]
  /// Whether there was a setup of this name.
  package let isChange: Bool

  private let places: SetupPlaces
  /// The record while the files are written, and in the end.
  private let (begun, whole): (SetupRecord, SetupRecord)
  /// The units that aren't wanted any more. They are disabled first, while their files are there.
  private let unitsLeft: [String]
  /// The words of each command.
  package let commands: [[String]]

  /// Compares the plan with what is there. Throws `misconfigured` if a file is there that no setup has made, or that was changed since.
  package init(_ plan: SetupPlan, on machine: SetupMachine = SetupMachine()) throws(AccessoryError) {
    try plan.check()
    let places = try SetupPlaces(plan.scope, on: machine)
    let records = SetupRecords(places: places)
    let found = records.record(plan.name)
    let (old, others) = (found ?? SetupRecord(), records.others(than: plan.name))
    var entries: [Entry] = []
    var (begun, whole) = (old, SetupRecord())
    for file in plan.files {
      let path = places.path(of: file.role, plan.name)
      let bytes = Array(file.text.utf8)
      let change = try Self.change(bytes, path, machine.find(path), old, others)
      entries.append(Entry(path: path, role: file.role, change: change, text: file.text))
      // A file that was there before the first setup belongs to somebody else.
      let isShared = others.values.contains { $0.files[path] != nil }
      guard change != .same || old.files[path] != nil || isShared else { continue }
      begun.files[path, default: []].insert(SetupRecord.hash(bytes))
      whole.files[path] = [SetupRecord.hash(bytes)]
    }
    for role in plan.kept where !plan.files.contains(where: { $0.role == role }) {
      let path = places.path(of: role, plan.name)
      let hashes = ([old] + others.values).compactMap { $0.files[path] }.reduce(into: Set()) { $0.formUnion($1) }
      guard !hashes.isEmpty, machine.find(path) != .nothing else { continue }
      entries.append(Entry(path: path, role: role, change: .same, text: nil))
      begun.files[path] = hashes
      whole.files[path] = hashes
    }
    for path in old.files.keys.sorted() where !entries.contains(where: { $0.path == path }) {
      // What was changed since, or is another setup's, too, stays.
      guard case .file(let bytes) = machine.find(path), old.has(bytes, at: path),
        !others.values.contains(where: { $0.files[path] != nil })
      else { continue }
      entries.append(Entry(path: path, role: nil, change: .removed, text: nil))
    }
    // Folders of other setups stay as long as one of them is there.
    let paths = entries.map(\.path) + [records.path(plan.name)]
    let made = Set(paths.flatMap(machine.missingFolders)).union(
      others.values.flatMap(\.folders).filter { folder in
        paths.contains { $0.hasPrefix(folder + "/") }
      })
    begun.folders.formUnion(made)
    whole.folders = begun.folders
    let wanted = (plan.scope == .system ? plan.outlets.map(\.unit) : plan.files.compactMap(\.role.unit))
    let enabled = places.hasSystemd ? wanted.filter { !places.isEnabled($0) } : []
    units = enabled
    begun.units.formUnion(enabled)
    whole.units = Set(enabled).union(old.units.filter(wanted.contains))
      .union(wanted.filter { unit in others.values.contains { $0.units.contains(unit) } })
    let unwanted = old.units.subtracting(whole.units).filter { unit in
      !others.values.contains { $0.units.contains(unit) }
    }
    let left = places.hasSystemd ? unwanted.filter(places.isEnabled).sorted() : []
    (self.plan, self.places, self.entries, self.begun, self.whole) = (plan, places, entries, begun, whole)
    unitsLeft = left
    isChange = found != nil
    let changed = entries.filter { $0.change != .same }.map(\.path)
    let starts = plan.scope == .system || wanted.contains(UdevRules.usualUnit)
    var commands = left.map(places.disabling) + places.rereading(changed)
    if !enabled.contains(UdevRules.usualUnit), let command = places.rereadingService(startsIt: starts) {
      commands.append(command)
    }
    commands += enabled.map(places.enabling)
    if places.hasSystemd {
      let isNew = Self.hasNewSettings(entries)
      commands += plan.outlets.filter { !enabled.contains($0.unit) && isNew($0) }.map(places.restarting)
    }
    self.commands = commands
  }

  /// Whether an outlet's settings are written anew.
  private static func hasNewSettings(_ entries: [Entry]) -> (SetupOutlet) -> Bool {
    let changed = Set(entries.filter { $0.change != .same }.compactMap(\.role))
    return { outlet in
      switch outlet {
      case .mqtt: !changed.isDisjoint(with: [.broker, .password, .fleetUnit])
      case .nut: !changed.isDisjoint(with: [.ups, .nutUnit])
      case .web, .homeAssistant, .metrics: changed.contains(outlet.role)
      }
    }
  }

  private static func change(
    _ bytes: [UInt8], _ path: String, _ found: SetupMachine.Found, _ old: SetupRecord, _ others: [String: SetupRecord]
  ) throws(AccessoryError) -> Change {
    switch found {
    case .nothing: return .new
    case .unreadable: return .changed
    case .file(bytes): return .same
    case .file(let there):
      if old.has(there, at: path) { return .changed }
      let why =
        if old.files[path] != nil {
          "was changed since it was set up: bridge-cli setup --undo keeps it, and forgets it"
        } else if let other = others.first(where: { $0.value.files[path] != nil }) {
          "is there with another content, of the setup \(other.key)"
        } else {
          "is there with another content: choose another --name, or remove it"
        }
      throw AccessoryError(.misconfigured, code: .errno(EEXIST), "\(path) \(why); nothing was written")
    }
  }

  /// The command that takes everything away again.
  package var undo: String { SetupUndo.command(plan.name, plan.scope) }

  /// The paths of the files that are there afterwards.
  package var paths: [String] { entries.filter { $0.text != nil }.map(\.path) }

  // MARK: - Doing it

  /// Writes the files, and has udev, systemd and the service read them. If that fails or is interrupted, everything is put back, and the
  /// error says so.
  package func perform() throws(AccessoryError) {
    var journal = Journal(machine: places.machine)
    do throws(AccessoryError) {
      try journal.write(record(begun), at: recordPath, isOpen: isOpen(nil))
      for command in commands.prefix(unitsLeft.count) { try journal.run(command) }
      for entry in entries where entry.change != .same {
        if let text = entry.text {
          try journal.write(Array(text.utf8), at: entry.path, isOpen: isOpen(entry.role))
        } else {
          try journal.remove(entry.path)
        }
      }
      for command in commands.dropFirst(unitsLeft.count) { try journal.run(command) }
      try journal.write(record(whole), at: recordPath, isOpen: isOpen(nil))
    } catch {
      let left = journal.putBack()
      let commands = journal.hasRun ? putBackCommands(journal.paths) : []
      for command in commands { _ = places.machine.succeeds(command) }
      let state =
        left.isEmpty
        ? journal.paths.isEmpty ? "nothing was written" : "everything is as it was before"
        : "these files couldn't be put back: \(left.joined(separator: ", ")); \(undo) takes them away"
      throw AccessoryError(error.kind, code: error.code, "\(error.message); \(state)")
    }
  }

  private var recordPath: String { SetupRecords(places: places).path(plan.name) }
  private func record(_ record: SetupRecord) -> [UInt8] { Array(record.text(undo: undo).utf8) }
  private func isOpen(_ role: SetupRole?) -> Bool { plan.scope == .system && role?.isSecret != true }

  /// The commands that make programs forget what was put back.
  private func putBackCommands(_ paths: [String]) -> [[String]] {
    units.reversed().map(places.disabling) + places.rereading(paths, isUndoing: true) + unitsLeft.map(places.enabling)
      + [places.rereadingService(startsIt: false)].compactMap { $0 }
  }
}

/// The changes of a setup so far, so that they can be put back.
private struct Journal {
  let machine: SetupMachine
  private var before: [(path: String, found: SetupMachine.Found, isOpen: Bool)] = []
  private var folders: [String] = []
  /// Whether a command was run, or may have been.
  private(set) var hasRun = false

  init(machine: SetupMachine) { self.machine = machine }

  var paths: [String] { before.map(\.path) }

  mutating func write(_ bytes: [UInt8], at path: String, isOpen: Bool) throws(AccessoryError) {
    try machine.willChange()
    let found = machine.find(path)
    guard found != .unreadable else {
      throw AccessoryError(.permissionDenied, "\(path) can't be read, so it couldn't be put back")
    }
    folders += machine.missingFolders(above: path)
    try machine.put(bytes, at: path, isOpen: isOpen)
    // A file that is written a second time is put back as it was before the first.
    if !before.contains(where: { $0.path == path }) { before.append((path, found, isOpen)) }
  }

  mutating func remove(_ path: String) throws(AccessoryError) {
    try machine.willChange()
    var file = stat()
    let isOpen = stat(path, &file) == 0 && file.st_mode & S_IROTH != 0
    before.append((path, machine.find(path), isOpen))
    guard unlink(path) == 0 || errno == ENOENT else {
      throw AccessoryError(errno: .init(rawValue: errno), "removing \(path)")
    }
  }

  mutating func run(_ words: [String]) throws(AccessoryError) {
    try machine.willChange()
    hasRun = true
    try machine.run(words)
  }

  /// Puts back all files and folders; returns the paths of those that couldn't be.
  func putBack() -> [String] {
    var left: [String] = []
    for (path, found, isOpen) in before.reversed() {
      switch found {
      case .nothing: if unlink(path) != 0, errno != ENOENT { left.append(path) }
      case .file(let bytes):
        do throws(AccessoryError) { try machine.put(bytes, at: path, isOpen: isOpen) } catch { left.append(path) }
      case .unreadable: left.append(path)
      }
    }
    for folder in folders.reversed() { rmdir(folder) }
    return left
  }
}
