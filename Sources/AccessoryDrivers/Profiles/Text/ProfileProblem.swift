// SPDX-License-Identifier: Apache-2.0

/// Something wrong with the file of a profile or of a protocol's description: where, and what was expected.
public struct ProfileProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, as its reader called it.
  public var file: String
  /// The line, from 1; nil when it is about the file as a whole.
  public var line: Int?
  /// The character in the line, from 1.
  public var column: Int?
  /// What is wrong and what was expected, for people.
  public var message: String

  /// `file:line:column: message`.
  public var description: String {
    let place = [line, column].compactMap { $0.map { ":\($0)" } }.joined()
    return "\(file)\(place): \(message)"
  }
}

/// All that is wrong with one file, at least one thing.
public struct ProfileProblems: Error, Sendable, Hashable {
  /// In the order of the file.
  public var problems: [ProfileProblem]
}
