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

  /// The protocols that the user's files have told this command of, by their names.
  private static let inFiles = Locked<[String: DescribedProtocol]>([:])

  /// Those of the descriptions that stand in profiles. Their files are read when somebody asks for a name that the library
  /// doesn't have.
  static let inProfiles = ProfileLibrary.load(protocols: library.protocols).store.profiles.compactMap {
    $0.described.map { Driver($0.description) }
  }

  /// The driver of this name; that of a protocol whose file the user has named comes before the others.
  static func driver(named name: String) -> Driver? {
    inFiles.withLock { $0[name] }.map { Driver($0.description) } ?? library.driver(named: name)
      ?? inProfiles.first { $0.name == name }
  }

  /// The name of the driver that a word of the user's means, which is a name or the file of a description. Throws as
  /// `described` does.
  static func name(of word: String) async throws(AccessoryError) -> String {
    isFile(word) ? try await described(inFile: word).name : word
  }

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
    case .success(let described):
      inFiles.withLock { $0[described.name] = described }
      return described
    case .failure(let error):
      let first = error.problems.first?.description ?? "\(path) can't be read"
      let more =
        error.problems.count < 2 ? "" : "; bridge-cli profile check \(path) shows \(error.problems.count - 1) more"
      throw AccessoryError(.misconfigured, first + more)
    }
  }
}
