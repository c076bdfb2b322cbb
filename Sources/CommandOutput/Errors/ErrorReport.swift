// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

/// Incorrect use of a command, found after the arguments were parsed.
package struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message for people.
  package let description: String

  /// Creates a usage error with a message for people.
  package init(_ description: String) { self.description = description }
}

/// An error as a command prints it, with the exit status.
package struct ErrorReport: Sendable, Hashable {
  /// The kind for programs: the name of a kind of `AccessoryError`, or "usage".
  package let kind: String
  /// The message for people, unescaped.
  package let message: String
  /// The code of the failed layer: an errno, a libusb error, or the accessory's reason for a refusal; nil where there
  /// is none.
  package let code: AccessoryError.Code?
  /// The command's exit status.
  package let exitStatus: CInt

  /// The report of an accessory's error.
  package init(_ error: AccessoryError) {
    kind = error.kind.rawValue
    message = error.message
    code = error.code
    exitStatus = error.code == .errno(EEXIST) ? EX_CANTCREAT : ExitStatus.of(error.kind)
  }

  package init(_ error: UsageError) {
    kind = "usage"
    message = error.description
    code = nil
    exitStatus = ExitStatus.usage
  }

  /// The line for people, without its line end: the program's name, and the escaped message.
  package func line(of program: String, _ style: Style = .standardError) -> String {
    "\(style.red("\(program):")) \(SafeText.escape(message, limit: 1_000))"
  }

  /// Prints the report: as a document on standard output, or as a line for people on standard error, which begins with
  /// `program`.
  package func tell(asJSON: Bool, program: String) {
    if asJSON { Output.json(ErrorDocument(self)) } else { Output.note(line(of: program)) }
  }
}
