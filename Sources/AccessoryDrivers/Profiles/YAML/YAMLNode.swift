// SPDX-License-Identifier: Apache-2.0

/// A position in a text. Lines and columns are counted from 1; columns count characters.
struct YAMLMark: Sendable, Hashable {
  var line: Int
  var column: Int
}

/// An error in a YAML text, and its position.
struct YAMLError: Error, Hashable {
  var mark: YAMLMark
  var message: String
}

/// A value in a YAML text, and the position where it begins.
///
/// All scalars are text: the reader of the tree decides which of them are numbers.
struct YAMLNode: Sendable, Hashable {
  /// A key and its value. Keys are unique in a mapping.
  struct Entry: Sendable, Hashable {
    var key: String
    var mark: YAMLMark
    var value: YAMLNode
  }

  enum Content: Sendable, Hashable {
    case scalar(String)
    case sequence([YAMLNode])
    case mapping([Entry])
  }

  /// The notation of a scalar.
  enum Style: Sendable, Hashable {
    /// Without quotes. Also the style of nodes that aren't scalars.
    case plain
    /// In double quotes, where `\r` and the like are escapes.
    case doubleQuoted
    /// In single quotes, or as a block after | or >. There are no escapes.
    case literal
  }

  var content: Content
  var mark: YAMLMark
  var style = Style.plain
}
