// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO

/// The drivers that the command uses.
enum KnownDrivers {
  /// The built-in drivers, and the protocols that files of this machine and this user describe.
  static let library: DriverLibrary = {
    var library = DriverLibrary.builtIn
    library.protocols = .load()
    return library
  }()

  /// The protocols in files that the command line has named, by the protocols' names.
  private static let inFiles = Locked<[String: DescribedProtocol]>([:])

  /// The drivers of protocols that are described in profiles. The profiles are read at the first use.
  static let inProfiles = ProfileLibrary.load(protocols: library.protocols).store.profiles.compactMap {
    $0.described.map { Driver($0.description) }
  }

  /// The driver of this name. A protocol in a file that the command line has named takes precedence.
  static func driver(named name: String) -> Driver? {
    inFiles.withLock { $0[name] }.map { Driver($0.description) } ?? library.driver(named: name)
      ?? inProfiles.first { $0.name == name }
  }

  /// The driver's name for the value of `--driver`, which is a name or the file of a description. Throws as `described`
  /// does.
  static func name(of word: String) async throws(AccessoryError) -> String {
    isFile(word) ? try await described(inFile: word).name : word
  }

  /// What to do instead of naming a kind that isn't there: the one that is probably meant, or how to find the right one.
  static func advice(_ word: String, among kinds: [String]) -> String {
    NearestWord.advice(
      word, among: kinds,
      otherwise:
        "\(BridgeCLI.name) drivers lists them, and \(BridgeCLI.name) profile identify PORT finds out which one is connected"
    )
  }

  /// Whether a word is the file of a description, and not a driver's name.
  static func isFile(_ word: String) -> Bool { word.contains("/") || word.hasSuffix(".yaml") }

  /// Reads the description in a file that the command line names. Throws `misconfigured` with the first problem in the
  /// file.
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
        error.problems.count < 2 ? "" : "; bridge-cli check \(path) shows \(error.problems.count - 1) more"
      throw AccessoryError(error.kind, first + more)
    }
  }
}
