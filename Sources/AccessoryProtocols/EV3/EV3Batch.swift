// SPDX-License-Identifier: Apache-2.0

/// Commands that are sent as one message and run one after another, with nothing in between.
///
/// Places for what comes back are given out as commands are added: each number lies at a multiple of its size, as the
/// brick demands. The sizes are compared with the firmware's limits at every step, and a command that doesn't fit leaves
/// the batch as it was.
public struct EV3Batch: Sendable {
  /// How numbers are written.
  public enum Style: Sendable, Hashable {
    /// Each as short as it can be.
    case compact
    /// Each with as many bytes as the instruction has room for, as LEGO's SDK for iOS has it.
    case full
  }

  /// Where a command's answer is in the reply.
  public struct Place<Reply: Sendable>: Sendable {
    let offsets: [Int]
    let kinds: [EV3Argument]
    let read: @Sendable (EV3Results) -> Reply
  }

  /// How numbers are written.
  public let style: Style
  /// What has been added.
  public private(set) var instructions: [EV3Instruction] = []
  /// Bytes that come back.
  public private(set) var globals = 0
  /// Bytes of local variables.
  public private(set) var locals = 0
  /// Whether the reply waits for something to happen.
  public private(set) var isWaiting = false
  /// Whether a command in it has an answer, for which a reply is needed.
  public private(set) var hasAnswers = false
  private var codeCount = 0

  /// An empty batch.
  public init(style: Style = .compact) { self.style = style }

  /// Bytes that its message has behind the length.
  public var byteCount: Int { 5 + codeCount }

  /// Adds a command; the place tells where its answer is.
  ///
  /// - Throws: `outOfRange`, `textTooLong`, `textContainsZero`, and `messageTooLong` or `tooManyResults` when there is no
  ///   room for it.
  @discardableResult
  public mutating func add<Reply>(_ command: EV3Command<Reply>) throws(EV3MessageError) -> Place<Reply> {
    var globals = globals
    var offsets: [Int] = []
    var kinds: [EV3Argument] = []
    var added: [EV3Instruction] = []
    for step in command.steps {
      var parameters: [EV3Parameter] = []
      for (index, argument) in step.arguments.enumerated() {
        let width = Self.width(of: step.operation, index, style)
        switch argument {
        case .number(let number): parameters.append(.constant(Int32(truncatingIfNeeded: number), atLeast: width))
        case .checked(let name, let number, let range):
          guard range.contains(number) else { throw .outOfRange(argument: name, value: number, range: range) }
          parameters.append(.constant(Int32(truncatingIfNeeded: number), atLeast: width))
        case .text(let text, let limit):
          let bytes = Array(text.utf8)
          guard bytes.count <= limit else { throw .textTooLong(byteCount: bytes.count, limit: limit) }
          parameters.append(try .text(bytes))
        case .result(let kind): parameters.append(place(kind.byteCount, alignment: kind.byteCount))
        case .bytes(let count): parameters.append(place(count, alignment: 1))
        case .local(let offset): parameters.append(.local(offset, atLeast: style == .full ? .one : .short))
        }
        func place(_ count: Int, alignment: Int) -> EV3Parameter {
          let offset = (globals + alignment - 1) / alignment * alignment
          globals = offset + count
          offsets.append(offset)
          kinds.append(argument)
          return .global(offset, atLeast: style == .full ? .one : .short)
        }
      }
      added.append(try EV3Instruction(step.operation, parameters))
    }
    let codeCount = codeCount + added.code.count
    _ = try EV3DirectCommand(globals: globals, locals: max(locals, command.locals), code: [])
    guard 5 + codeCount <= EV3Limits.messageBehindLength else {
      throw .messageTooLong(byteCount: 5 + codeCount, limit: EV3Limits.messageBehindLength)
    }
    instructions += added
    self.codeCount = codeCount
    self.globals = globals
    locals = max(locals, command.locals)
    isWaiting = isWaiting || command.isWaiting
    hasAnswers = hasAnswers || !offsets.isEmpty
    return Place(offsets: offsets, kinds: kinds, read: command.read)
  }

  private static func width(of operation: EV3Operation, _ index: Int, _ style: Style) -> EV3Parameter.Form {
    guard style == .full, index < operation.parameters.count else { return .short }
    switch operation.parameters[index] {
    case .int8: return .one
    case .int16: return .two
    case .int32: return .four
    default: return .short
    }
  }

  /// The message's body.
  ///
  /// - Throws: nothing that `add` has not thrown.
  public func command() throws(EV3MessageError) -> EV3DirectCommand {
    try EV3DirectCommand(globals: globals, locals: locals, instructions)
  }
}

/// What a batch was answered.
public struct EV3BatchReply: Sendable {
  /// The bytes that came back.
  public let globals: [UInt8]

  /// The reply to `batch` in the body of a direct reply. Bytes behind those that were asked for are ignored.
  ///
  /// - Throws: `tooShort`.
  public init(decoding body: [UInt8], of batch: EV3Batch) throws(EV3MessageError) {
    guard body.count >= batch.globals else { throw .tooShort(byteCount: body.count, minimum: batch.globals) }
    globals = body
  }

  /// The answer at a place of that batch.
  public subscript<Reply>(place: EV3Batch.Place<Reply>) -> Reply {
    place.read(EV3Results(globals: globals, offsets: place.offsets, kinds: place.kinds))
  }
}
