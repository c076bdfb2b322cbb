// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc

/// What a setup has made, as its file says: so that it can be changed, and taken away.
struct SetupRecord: Hashable {
  /// The contents that the setup has given each file, as hexadecimal SHA-256: two while a change is under way.
  var files: [String: Set<String>] = [:]
  /// The folders that were made for them.
  var folders: Set<String> = []
  /// The units that were enabled.
  var units: Set<String> = []

  static func hash(_ bytes: [UInt8]) -> String { Hexadecimal.string(SHA256.sum(bytes)) }

  /// Whether the setup wrote this content.
  func has(_ bytes: [UInt8], at path: String) -> Bool { files[path]?.contains(Self.hash(bytes)) == true }

  /// The text of the file. `undo` is the command that takes everything away.
  func text(undo: String) -> String {
    var lines = ["# Made by bridge-cli setup. To undo it: \(undo)"]
    for (path, hashes) in files.sorted(by: { $0.key < $1.key }) {
      lines += hashes.sorted().map { "file \($0) \(path)" }
    }
    lines += folders.sorted().map { "folder \($0)" }
    lines += units.sorted().map { "unit \($0)" }
    return lines.map { $0 + "\n" }.joined()
  }

  /// Reads the text; a line that isn't understood, as a later version may write, is left out.
  init(_ text: String) {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { continue }
      switch words[0] {
      case "file":
        let parts = words[1].split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, parts[0].utf8.count == 64, parts[1].hasPrefix("/") else { continue }
        files[parts[1], default: []].insert(parts[0])
      case "folder": if words[1].hasPrefix("/") { folders.insert(words[1]) }
      case "unit": units.insert(words[1])
      default: continue
      }
    }
  }

  init() {}
}

/// The records of a scope.
struct SetupRecords {
  let places: SetupPlaces

  func path(_ name: String) -> String { "\(places.records)/\(name)" }

  /// The names of the setups, sorted.
  var names: [String] { Directory.names(in: places.records).filter(SetupName.isName).sorted() }

  /// The record of a setup; nil if there is none.
  func record(_ name: String) -> SetupRecord? {
    guard case .file(let bytes) = places.machine.find(path(name)) else { return nil }
    return SetupRecord(String(decoding: bytes, as: UTF8.self))
  }

  /// The records of all setups but one.
  func others(than name: String) -> [String: SetupRecord] {
    names.reduce(into: [:]) { others, other in if other != name { others[other] = record(other) } }
  }
}

/// What a setup has made before, so that a second one begins with it.
package struct SetupPast: Sendable {
  /// The kinds of its files.
  package let roles: Set<SetupRole>
  /// Where it has the accessory seen.
  package let outlets: [SetupOutlet]

  /// Nothing, where there is no setup of this name. Blocks.
  package init(_ name: String?, scope: SetupPlan.Scope, on machine: SetupMachine) throws(AccessoryError) {
    let places = try SetupPlaces(scope, on: machine)
    let record = name.flatMap { SetupRecords(places: places).record($0) } ?? SetupRecord()
    roles = Set(SetupRole.allCases.filter { record.files[places.path(of: $0, name ?? "")] != nil })
    outlets = SetupOutlet.allCases.filter { record.units.contains($0.unit) }
  }
}
