// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An error in the file of a profile or a protocol description.
public struct ProfileProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The file, as its reader named it.
  public var file: String
  /// The line, counted from 1; nil when the error concerns the whole file.
  public var line: Int?
  /// The character in the line, counted from 1.
  public var column: Int?
  /// What is wrong, and what was expected.
  public var message: String
  /// Whether there is no such file.
  package var isMissing = false

  package init(file: String, line: Int? = nil, column: Int? = nil, message: String) {
    (self.file, self.line, self.column, self.message) = (file, line, column, message)
  }

  /// The problem of a file that can't be read.
  package init(file: String, unread error: AccessoryError) {
    self.init(file: file, message: error.message)
    isMissing = error.kind == .notFound
  }

  /// `file:line:column: message`.
  public var description: String {
    let place = [line, column].compactMap { $0.map { ":\($0)" } }.joined()
    return "\(file)\(place): \(message)"
  }
}

/// The errors in one file; at least one.
public struct ProfileProblems: Error, Sendable, Hashable {
  /// The errors, in the order of their positions.
  public var problems: [ProfileProblem]

  package init(problems: [ProfileProblem]) { self.problems = problems }

  /// The kind of error that they are for the program that was to use the file.
  package var kind: AccessoryError.Kind { problems.first?.isMissing == true ? .notFound : .misconfigured }
}
