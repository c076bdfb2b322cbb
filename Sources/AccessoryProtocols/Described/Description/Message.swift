// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription {
  /// What a kind of frame means.
  public struct Message: Sendable, Hashable {
    /// What the file calls it.
    public var name: String
    /// The framing of its frames, by its place.
    public var framing: Int
    /// Other framings that its frames may have. Elements that conditions, echoes and refusals name are at the same places
    /// there.
    public var otherFramings: [Int] = []
    /// What a frame's elements must be, so that it is this message.
    public var conditions: [Condition] = []
    /// What its body says.
    public var body = Body.nothing
    /// How several frames make one reply; nil where one frame does.
    public var pieces: Pieces?
    /// Whether the accessory sends it by itself.
    public var isPushed = false
    /// Whether it says that a request was refused; then the refusal's words by the number of `refusalReason`.
    public var isRefusal = false
    /// The element whose number says why, by its place in the layout; nil where nothing does.
    public var refusalReason: Int?
    /// What the reasons mean, by their numbers.
    public var refusalWords: [Int: String] = [:]

    /// A message of these frames.
    public init(name: String, framing: Int) { (self.name, self.framing) = (name, framing) }
  }

  /// What an element of a frame must be.
  public struct Condition: Sendable, Hashable {
    /// The element's place in its layout.
    public var element: Int
    /// Numbers of which it must be one, or must not.
    public var values: [Int]
    /// Whether it must be none of them.
    public var isNegated = false
    /// It is one of these.
    public init(_ element: Int, _ values: [Int]) { (self.element, self.values) = (element, values) }
  }

  /// One reply in several frames, told apart by a number in each.
  public struct Pieces: Sendable, Hashable {
    /// The field whose value is the piece's number.
    public var index: String
    /// The number of the first piece.
    public var first = 0
    /// A field that has been read before, or is in the same message, and tells how many there are: as many pieces as are
    /// needed for its value, `each` to a piece. Nil: pieces come until the line has been silent for `silence`.
    public var count: String?
    /// Things that one piece carries.
    public var each = 1
    /// In nanoseconds; how long a pause ends the reply where no count does.
    public var silence: Int64 = 100_000_000
    /// Pieces numbered by this field.
    public init(index: String) { self.index = index }
  }

  /// What a message's body says.
  public enum Body: Sendable, Hashable {
    /// Nothing that is looked at.
    case nothing
    /// Fields one after another, as bytes.
    case fields([Step])
    /// A tag of one byte, then its value, again and again. Behind a tag that isn't known nothing can be read.
    case tags([UInt8: [Step]])
    /// Lines of a label and a value, or the labels of a `pairs` framing.
    case pairs(PairsBody)
    /// Text in columns.
    case columns(Columns)
    /// Text in columns whose heads say where they are.
    case table(Table)
    /// A text with values at places: literals and placeholders.
    case pattern(TextPattern)
    /// Registers of a protocol that is Modbus.
    case registers(RegisterBlock)
  }

  /// A part of a body of bytes.
  public indirect enum Step: Sendable, Hashable {
    /// A value.
    case field(Field)
    /// Bytes that mean nothing here; sent as zeros.
    case skip(Int)
    /// The same steps, so many times.
    case group([Step], Times)
    /// These steps, if bytes are left for the first of them; nothing follows behind them.
    case tail([Step])
    /// These steps, if a field's number that was read before is at least so much.
    case when(field: String, atLeast: Int, [Step])
  }

  /// How many times a group or a field is there.
  public enum Times: Sendable, Hashable {
    /// So many times, 1…255.
    case fixed(Int)
    /// As often as a field of this message that was read before says.
    case field(String)
    /// To the end of the body.
    case toEnd
    /// As a number of one byte in front of it says, which counts bytes.
    case prefixedBytes
  }

  /// Labels and what their values mean.
  public struct PairsBody: Sendable, Hashable {
    /// What ends a line; nil where the framing has cut the lines.
    public var lineEnd: [UInt8]?
    /// What stands between a label and its value; blanks around either are dropped.
    public var separator: [UInt8]
    /// The values by their labels. Labels that aren't here are passed over.
    public var fields: [String: Field]
    /// Labels of these.
    public init(lineEnd: [UInt8]?, separator: [UInt8], fields: [String: Field]) {
      (self.lineEnd, self.separator, self.fields) = (lineEnd, separator, fields)
    }
  }

  /// Text in columns.
  public struct Columns: Sendable, Hashable {
    /// How columns are told apart.
    public enum Separation: Sendable, Hashable {
      /// By one blank or more.
      case blanks
      /// By this byte.
      case byte(UInt8)
      /// By their places, from 0.
      case places
    }
    /// How columns are told apart.
    public var separation: Separation
    /// Columns in their order (by number from 0, or by place and count of characters).
    public var columns: [Column]
    /// Text in these columns.
    public init(_ separation: Separation, _ columns: [Column]) {
      (self.separation, self.columns) = (separation, columns)
    }
  }

  /// A column of text.
  public struct Column: Sendable, Hashable {
    /// Its number from 0; or its first character's place, from 0.
    public var place: Int
    /// Its characters, where places tell columns apart; otherwise not looked at.
    public var count: Int
    /// Whether the message may end before it.
    public var isOptional: Bool
    /// What it says.
    public var field: Field
    /// A column of these parts.
    public init(_ place: Int, count: Int = 0, isOptional: Bool = false, _ field: Field) {
      (self.place, self.count, self.isOptional, self.field) = (place, count, isOptional, field)
    }
  }

  /// A text with values in it: `{number}V`. It is compared from left to right without going back.
  public struct TextPattern: Sendable, Hashable {
    /// Parts of a pattern. No two placeholders stand side by side.
    public enum Part: Sendable, Hashable {
      /// This text.
      case literal([UInt8])
      /// A value: as many characters as its type can have, up to the next literal's first.
      case field(Field)
    }
    /// In their order.
    public let parts: [Part]
    /// The same without blanks and line ends at both ends, which don't count when texts are compared with the pattern.
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
