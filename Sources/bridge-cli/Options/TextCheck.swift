// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Glibc

/// Arguments and variables that aren't UTF-8. Swift would replace what can't be read in them, and so open another file, or
/// answer on another socket, than the user named.
enum TextCheck {
  private static let variables = [
    "ACCESSORY_BRIDGE_SOURCES", "ACCESSORY_BRIDGE_SOCKET", "ACCESSORY_BRIDGE_PROFILES", "ACCESSORY_BRIDGE_PROTOCOLS",
    "XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY", "XDG_CONFIG_HOME", "HOME",
  ]

  /// Throws `UsageError` for an argument, and `misconfigured` for a variable.
  static func check() throws {
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = CommandLine.unsafeArgv[index], !isText(argument) else { continue }
      throw UsageError(
        "\(shown(argument)) is not UTF-8: name the file or the socket otherwise, or go by a link to it")
    }
    for name in variables {
      guard let value = getenv(name), !isText(value) else { continue }
      throw AccessoryError(.misconfigured, "the variable \(name) is \(shown(value)), which is not UTF-8")
    }
  }

  private static func isText(_ text: UnsafePointer<CChar>) -> Bool { String(validatingCString: text) != nil }

  private static func shown(_ text: UnsafePointer<CChar>) -> String {
    SafeText.escape(String(cString: text), limit: 200)
  }
}
