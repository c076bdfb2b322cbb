// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc

/// The described protocols of this machine and this user: those that come with the package, those of the system, those
/// of the user. A later one takes the place of an earlier one of the same name.
public struct DescriptionLibrary: Sendable, Hashable {
  /// Where each came from, by its name.
  public private(set) var origins: [String: ProfileLibrary.Origin]
  /// What was not read, and why.
  public private(set) var problems: [ProfileProblem] = []
  /// Those that aren't built in. The built-in ones are read when somebody asks for one, as most commands don't.
  private var read: [String: DescribedProtocol] = [:]

  /// The protocols that come with this package.
  public static let builtIn = DescriptionLibrary(BuiltInDescriptions.texts.mapValues { _ in .builtIn })
  /// No protocols.
  public static let none = DescriptionLibrary([:])

  private init(_ origins: [String: ProfileLibrary.Origin]) { self.origins = origins }

  /// Reads the `.yaml` files in these folders, one description each; the folders that are usual unless others are named.
  /// A file that is broken, or that somebody else could have written, is left out and becomes a problem. Blocks: for a
  /// `SetupQueue`.
  public static func load(folders: [String]? = nil) -> DescriptionLibrary {
    load(folders ?? usualFolders(), isStrict: TrustedFolder.worksForOthers)
  }

  static func load(_ folders: [String], isStrict: Bool) -> DescriptionLibrary {
    var library = builtIn
    for folder in folders { library.read(folder, isStrict) }
    return library
  }

  /// The names of all, sorted.
  public var names: [String] { origins.keys.sorted() }

  /// The protocol of this name.
  public func described(_ name: String) -> DescribedProtocol? {
    if let described = read[name] { return described }
    guard origins[name] != nil else { return nil }
    // That each can be read is a test's.
    return BuiltInDescriptions.texts[name].flatMap { try? DescriptionReader.read(Array($0.utf8), file: "built in") }
  }

  /// The profile that a protocol has without anybody's writing one: for a device that is announced with the protocol's
  /// name as its driver, or whose user names it. Nil when there is no such protocol.
  public func profile(_ name: String) -> Profile? {
    described(name)?.profile
  }

  /// `/etc/accessory-bridge/protocols`, then `$XDG_CONFIG_HOME/accessory-bridge/protocols` (`~/.config` where that isn't
  /// set); or instead the folders that `ACCESSORY_BRIDGE_PROTOCOLS` names, with colons between them. Where only
  /// `ACCESSORY_BRIDGE_PROFILES` is set, whose user wants nothing of this machine's settings, there are none.
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

  private mutating func read(_ path: String, _ isStrict: Bool) {
    var places: [String: String] = [:]
    let unread = TextFolder.read(
      path, isStrict: isStrict, limit: DescriptionReader.sizeLimit, what: "a protocol"
    ) { file, bytes in
      do throws(ProfileProblems) {
        let described = try DescriptionReader.read(bytes, file: file)
        if let other = places.updateValue(file, forKey: described.name) {
          let message = "\(other) has a protocol with the name \(described.name) too, which is passed over"
          problems.append(ProfileProblem(file: file, line: nil, column: nil, message: message))
        }
        read[described.name] = described
        origins[described.name] = .file(file)
      } catch {
        problems += error.problems
      }
    }
    problems += unread
  }
}
