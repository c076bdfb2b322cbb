// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryDescriptions
import AccessoryIO
import Glibc

/// The profiles on this machine: those built into the package, those of the system, and those of the user. A later one
/// replaces an earlier one with the same name.
public struct ProfileLibrary: Sendable {
  /// The origin of a profile.
  public typealias Origin = TextOrigin

  /// The profiles; the last that was read is the first.
  public private(set) var store: ProfileStore
  /// The origin of each profile, by the profile's name.
  public private(set) var origins: [String: Origin]
  /// Files that were not read, with the reason. Includes files of protocol descriptions.
  public private(set) var problems: [ProfileProblem] = []
  /// The described protocols that profiles can refer to.
  public let protocols: DescriptionLibrary

  private let drivers: DriverLibrary

  /// Reads the `.yaml` files in these folders, one profile each; nil means the usual folders. A file that is invalid,
  /// or that an untrusted user could have written, is left out and reported in `problems`. Profiles can refer to
  /// `drivers` and to described `protocols`; nil means those in the usual folders. Blocks: call it on a `SetupQueue`.
  public static func load(
    folders: [String]? = nil, drivers: DriverLibrary, protocols: DescriptionLibrary? = nil
  ) -> ProfileLibrary {
    load(
      folders ?? usualFolders(), drivers: drivers, protocols: protocols ?? .load(drivers: drivers),
      isStrict: TrustedFolder.worksForOthers)
  }

  static func load(
    _ folders: [String], drivers: DriverLibrary, protocols: DescriptionLibrary = .builtIn, isStrict: Bool
  ) -> ProfileLibrary {
    var library = ProfileLibrary(drivers, protocols)
    for folder in folders { library.read(folder, isStrict) }
    return library
  }

  private init(_ drivers: DriverLibrary, _ protocols: DescriptionLibrary) {
    self.drivers = drivers
    self.protocols = protocols
    store = ProfileStore(drivers: drivers)
    store.protocols = protocols
    problems = protocols.problems
    origins = Dictionary(store.profiles.map { ($0.name, .builtIn) }) { first, _ in first }
  }

  /// `/etc/accessory-bridge/profiles`, then `$XDG_CONFIG_HOME/accessory-bridge/profiles` (`~/.config` where that isn't
  /// set). `ACCESSORY_BRIDGE_PROFILES` replaces them with its folders, separated by colons.
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
    problems += TextFolder.read(path, isStrict: isStrict, limit: ProfileReader.sizeLimit, what: "a profile") {
      file, bytes throws(ProfileProblems) in
      let profile = try ProfileReader.read(bytes, file: file, drivers: drivers, protocols: protocols)
      store.register(profile)
      origins[profile.name] = .file(file)
      return profile.name
    }
  }
}
