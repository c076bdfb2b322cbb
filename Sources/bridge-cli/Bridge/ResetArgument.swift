// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import ArgumentParser

/// The value of --reset: a known kind of board, a file that describes resets, or "none".
enum ResetArgument: ExpressibleByArgument {
  case known(ProfileReset)
  case file(String)
  /// No reset, whatever the profile says.
  case never

  static let names = ProfileReset.names + ["none"]

  init?(argument: String) {
    if let reset = ProfileReset(named: argument) {
      self = .known(reset)
    } else if argument == "none" {
      self = .never
    } else {
      // A word without a slash or a dot is a mistyped name, not a file.
      guard argument.contains("/") || argument.contains(".") else { return nil }
      self = .file(argument)
    }
  }

  /// The resets that the bridge recognizes. Throws `misconfigured` with all mistakes in the file.
  func resets() async throws(AccessoryError) -> [LineReset] {
    switch self {
    case .known(let reset): return reset.resets
    case .never: return []
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
        throw AccessoryError(error.kind, error.problems.map(\.description).joined(separator: "; "))
      }
    }
  }
}
