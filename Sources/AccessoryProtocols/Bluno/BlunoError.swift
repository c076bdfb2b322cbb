// SPDX-License-Identifier: Apache-2.0

/// Why something can't be sent to a Bluno, or what it sent is none of its replies.
public enum BlunoError: Error, Sendable, Hashable {
  /// An argument is outside of what it may be.
  case outOfRange(argument: String, value: Int, range: ClosedRange<Int>)
  /// Two tasks with one number.
  case numberInUse(Int)
  /// A key can't have this character.
  case badCharacter(Character)
  /// Another key has this character.
  case characterInUse(Character, by: BlunoKey)
  /// There is nothing to send.
  case empty
  /// A text has characters that would end the command, or is too long.
  case notSendable(argument: String)
  /// This can only be asked for, or only be set.
  case notPossible(BlunoParameter)
  /// The bytes are no command.
  case notACommand
}

extension BlunoError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .outOfRange(let argument, let value, let range):
      "\(argument) is \(range.lowerBound) to \(range.upperBound), not \(value)"
    case .numberInUse(let number): "there is a task with number \(number)"
    case .badCharacter: "a key's character is one that ASCII can print, but for < and >"
    case .characterInUse(let character, let key): "\(character) is what the key \(key.rawValue) sends"
    case .empty: "there is nothing to send"
    case .notSendable(let argument): "\(argument) has characters that can't be sent, or too many"
    case .notPossible(let parameter): "\(parameter.rawValue) can't be used in this way"
    case .notACommand: "the bytes are no command"
    }
  }
}
