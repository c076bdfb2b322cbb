// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// Takes away what a setup has made, and nothing else.
package struct SetupUndo: Sendable {
  /// A file that stays, and why.
  package struct Kept: Sendable, Hashable {
    package let path, reason: String
  }

  package let name: String
  package let scope: SetupPlan.Scope
  /// The files that are removed.
  package let removed: [String]
  package let kept: [Kept]
  /// The units that are disabled and stopped.
  package let units: [String]

  private let places: SetupPlaces
  private let folders: [String]

  /// The command that does it.
  package static func command(_ name: String, _ scope: SetupPlan.Scope) -> String {
    "\(scope == .system ? "sudo " : "")bridge-cli setup --undo \(name)"
  }

  /// The names of the setups in this scope, sorted; none where its folder isn't known. Blocks.
  package static func names(_ scope: SetupPlan.Scope, on machine: SetupMachine = SetupMachine()) -> [String] {
    do throws(AccessoryError) { return SetupRecords(places: try SetupPlaces(scope, on: machine)).names } catch {
      return []
    }
  }

  /// Looks at what a setup has left. Throws `notFound` if there is no setup of this name. Changes nothing. Blocks.
  package init(_ name: String, scope: SetupPlan.Scope, on machine: SetupMachine = SetupMachine()) throws(AccessoryError)
  {
    let places = try SetupPlaces(scope, on: machine)
    let records = SetupRecords(places: places)
    guard SetupName.isName(name), let record = records.record(name) else {
      throw AccessoryError(.notFound, "there is no setup \(SafeText.escape(name, limit: 64))")
    }
    let others = records.others(than: name)
    var (removed, kept): ([String], [Kept]) = ([], [])
    for path in record.files.keys.sorted() {
      let user = others.first { $0.value.files[path] != nil }
      switch machine.find(path) {
      case .nothing: continue
      case _ where user != nil: kept.append(Kept(path: path, reason: "the setup \(user?.key ?? "") uses it, too"))
      case .unreadable: kept.append(Kept(path: path, reason: "it can't be read"))
      case .file(let bytes) where record.has(bytes, at: path): removed.append(path)
      case .file: kept.append(Kept(path: path, reason: "it was changed since"))
      }
    }
    (self.name, self.scope, self.places, self.removed, self.kept) = (name, scope, places, removed, kept)
    units = record.units.filter { unit in !others.values.contains { $0.units.contains(unit) } }.sorted()
    folders = record.folders.sorted()
  }

  /// Does it. It can be repeated: the record goes last. Throws what a step throws, with what was done and what was not.
  package func perform() throws(AccessoryError) {
    let machine = places.machine
    var gone: [String] = []
    do throws(AccessoryError) {
      for unit in units where places.hasSystemd {
        try step { () throws(AccessoryError) in try machine.run(places.disabling(unit)) }
      }
      for path in removed {
        try step { () throws(AccessoryError) in try Self.remove(path) }
        gone.append(path)
      }
      for command in places.rereading(removed, isUndoing: true)
        + [places.rereadingService(startsIt: false)].compactMap({ $0 })
      where scope == .user || machine.hasSystemd {
        try step { () throws(AccessoryError) in try machine.run(command) }
      }
      try step { () throws(AccessoryError) in try Self.remove(SetupRecords(places: places).path(name)) }
    } catch {
      let done = gone.isEmpty ? "nothing was removed" : "removed so far: \(gone.joined(separator: ", "))"
      throw AccessoryError(
        error.kind, code: error.code, "\(error.message); \(done). To go on: \(Self.command(name, scope))")
    }
    for folder in folders.reversed() { rmdir(folder) }
  }

  private func step(_ body: () throws(AccessoryError) -> Void) throws(AccessoryError) {
    try places.machine.willChange()
    try body()
  }

  private static func remove(_ path: String) throws(AccessoryError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw AccessoryError(errno: .init(rawValue: errno), "removing \(path)")
    }
  }
}
