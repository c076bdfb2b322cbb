// SPDX-License-Identifier: Apache-2.0

/// A position in a text. Lines and columns are counted from 1; columns count characters.
package struct YAMLMark: Sendable, Hashable {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }
}

/// An error in a YAML text, and its position.
package struct YAMLError: Error, Hashable {
  package var mark: YAMLMark
  package var message: String

  package init(mark: YAMLMark, message: String) { (self.mark, self.message) = (mark, message) }
}

/// A value in a YAML text, and the position where it begins.
///
/// All scalars are text: the reader of the tree decides which of them are numbers.
package struct YAMLNode: Sendable, Hashable {
  /// A key and its value. Keys are unique in a mapping.
  package struct Entry: Sendable, Hashable {
    package var key: String
    package var mark: YAMLMark
    package var value: YAMLNode

    package init(key: String, mark: YAMLMark, value: YAMLNode) {
      (self.key, self.mark, self.value) = (key, mark, value)
    }
  }

  package enum Content: Sendable, Hashable {
    case scalar(String)
    case sequence([YAMLNode])
    case mapping([Entry])
  }

  /// The notation of a scalar.
  package enum Style: Sendable, Hashable {
    /// Without quotes. Also the style of nodes that aren't scalars.
    case plain
    /// In double quotes: `\r` and the like are escapes.
    case doubleQuoted
    /// In single quotes, or as a block after | or >. There are no escapes.
    case literal
  }

  package var content: Content
  package var mark: YAMLMark
  package var style: Style

  package init(content: Content, mark: YAMLMark, style: Style = .plain) {
    (self.content, self.mark, self.style) = (content, mark, style)
  }
}
