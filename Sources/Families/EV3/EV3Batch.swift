// SPDX-License-Identifier: Apache-2.0

/// Commands that are sent as one message and run one after another, with nothing in between.
///
/// The batch gives each result a place in the reply, at a multiple of the result's size, as the brick demands. Every
/// call of `add` compares the sizes with the firmware's limits; a command that doesn't fit leaves the batch unchanged.
public struct EV3Batch: Sendable {
  /// How numbers are encoded.
  public enum Style: Sendable, Hashable {
    /// Each in its shortest form.
    case compact
    /// Each in the full size of the instruction's parameter, as in LEGO's SDK for iOS.
    case full
  }

  /// Where the results of a command are in the reply.
  public struct Place<Reply: Sendable>: Sendable {
    let offsets: [Int]
    let kinds: [EV3Argument]
    let read: @Sendable (EV3Results) -> Reply
  }

  /// How numbers are encoded.
  public let style: Style
  /// The instructions of the added commands.
  public private(set) var instructions: [EV3Instruction] = []
  /// The size of all results, in bytes.
  public private(set) var globalByteCount = 0
  /// The size of the local variables, in bytes.
  public private(set) var localByteCount = 0
  /// Whether the reply comes only after something has happened, such as the end of a movement.
  public private(set) var isWaiting = false
  /// Whether a command in it has a result, so that a reply is needed.
  public private(set) var hasAnswers = false
  private var codeCount = 0

  /// An empty batch.
  public init(style: Style = .compact) { self.style = style }

  /// The size of its message behind the length field, in bytes.
  public var byteCount: Int { 5 + codeCount }

  /// Adds a command, and returns the place of its results.
  ///
  /// - Throws: `outOfRange`, `textTooLong` or `textContainsZero` for an argument; `messageTooLong`, `tooManyResults` or
  ///   `tooManyLocals` if the batch has no room for the command.
  @discardableResult
  public mutating func add<Reply>(_ command: EV3Command<Reply>) throws(EV3MessageError) -> Place<Reply> {
    var globalCount = globalByteCount
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
          let offset = (globalCount + alignment - 1) / alignment * alignment
          globalCount = offset + count
          offsets.append(offset)
          kinds.append(argument)
          return .global(offset, atLeast: style == .full ? .one : .short)
        }
      }
      added.append(try EV3Instruction(step.operation, parameters))
    }
    let codeCount = codeCount + added.code.count
    _ = try EV3DirectCommand(
      globalByteCount: globalCount, localByteCount: max(localByteCount, command.localByteCount), code: [])
    guard 5 + codeCount <= EV3Limits.messageBehindLength else {
      throw .messageTooLong(byteCount: 5 + codeCount, limit: EV3Limits.messageBehindLength)
    }
    instructions += added
    self.codeCount = codeCount
    globalByteCount = globalCount
    localByteCount = max(localByteCount, command.localByteCount)
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

  /// The body of the message.
  ///
  /// - Throws: `EV3MessageError`, but in practice nothing, since `add` has checked all limits.
  public func command() throws(EV3MessageError) -> EV3DirectCommand {
    try EV3DirectCommand(globalByteCount: globalByteCount, localByteCount: localByteCount, instructions)
  }
}

/// The reply to a batch.
public struct EV3BatchReply: Sendable {
  /// The bytes of the results.
  public let globals: [UInt8]

  /// Reads the reply to `batch` from the body of a direct reply. Surplus bytes are ignored.
  ///
  /// - Throws: `tooShort` if there are fewer bytes than the batch has results.
  public init(decoding body: [UInt8], of batch: EV3Batch) throws(EV3MessageError) {
    guard body.count >= batch.globalByteCount else {
      throw .tooShort(byteCount: body.count, minimum: batch.globalByteCount)
    }
    globals = body
  }

  /// The result of the command with this place in the batch.
  public subscript<Reply>(place: EV3Batch.Place<Reply>) -> Reply {
    place.read(EV3Results(globals: globals, offsets: place.offsets, kinds: place.kinds))
  }
}
