// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

extension ProtocolDescription {
  /// A message: which frames it has, and what their body means.
  public struct Message: Sendable, Hashable {
    /// The name in the description.
    public var name: String
    /// The index of the framing of its frames.
    public var framing: Int
    /// The indices of other framings that its frames may have. Elements that conditions, echoes and refusals refer to
    /// have the same index there.
    public var otherFramings: [Int] = []
    /// What the elements of a frame must be for the frame to be this message.
    public var conditions: [Condition] = []
    /// The layout of the body.
    public var body = Body.nothing
    /// How several frames make one reply; nil where one frame is the reply.
    public var pieces: Pieces?
    /// Whether the accessory sends it unasked.
    public var isPushed = false
    /// Whether it refuses a request. `refusalReason` and `refusalWords` then say why.
    public var isRefusal = false
    /// The index of the element whose number is the reason; nil where there is none.
    public var refusalReason: Int?
    /// The reasons in words, by their numbers.
    public var refusalWords: [Int: String] = [:]

    /// A message in frames of this framing.
    public init(name: String, framing: Int) { (self.name, self.framing) = (name, framing) }
  }

  /// A condition for an element of a frame.
  public struct Condition: Sendable, Hashable {
    /// The index of the element in its layout.
    public var element: Int
    /// The allowed numbers or, with `isNegated`, the forbidden ones.
    public var values: [Int]
    /// Whether the element must be none of `values`.
    public var isNegated = false
    /// The element must be one of these numbers.
    public init(_ element: Int, _ values: [Int]) { (self.element, self.values) = (element, values) }
  }

  /// A reply in several frames. A number in each frame says which piece it is.
  public struct Pieces: Sendable, Hashable {
    /// The field whose value is the piece's number.
    public var index: String
    /// The number of the first piece.
    public var first = 0
    /// The field that says how many things the pieces carry together. It was read before, or is in the same message.
    /// There are as many pieces as are needed for that number, with `each` things in a piece. Nil: pieces come until
    /// the line has been silent for `silence`.
    public var count: String?
    /// How many things one piece carries.
    public var each = 1
    /// Without a count, a pause of this many nanoseconds ends the reply.
    public var silence: Int64 = 100_000_000
    /// Pieces that are numbered by this field.
    public init(index: String) { self.index = index }
  }

  /// The layout of a message's body.
  public enum Body: Sendable, Hashable {
    /// Nothing is read from the body.
    case nothing
    /// Fields one after another, as bytes.
    case fields([Step])
    /// A tag of one byte and its value, repeated. Nothing can be read behind an unknown tag.
    case tags([UInt8: [Step]])
    /// Lines of a label and a value, or the labels of a `pairs` framing.
    case pairs(PairsBody)
    /// Text in columns.
    case columns(Columns)
    /// Text in columns below a line of heads, which says where the columns are.
    case table(Table)
    /// A text that consists of literals and placeholders for values.
    case pattern(TextPattern)
    /// Registers of a Modbus protocol.
    case registers(RegisterBlock)
  }

  /// A part of a body of bytes.
  public indirect enum Step: Sendable, Hashable {
    /// A value.
    case field(Field)
    /// Bytes that are skipped; sent as zeros.
    case skip(Int)
    /// Steps that are repeated.
    case group([Step], Times)
    /// Steps that are present only if bytes are left for the first of them. Nothing follows behind them.
    case tail([Step])
    /// Steps that are present only if the number of a field is in this range. The field is an earlier one of the message or, with
    /// `isElsewhere`, one of another message: while that isn't known, nobody knows what follows.
    case when(Condition, [Step])

    /// When steps are present.
    public struct Condition: Sendable, Hashable {
      /// The field's name.
      public var field: String
      /// The numbers with which the steps are present.
      public var numbers: ClosedRange<Int>
      /// Whether the field is in another message.
      public var isElsewhere = false
      /// A condition on a field of the same message.
      public init(_ field: String, _ numbers: ClosedRange<Int>) { (self.field, self.numbers) = (field, numbers) }
    }
  }

  /// How often a group is repeated.
  public enum Times: Sendable, Hashable {
    /// This often, 1…255.
    case fixed(Int)
    /// As often as an earlier field of this message says.
    case field(String)
    /// To the end of the body.
    case toEnd
    /// For as many bytes as a number of one byte in front of the group says.
    case prefixedBytes
  }

  /// Labels with the meaning of their values.
  public struct PairsBody: Sendable, Hashable {
    /// The bytes that end a line; nil where the framing has divided the lines.
    public var lineEnd: [UInt8]?
    /// The bytes between a label and its value. Blanks around either are dropped.
    public var separator: [UInt8]
    /// The values by their labels. Other labels are ignored.
    public var fields: [String: Field]
    /// A body with these labels.
    public init(lineEnd: [UInt8]?, separator: [UInt8], fields: [String: Field]) {
      (self.lineEnd, self.separator, self.fields) = (lineEnd, separator, fields)
    }
  }

  /// Text in columns.
  public struct Columns: Sendable, Hashable {
    /// How columns are separated.
    public enum Separation: Sendable, Hashable {
      /// By one blank or more.
      case blanks
      /// By this byte.
      case byte(UInt8)
      /// By their character positions, from 0.
      case places
    }
    /// How columns are separated.
    public var separation: Separation
    /// The columns, in their order.
    public var columns: [Column]
    /// Text in these columns.
    public init(_ separation: Separation, _ columns: [Column]) {
      (self.separation, self.columns) = (separation, columns)
    }
  }

  /// A column of text.
  public struct Column: Sendable, Hashable {
    /// The number of the column, from 0. Where columns are separated by positions: the position of its first character,
    /// from 0.
    public var place: Int
    /// The number of its characters, where columns are separated by positions; otherwise unused.
    public var count: Int
    /// Whether the text may end before the column.
    public var isOptional: Bool
    /// What the column means.
    public var field: Field
    /// A column of these parts.
    public init(_ place: Int, count: Int = 0, isOptional: Bool = false, _ field: Field) {
      (self.place, self.count, self.isOptional, self.field) = (place, count, isOptional, field)
    }
  }

  /// A text with values in it, such as `{number}V`. Texts are compared with it from left to right, without
  /// backtracking.
  public struct TextPattern: Sendable, Hashable {
    /// A part of a pattern. Two placeholders are never adjacent.
    public enum Part: Sendable, Hashable {
      /// This text.
      case literal([UInt8])
      /// A value: all characters up to the next literal.
      case field(Field)
    }
    /// The parts, in their order.
    public let parts: [Part]
    /// The parts without blanks and line ends at both ends, which are ignored when a text is compared with the pattern.
    let core: [Part]

    /// A pattern of these parts.
    public init(_ parts: [Part]) {
      self.parts = parts
      var core = parts
      if case .literal(let first)? = core.first { core[0] = .literal(Array(first.drop(while: \.isBlank))) }
      if case .literal(var last)? = core.last {
        while last.last?.isBlank == true { last.removeLast() }
        core[core.count - 1] = .literal(last)
      }
      self.core = core.filter { $0 != .literal([]) }
    }
  }
}
