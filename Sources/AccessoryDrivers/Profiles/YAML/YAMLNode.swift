// SPDX-License-Identifier: Apache-2.0

/// A place in a text: lines and columns begin at 1, columns count characters.
struct YAMLMark: Sendable, Hashable {
  var line: Int
  var column: Int
}

/// What is wrong with a text as YAML, and where.
struct YAMLError: Error, Hashable {
  var mark: YAMLMark
  var message: String
}

/// A value in a YAML text, and where it begins.
///
/// Scalars are text; what reads the tree knows which of them are numbers.
struct YAMLNode: Sendable, Hashable {
  /// A key and its value. No key is twice in a mapping.
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

  /// How a scalar is written.
  enum Style: Sendable, Hashable {
    /// Without quotes; so is what isn't a scalar.
    case plain
    /// In double quotes, where `\r` and the like are escapes.
    case doubleQuoted
    /// In single quotes, or as a block behind | or >: without escapes.
    case literal
  }

  var content: Content
  var mark: YAMLMark
  var style = Style.plain
}
