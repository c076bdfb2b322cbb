// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// An argument with a special syntax, which its error message names.
package protocol FormArgument {
  /// The syntax, for error messages: "a time with its unit, like 200ms".
  static var form: String { get }
  init?(argument: String)
}

extension FormArgument {
  /// Reads the argument, as the transformation of an `@Option`.
  package static func read(_ text: String) throws -> Self {
    guard let argument = Self(argument: text) else { throw ValidationError("expected \(form)") }
    return argument
  }
}
