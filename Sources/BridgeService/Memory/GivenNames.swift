// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// The names and places that users gave accessories, by the keys of the accessories' histories.
package struct GivenNames: Sendable, Hashable {
  private var names: [String: GivenName] = [:]

  /// The name of the file in the service's state folder.
  package static let fileName = "accessories"
  /// The most names.
  package static let limit = 1_024

  package init() {}

  /// The name of the accessory with this key; nil where it has none.
  package subscript(key: String) -> GivenName? { names[key] }

  /// Gives a name; an empty one removes it. Returns false where there are too many.
  package mutating func give(_ name: GivenName, to key: String) -> Bool {
    guard names[key] != nil || name.isEmpty || names.count < Self.limit else { return false }
    names[key] = name.isEmpty ? nil : name
    return true
  }

  // MARK: - As text

  private struct Line: Codable {
    var id: String
    var name, area: String?
  }

  /// The first line of the file.
  static let head = "accessory-bridge accessories 1"
  /// The largest file, in bytes.
  static let sizeLimit = 16 << 20

  /// Whether there is none.
  package var isEmpty: Bool { names.isEmpty }

  /// The names in a service's file. Throws the system's error.
  package static func read(_ file: StateFile) throws(AccessoryError) -> GivenNames {
    var names = GivenNames()
    for line in lines(try file.read(limit: sizeLimit)) { if let line = line.json { _ = names.take(line) } }
    return names
  }

  /// Changes the names in the file of a service that isn't running, and nothing else in it. Throws `busy` where one is running, or
  /// `change` returns false because there are too many.
  package static func change(
    in file: StateFile, _ change: (inout GivenNames) -> Bool
  ) throws(AccessoryError) {
    try file.prepare()
    var names = try read(file)
    guard change(&names) else {
      throw AccessoryError(.busy, "\(limit) names are kept, which is the limit")
    }
    let others = lines(try file.read(limit: sizeLimit)).filter { $0.json?.fields?["device"] != nil }.map { String($0) }
    try file.replace(Array(([head] + names.lines + others).map { $0 + "\n" }.joined().utf8))
  }

  private static func lines(_ bytes: [UInt8]?) -> ArraySlice<Substring> {
    let lines = String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n")
    return lines.first == head[...] ? lines.dropFirst() : []
  }

  /// The names as lines of JSON.
  package var lines: [String] {
    names.sorted { $0.key < $1.key }.compactMap { id, given in
      (try? JSON(encoding: Line(id: id, name: given.name, area: given.area)))?.line
    }
  }

  /// Takes such a line. Returns false where it is none.
  package mutating func take(_ line: JSON) -> Bool {
    guard let line = try? line.decoded(as: Line.self), !line.id.isEmpty else { return false }
    func checked(_ text: String?) -> String? { text.flatMap { GivenName.problem(of: $0) == nil ? $0 : nil } }
    _ = give(GivenName(name: checked(line.name), area: checked(line.area)), to: line.id)
    return true
  }
}

extension Substring {
  /// The line as JSON; nil where it is none.
  var json: JSON? { try? JSON(Array(utf8)) }
}

extension JSON {
  /// The text in one line.
  package var line: String { String(decoding: bytes, as: UTF8.self) }
}
