// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// What ends a line that is sent.
enum LineEnding: String, ExpressibleByArgument, CaseIterable {
  case none, lf, cr, crlf

  var bytes: [UInt8] {
    switch self {
    case .none: []
    case .lf: [0x0A]
    case .cr: [0x0D]
    case .crlf: [0x0D, 0x0A]
    }
  }
}

/// How what comes is shown.
enum ConsoleView: String, ExpressibleByArgument, CaseIterable {
  /// Lines of text, made harmless.
  case text
  /// Messages of AF1, decoded.
  case frames
  /// Hexadecimal and text.
  case hex
  /// As it is: the terminal does what the accessory says.
  case asIs = "as-is"
}

/// What becomes of a key.
enum ConsoleInput: String, ExpressibleByArgument, CaseIterable {
  /// A line is typed, and sent when it is finished.
  case line
  /// Each key is sent at once.
  case raw
  /// Hexadecimal digits are typed, and their bytes sent.
  case hex
  /// Arrows drive a robot, digits are tasks.
  case keys
}
