// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// Lines of text below a line of heads, which says where the columns are. Each line below gives every list one value.
  public struct Table: Sendable, Hashable {
    /// What ends a line.
    public var lineEnd: [UInt8]
    /// Columns, in the order in which they are sent.
    public var columns: [Column]
    /// A table of these columns.
    public init(lineEnd: [UInt8], columns: [Column]) { (self.lineEnd, self.columns) = (lineEnd, columns) }

    /// A column.
    public struct Column: Sendable, Hashable {
      /// The word above it.
      public var head: String
      /// Whether there are tables without it.
      public var isOptional: Bool
      /// What it says; a list.
      public var field: Field
      /// A column below this head.
      public init(_ head: String, isOptional: Bool = false, _ field: Field) {
        (self.head, self.isOptional, self.field) = (head, isOptional, field)
      }
    }
  }
}
