// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// Lines of text below a line of heads, which says where the columns are. Each line adds one value to the list of
  /// every column.
  public struct Table: Sendable, Hashable {
    /// The bytes that end a line.
    public var lineEnd: [UInt8]
    /// The columns, in the order in which they are sent.
    public var columns: [Column]
    /// A table with these columns.
    public init(lineEnd: [UInt8], columns: [Column]) { (self.lineEnd, self.columns) = (lineEnd, columns) }

    /// A column.
    public struct Column: Sendable, Hashable {
      /// The word above the column.
      public var head: String
      /// Whether some tables don't have the column.
      public var isOptional: Bool
      /// What the column means; a list.
      public var field: Field
      /// A column below this head.
      public init(_ head: String, isOptional: Bool = false, _ field: Field) {
        (self.head, self.isOptional, self.field) = (head, isOptional, field)
      }
    }
  }
}
