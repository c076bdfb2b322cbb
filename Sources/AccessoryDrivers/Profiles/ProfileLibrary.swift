// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
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
  /// What was not read, and why.
  public private(set) var problems: [ProfileProblem] = []

  private let drivers: DriverLibrary

  /// Files that are read of one folder.
  static let fileLimit = 256

  /// Reads the `.yaml` files in these folders, one profile each; the folders that are usual unless others are named. A
  /// file that is broken, or that somebody else could have written, is left out and becomes a problem. Profiles may name the drivers
  /// in `drivers`. Blocks: for a `SetupQueue`.
  public static func load(folders: [String]? = nil, drivers: DriverLibrary = .builtIn) -> ProfileLibrary {
    load(folders ?? usualFolders(), drivers: drivers, isStrict: TrustedFolder.worksForOthers)
  }

  static func load(_ folders: [String], drivers: DriverLibrary = .builtIn, isStrict: Bool) -> ProfileLibrary {
    var library = ProfileLibrary(drivers)
    for folder in folders { library.read(folder, isStrict) }
    return library
  }

  private init(_ drivers: DriverLibrary) {
    self.drivers = drivers
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
    do throws(AccessoryError) {
      guard let folder = try TrustedFolder(path, isStrict: isStrict) else { return }
      let names = folder.names.filter { $0.hasSuffix(".yaml") && !$0.hasPrefix(".") }
      var places: [String: String] = [:]
      for name in names.prefix(Self.fileLimit) {
        let file = path + "/" + name
        guard let profile = read(name, in: folder, as: file) else { continue }
        if let other = places.updateValue(file, forKey: profile.name) {
          note(file, "\(other) has a profile with the name \(profile.name) too, which is passed over")
        }
        store.register(profile)
        origins[profile.name] = .file(file)
      }
      if names.count > Self.fileLimit {
        note(path, "there are \(names.count) files, of which the first \(Self.fileLimit) are read")
      }
      for name in folder.names where name.hasSuffix(".yml") {
        note(path + "/" + name, "it is not read: a profile's name ends in .yaml")
      }
    } catch {
      note(path, error.message)
    }
  }

  private mutating func read(_ name: String, in folder: TrustedFolder, as file: String) -> Profile? {
    let bytes: [UInt8]
    do throws(AccessoryError) {
      bytes = try folder.read(name, limit: ProfileReader.sizeLimit + 1)
    } catch {
      note(file, error.message)
      return nil
    }
    do throws(ProfileProblems) {
      return try ProfileReader.read(bytes, file: file, drivers: drivers)
    } catch {
      problems += error.problems
      return nil
    }
  }

  private mutating func note(_ file: String, _ message: String) {
    problems.append(ProfileProblem(file: file, line: nil, column: nil, message: message))
  }
}
