// SPDX-License-Identifier: Apache-2.0

/// Why a command or message can't be sent to a Bluno, or why bytes are no command.
public enum BlunoError: Error, Sendable, Hashable {
  /// An argument is outside of its range.
  case outOfRange(argument: String, value: Int, range: ClosedRange<Int>)
  /// Another task has this number.
  case numberInUse(Int)
  /// This character can't be a key's.
  case badCharacter(Character)
  /// Another key sends this character.
  case characterInUse(Character, by: BlunoKey)
  /// There is nothing to send.
  case empty
  /// A text is too long, or has characters that can't be sent.
  case notSendable(argument: String)
  /// The parameter can't be set; it can only be asked for.
  case readOnly(BlunoParameter)
  /// The bytes are no command.
  case notACommand
}

extension BlunoError: CustomStringConvertible {
  /// The error in one English clause.
  public var description: String {
    switch self {
    case .outOfRange(let argument, let value, let range):
      "\(argument) must be \(range.lowerBound) to \(range.upperBound), not \(value)"
    case .numberInUse(let number): "there is already a task with the number \(number)"
    case .badCharacter: "the character of a key must be printable ASCII, and not < or >"
    case .characterInUse(let character, let key): "\(character) is already sent by the key \(key.rawValue)"
    case .empty: "there is nothing to send"
    case .notSendable(let argument): "\(argument) has characters that can't be sent, or too many"
    case .readOnly(let parameter): "\(parameter.rawValue) can't be used in this command"
    case .notACommand: "the bytes are not a command"
    }
  }
}
