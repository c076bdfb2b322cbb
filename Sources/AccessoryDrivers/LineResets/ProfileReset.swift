// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryIO

/// How a profile's board is reset by DTR and RTS.
public struct ProfileReset: Sendable, Hashable {
  /// The name of a known kind of board; nil if the profile describes the resets.
  public let name: String?
  /// The resets that are recognized when a client of the shared line begins one.
  public let resets: [LineReset]
  /// The description in YAML; nil if there is a name.
  let text: String?

  /// The names of the known kinds of boards.
  public static let names = ["esp", "arduino"]

  /// The resets of a known kind of board; nil if the name isn't one of `names`.
  public init?(named name: String) {
    switch name {
    case "esp": resets = LineReset.esp
    case "arduino": resets = LineReset.arduino
    default: return nil
    }
    (self.name, text) = (name, nil)
  }

  /// Resets that the YAML `text` describes.
  init(_ resets: [LineReset], text: String) { (self.resets, self.text, name) = (resets, text, nil) }
}

// Reads the `reset:` key: the name of a known kind of board, or a list of resets.
extension ProfileReader {
  mutating func boardReset(_ node: YAMLNode) -> ProfileReset? {
    guard case .sequence = node.content else {
      return word(node, "reset (or a list of resets)", among: ProfileReset.names).flatMap { ProfileReset(named: $0) }
    }
    var reader = LineResetReader(file: file)
    let resets = reader.resets(node)
    problems += reader.problems.prefix(max(0, Self.problemLimit - problems.count))
    return reader.problems.isEmpty ? ProfileReset(resets, text: YAMLText.text(node, indentation: 2)) : nil
  }
}
