// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryIO
import Glibc

/// The described protocols on this machine: those built into the package, those of the system, and those of the user. A
/// later one replaces an earlier one with the same name.
public struct DescriptionLibrary: Sendable, Hashable {
  /// The origin of each protocol, by the protocol's name.
  public private(set) var origins: [String: TextOrigin]
  /// Files that were not read, with the reason.
  public private(set) var problems: [ProfileProblem] = []
  /// The protocols from files. A built-in one is parsed at its first use, because most commands need none.
  private var read: [String: DescribedProtocol] = [:]

  /// The protocols that are built into this package.
  public static let builtIn = DescriptionLibrary(
    Dictionary(uniqueKeysWithValues: BuiltInDescriptions.names.map { ($0, .builtIn) }))
  /// A library without protocols.
  public static let none = DescriptionLibrary([:])

  private init(_ origins: [String: TextOrigin]) { self.origins = origins }

  /// Reads the `.yaml` files in these folders, one description each; nil means the usual folders. A file that is invalid, or that an
  /// untrusted user could have written, or whose name is one of `takenNames`, which belong to drivers in Swift, is left out and reported in
  /// `problems`. Blocks: call it on a `SetupQueue`.
  public static func load(folders: [String]? = nil, takenNames: Set<String>) -> DescriptionLibrary {
    load(folders ?? usualFolders(), takenNames: takenNames, isStrict: TrustedFolder.worksForOthers)
  }

  static func load(_ folders: [String], takenNames: Set<String>, isStrict: Bool) -> DescriptionLibrary {
    var library = builtIn
    for folder in folders { library.read(folder, takenNames, isStrict) }
    return library
  }

  /// The names of all protocols, sorted.
  public var names: [String] { origins.keys.sorted() }

  /// The protocol with this name; nil when there is none.
  public func described(_ name: String) -> DescribedProtocol? {
    if let described = read[name] { return described }
    return origins[name] == nil ? nil : BuiltInDescriptions.described(name)
  }

  /// `/etc/accessory-bridge/protocols`, then `$XDG_CONFIG_HOME/accessory-bridge/protocols` (`~/.config` where that
  /// isn't set). `ACCESSORY_BRIDGE_PROTOCOLS` replaces them with its folders, separated by colons. When only
  /// `ACCESSORY_BRIDGE_PROFILES` is set, there are no folders, because its user wants none of this machine's settings.
  public static func usualFolders() -> [String] {
    usualFolders { name in getenv(name).map { String(cString: $0) } }
  }

  static func usualFolders(_ variable: (String) -> String?) -> [String] {
    if let folders = variable("ACCESSORY_BRIDGE_PROTOCOLS") {
      return folders.split(separator: ":").map(String.init)
    }
    if variable("ACCESSORY_BRIDGE_PROFILES") != nil { return [] }
    return ["/etc/accessory-bridge", ConfigurationFolder.user(variable)].compactMap { $0 }.map { $0 + "/protocols" }
  }

  private mutating func read(_ path: String, _ takenNames: Set<String>, _ isStrict: Bool) {
    problems += TextFolder.read(path, isStrict: isStrict, limit: DescriptionReader.sizeLimit, what: "a protocol") {
      file, bytes throws(ProfileProblems) in
      let described = try DescriptionReader.read(bytes, file: file, takenNames: takenNames, keepsText: true)
      (read[described.name], origins[described.name]) = (described, .file(file))
      return described.name
    }
  }
}
