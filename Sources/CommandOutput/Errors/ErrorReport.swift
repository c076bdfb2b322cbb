// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc

/// A mistake in how a command was used, found after its arguments were read.
package struct UsageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was wrong, for people.
  package let description: String

  /// A mistake, in words for people.
  package init(_ description: String) { self.description = description }
}

/// An error as a command tells it, and what the command then ends with.
package struct ErrorReport: Sendable, Hashable {
  /// What programs decide by: the name of a kind of `AccessoryError`, or "usage".
  package let kind: String
  /// What happened, for people; not escaped.
  package let message: String
  /// The code of the layer that failed: an errno, libusb's error or the accessory's reason; nil where there is none.
  package let code: AccessoryError.Code?
  /// What the command ends with.
  package let exitStatus: CInt

  /// Of what went wrong with an accessory.
  package init(_ error: AccessoryError) {
    kind = error.kind.rawValue
    message = error.message
    code = error.code
    exitStatus = error.code == .errno(EEXIST) ? EX_CANTCREAT : ExitStatus.of(error.kind)
  }

  /// Of wrong use.
  package init(_ error: UsageError) {
    kind = "usage"
    message = error.description
    code = nil
    exitStatus = ExitStatus.usage
  }

  /// The line for people, without its end: the program's name, and the message made harmless.
  package func line(of program: String, _ style: Style = .standardError) -> String {
    "\(style.red("\(program):")) \(SafeText.escape(message, limit: 1_000))"
  }

  /// Tells it: to programs on standard output as a document, to people on standard error as a line of `program`.
  package func tell(asJSON: Bool, program: String) {
    if asJSON { Output.json(ErrorDocument(self)) } else { Output.note(line(of: program)) }
  }
}
