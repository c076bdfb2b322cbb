// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import FoundationEssentials
import Glibc
import SystemPackage

/// The file that stores a user's remote control: JSON, `accessory-bridge/bluno.json` in `$XDG_CONFIG_HOME`, or in
/// `~/.config` where that isn't set.
///
/// Its functions block. Call them on a `SetupQueue`, or in a program that does nothing else meanwhile.
public struct BlunoRemoteFile: Sendable, Hashable {
  /// The file's path.
  public let path: String

  /// The file at this path.
  public init(_ path: String) { self.path = path }

  /// The current user's file; nil when neither `XDG_CONFIG_HOME` nor `HOME` is set.
  public static var usual: BlunoRemoteFile? {
    ConfigurationFolder.user.map { BlunoRemoteFile($0 + "/bluno.json") }
  }

  /// The size of the largest file that is read, in bytes.
  static let sizeLimit = 65_536
  /// The most tasks in a file.
  public static let taskLimit = 256
  /// The length of the longest task name, in bytes.
  public static let nameLimit = 64

  /// The JSON document.
  private struct Contents: Codable {
    struct Task: Codable {
      var number: Int
      var name: String
    }
    var keys: [String: String]?
    var tasks: [Task]?
    var ends_lines: Bool?
  }

  /// Reads the file. A file that doesn't exist, or a key that is missing in it, means the default.
  ///
  /// Throws `misconfigured` for a file that isn't valid, and the error of the system call when reading fails.
  public func load() throws(AccessoryError) -> BlunoRemote {
    let bytes: [UInt8]
    do throws(Errno) {
      bytes = try SmallFile.read(path, limit: Self.sizeLimit + 1)
    } catch .noSuchFileOrDirectory {
      return BlunoRemote()
    } catch {
      throw AccessoryError(errno: error, "reading \(path)")
    }
    return try read(bytes)
  }

  /// Decodes a file's bytes. Throws `misconfigured`.
  func read(_ bytes: [UInt8]) throws(AccessoryError) -> BlunoRemote {
    guard bytes.count <= Self.sizeLimit else { throw wrong("it has more than \(Self.sizeLimit) bytes") }
    guard let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes)) else {
      throw wrong("it is not a file of a remote control (JSON)")
    }
    var remote = BlunoRemote()
    do throws(BlunoError) {
      if let keys = contents.keys { remote.keys = try BlunoKeyMap(try characters(keys)) }
      if let tasks = contents.tasks {
        var list: [BlunoTask] = []
        for task in tasks { list.append(try BlunoTask(number: task.number, name: task.name)) }
        remote.tasks = try BlunoTaskList(list)
      }
    } catch {
      throw wrong("\(error)")
    }
    remote.endsLines = contents.ends_lines ?? false
    try check(remote)
    return remote
  }

  private func characters(_ keys: [String: String]) throws(BlunoError) -> [BlunoKey: Character] {
    var characters: [BlunoKey: Character] = [:]
    for (name, text) in keys {
      guard let key = BlunoKey(rawValue: name) else { throw .notSendable(argument: "key \(name)") }
      guard text.count == 1, let character = text.first else { throw .notSendable(argument: "key \(name)") }
      characters[key] = character
    }
    return characters
  }

  private func check(_ remote: BlunoRemote) throws(AccessoryError) {
    guard remote.tasks.tasks.count <= Self.taskLimit else { throw wrong("there are more than \(Self.taskLimit) tasks") }
    for task in remote.tasks.tasks where task.name.isEmpty || task.name.utf8.count > Self.nameLimit {
      throw wrong("the name of task \(task.number) must have 1 to \(Self.nameLimit) bytes")
    }
  }

  private func wrong(_ reason: String) -> AccessoryError {
    AccessoryError(.misconfigured, "\(path): \(reason): correct or remove the file")
  }

  /// Replaces the file, and creates its folder if need be. The replacement is atomic: the file is either the new one or
  /// the old one. Throws `misconfigured` when there are too many tasks or a name is empty or too long, and the error of
  /// the system call when writing fails.
  public func save(_ remote: BlunoRemote) throws(AccessoryError) {
    try check(remote)
    let keys = BlunoKey.allCases.map { ($0.rawValue, String(remote.keys[$0])) }
    let contents = Contents(
      keys: Dictionary(uniqueKeysWithValues: keys),
      tasks: remote.tasks.tasks.map { .init(number: $0.number, name: $0.name) }, ends_lines: remote.endsLines)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(contents) else { throw wrong("it can't be written as JSON") }
    do throws(Errno) {
      try ConfigurationFolder.write(Array(data) + [UInt8(ascii: "\n")], to: path)
    } catch {
      throw AccessoryError(errno: error, "writing \(path)")
    }
  }
}
