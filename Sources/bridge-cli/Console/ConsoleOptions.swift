// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryFamilies
import ArgumentParser

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

  /// The line end that the commands of a driver's protocol have: where its driver doesn't say it, a line feed, and for ELM327 and Megatec a
  /// carriage return.
  static func usual(for driver: String?) -> LineEnding {
    if ["elm327", "megatec"].contains(driver) { return .cr }
    let end = DriverLibrary.builtIn.drivers.first { $0.name == driver }?.commandEnd
    return allCases.first { $0.bytes == end } ?? .lf
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
