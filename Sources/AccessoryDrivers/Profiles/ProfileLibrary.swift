// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// The profiles of this machine and this user: the built-in ones, those of the system, those of the user. A later one
/// takes the place of an earlier one of the same name.
public struct ProfileLibrary: Sendable {
  /// Where a profile came from.
  public enum Origin: Sendable, Hashable {
    /// It comes with this package.
    case builtIn
    /// This file.
    case file(String)
  }

  /// The profiles, those read last first.
  public private(set) var store = ProfileStore.builtIn
  /// Where each came from, by its name.
  public private(set) var origins: [String: Origin]
  /// What was not read, and why; of protocols' descriptions, too.
  public private(set) var problems: [ProfileProblem] = []
  /// The described protocols, which profiles may name.
  public let protocols: DescriptionLibrary

  private let drivers: DriverLibrary

  /// Reads the `.yaml` files in these folders, one profile each; the folders that are usual unless others are named. A
  /// file that is broken, or that somebody else could have written, is left out and becomes a problem. Profiles may name the drivers
  /// in `drivers`, and the described `protocols`: those of the usual folders unless others are given. Blocks: for a
  /// `SetupQueue`.
  public static func load(
    folders: [String]? = nil, drivers: DriverLibrary = .builtIn, protocols: DescriptionLibrary? = nil
  ) -> ProfileLibrary {
    load(
      folders ?? usualFolders(), drivers: drivers, protocols: protocols ?? .load(),
      isStrict: TrustedFolder.worksForOthers)
  }

  static func load(
    _ folders: [String], drivers: DriverLibrary = .builtIn, protocols: DescriptionLibrary = .builtIn, isStrict: Bool
  ) -> ProfileLibrary {
    var library = ProfileLibrary(drivers, protocols)
    for folder in folders { library.read(folder, isStrict) }
    return library
  }

  private init(_ drivers: DriverLibrary, _ protocols: DescriptionLibrary) {
    self.drivers = drivers
    self.protocols = protocols
    store.protocols = protocols
    problems = protocols.problems
    origins = Dictionary(store.profiles.map { ($0.name, .builtIn) }) { first, _ in first }
  }

  /// `/etc/accessory-bridge/profiles`, then `$XDG_CONFIG_HOME/accessory-bridge/profiles` (`~/.config` where that isn't
  /// set); or instead the folders that `ACCESSORY_BRIDGE_PROFILES` names, with colons between them.
  public static func usualFolders() -> [String] {
    usualFolders { name in getenv(name).map { String(cString: $0) } }
  }

  static func usualFolders(_ variable: (String) -> String?) -> [String] {
    if let folders = variable("ACCESSORY_BRIDGE_PROFILES") {
      return folders.split(separator: ":").map(String.init)
    }
    return ["/etc/accessory-bridge", ConfigurationFolder.user(variable)].compactMap { $0 }.map { $0 + "/profiles" }
  }

  private mutating func read(_ path: String, _ isStrict: Bool) {
    var places: [String: String] = [:]
    let unread = TextFolder.read(path, isStrict: isStrict, limit: ProfileReader.sizeLimit, what: "a profile") {
      file, bytes in
      do throws(ProfileProblems) {
        let profile = try ProfileReader.read(bytes, file: file, drivers: drivers, protocols: protocols)
        if let other = places.updateValue(file, forKey: profile.name) {
          let message = "\(other) has a profile with the name \(profile.name) too, which is passed over"
          problems.append(ProfileProblem(file: file, line: nil, column: nil, message: message))
        }
        store.register(profile)
        origins[profile.name] = .file(file)
      } catch {
        problems += error.problems
      }
    }
    problems += unread
  }
}
