// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryIO
import Glibc
import TestSupport

/// JSON as it was written: a number keeps its digits.
typealias Wire = AccessoryControl.JSON

/// What version 0.1 wrote; see Tests/Data/Compatibility/README.md.
enum OldVersion {
  /// The package.
  static let root = ProjectFolder.path

  static let folder = root + "/Tests/Data/Compatibility/0.1"

  /// The names of the files in a folder that end so, without the ending.
  static func names(in name: String, ending: String) -> [String] {
    Directory.names(in: folder + "/" + name).filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }
      .sorted()
  }

  static func bytes(_ name: String) throws -> [UInt8] { try SmallFile.read(folder + "/" + name, limit: 1 << 22) }

  static func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

  /// The JSON values in a file, one a line.
  static func values(_ name: String) throws -> [Wire] {
    try bytes(name).split(separator: UInt8(ascii: "\n")).map { try Wire(Array($0)) }
  }

  /// Whether the files are to be written anew, by the command that COMPATIBILITY_BRIDGE_CLI names.
  static var isRecording: Bool { getenv("COMPATIBILITY_RECORD") != nil }

  static func write(_ values: [Wire], to name: String) throws {
    let bytes = values.flatMap { $0.bytes + [UInt8(ascii: "\n")] }
    let file = fopen(folder + "/" + name, "w")
    guard let file, fwrite(bytes, 1, bytes.count, file) == bytes.count, fclose(file) == 0 else {
      throw Hang("room for \(name)")
    }
  }
}

extension Wire {
  subscript(_ name: String) -> Wire? { fields?[name] }

  var elements: [Wire] { if case .array(let elements) = self { elements } else { [] } }

  /// The texts of an array of texts.
  var texts: [String] { elements.compactMap(\.text) }

  /// A whole number.
  var whole: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }
}
