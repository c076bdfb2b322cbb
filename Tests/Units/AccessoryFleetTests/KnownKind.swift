// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryEntities
import Glibc

@testable import AccessoryFleet

/// What a simulated accessory of each kind has told, in the files of `Kinds`.
struct KnownKind: Sendable, CustomStringConvertible {
  /// A file is a kind.
  static let names = TestFile.names(in: "Kinds").filter { $0.hasSuffix(".json") }.map { String($0.dropLast(5)) }

  let name: String
  let state: FleetState
  let values: FleetValues

  init(_ name: String) throws {
    self.name = name
    let document = try JSON(TestFile.read("Kinds/\(name).json"))
    guard let state = document.fields?["state"], let values = document.fields?["values"] else {
      throw TestFile.Missing(name: name)
    }
    self.state = try FleetState(state.bytes)
    self.values = try FleetValues(values.bytes)
  }

  var description: String { name }

  var facts: EntityFacts {
    var facts = EntityFacts(state.device)
    facts.take(state.accessory)
    facts.take(values.values.map(\.value))
    return facts
  }
}

/// Files beside the tests' sources.
enum TestFile {
  struct Missing: Error { let name: String }

  static func path(_ name: String) -> String {
    let here = "\(#filePath)".split(separator: "/").dropLast(1).joined(separator: "/")
    return "/\(here)/\(name)"
  }

  /// The names of the files in a folder, in order.
  static func names(in folder: String) -> [String] {
    guard let stream = opendir(path(folder)) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  static func read(_ name: String) throws -> [UInt8] {
    guard let file = fopen(path(name), "r") else { throw Missing(name: name) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      guard count > 0 else { return bytes }
      bytes += buffer.prefix(count)
    }
  }

  static func write(_ text: String, to name: String) throws {
    guard let file = fopen(path(name), "w") else { throw Missing(name: name) }
    defer { fclose(file) }
    fputs(text, file)
  }
}
