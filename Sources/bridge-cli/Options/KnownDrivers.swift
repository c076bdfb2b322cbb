// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO

/// The drivers that the command goes by.
enum KnownDrivers {
  /// Those that come with the package, and the protocols that files of this machine and this user describe.
  static let library: DriverLibrary = {
    var library = DriverLibrary.builtIn
    library.protocols = .load()
    return library
  }()

  /// Whether a word of the user's is a description's file, and not a driver's name.
  static func isFile(_ word: String) -> Bool { word.contains("/") || word.hasSuffix(".yaml") }

  /// The protocol that a file describes, which the user names. Throws `misconfigured` with the first thing that is wrong with
  /// the file.
  static func described(inFile path: String) async throws(AccessoryError) -> DescribedProtocol {
    let result = await SetupQueue(label: "protocol").run { () -> Result<DescribedProtocol, ProfileProblems> in
      do throws(ProfileProblems) {
        return .success(try DescriptionReader.read(path: path))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let described): return described
    case .failure(let error):
      let first = error.problems.first?.description ?? "\(path) can't be read"
      let more =
        error.problems.count < 2 ? "" : "; bridge-cli profile check \(path) shows \(error.problems.count - 1) more"
      throw AccessoryError(.misconfigured, first + more)
    }
  }
}
