// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import ArgumentParser

/// The value of --reset: a known kind of board, or a file that describes resets.
enum ResetArgument: ExpressibleByArgument {
  case esp, arduino
  case file(String)

  static let names = ["esp", "arduino"]

  init?(argument: String) {
    switch argument {
    case "esp": self = .esp
    case "arduino": self = .arduino
    default:
      // A word without a slash or a dot is a mistyped name, not a file.
      guard argument.contains("/") || argument.contains(".") else { return nil }
      self = .file(argument)
    }
  }

  /// The resets that the bridge recognizes. Throws `misconfigured` with all mistakes in the file.
  func resets() async throws(AccessoryError) -> [LineReset] {
    switch self {
    case .esp: return LineReset.esp
    case .arduino: return LineReset.arduino
    case .file(let path):
      let result = await SetupQueue(label: "reset").run { () -> Result<[LineReset], ProfileProblems> in
        do throws(ProfileProblems) {
          return .success(try LineResetReader.read(path: path))
        } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success(let resets): return resets
      case .failure(let error):
        throw AccessoryError(.misconfigured, error.problems.map(\.description).joined(separator: "; "))
      }
    }
  }
}
