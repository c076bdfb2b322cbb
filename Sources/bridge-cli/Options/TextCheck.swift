// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import CommandOutput
import Glibc

/// Checks that arguments and variables are UTF-8. Swift would replace invalid bytes, and then open another file or
/// socket than the user has named.
enum TextCheck {
  private static let variables = [
    "ACCESSORY_BRIDGE_SOURCES", "ACCESSORY_BRIDGE_SOCKET", "ACCESSORY_BRIDGE_PROFILES", "ACCESSORY_BRIDGE_PROTOCOLS",
    "XDG_RUNTIME_DIR", "RUNTIME_DIRECTORY", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "STATE_DIRECTORY", "HOME",
  ]

  /// Throws `UsageError` for an argument that isn't UTF-8, and `misconfigured` for such a variable.
  static func check() throws {
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = CommandLine.unsafeArgv[index], !isText(argument) else { continue }
      throw UsageError(
        "\(shown(argument)) is not UTF-8: rename the file or the socket, or use a link to it")
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
