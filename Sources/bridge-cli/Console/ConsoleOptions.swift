// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FamilyHM10

/// The bytes that end a line that is sent.
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

  /// The line end that the commands of a driver's protocol have: HM-10 takes a command by the pause behind it, ELM327 and Megatec by a
  /// carriage return.
  static func usual(for driver: String?) -> LineEnding {
    switch driver {
    case HM10Module.driverName: .none
    case "elm327", "megatec": .cr
    default: .lf
    }
  }
}

/// How received bytes are shown.
enum ConsoleView: String, ExpressibleByArgument, CaseIterable {
  /// Lines of text, with control characters escaped.
  case text
  /// Decoded frames of the accessory's protocol.
  case frames
  /// Hexadecimal and text.
  case hex
  /// Unchanged: the terminal interprets the accessory's control sequences.
  case asIs = "as-is"
}

/// What a key does.
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
