// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import FoundationEssentials
import Glibc
import SystemPackage

/// The file that keeps a user's remote control: JSON, `accessory-bridge/bluno.json` in `$XDG_CONFIG_HOME`, or in
/// `~/.config` where that isn't set.
///
/// Its functions block: they are for a `SetupQueue`, or for programs that do nothing else meanwhile.
public struct BlunoRemoteFile: Sendable, Hashable {
  /// Where it is.
  public let path: String

  /// The file at this path.
  public init(_ path: String) { self.path = path }

  /// The user's own; nil where neither `XDG_CONFIG_HOME` nor `HOME` says where that is.
  public static var usual: BlunoRemoteFile? {
    ConfigurationFolder.user.map { BlunoRemoteFile($0 + "/bluno.json") }
  }

  /// Bytes of the largest file that is read.
  static let sizeLimit = 65_536
  /// Tasks that are kept at most.
  public static let taskLimit = 256
  /// Bytes of a task's name.
  public static let nameLimit = 64

  /// The file's contents.
  private struct Contents: Codable {
    struct Task: Codable {
      var number: Int
      var name: String
    }
    var keys: [String: String]?
    var tasks: [Task]?
    var ends_lines: Bool?
  }

  /// Reads it; where there is none, it is a remote control as it comes. What the file doesn't say is so, too.
  ///
  /// Throws `misconfigured` for a file that makes no sense, and as reading does.
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

  /// The remote control in a file's bytes. Throws `misconfigured`.
  func read(_ bytes: [UInt8]) throws(AccessoryError) -> BlunoRemote {
    guard bytes.count <= Self.sizeLimit else { throw wrong("it has more than \(Self.sizeLimit) bytes") }
    guard let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes)) else {
      throw wrong("it is not the JSON of a remote control")
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
      throw wrong("the name of task \(task.number) has 1 to \(Self.nameLimit) bytes")
    }
  }

  private func wrong(_ reason: String) -> AccessoryError {
    AccessoryError(.misconfigured, "\(path): \(reason): mend it or remove it")
  }

  /// Writes it, in place of the old one, and makes its folder if need be. Either all of it is there afterwards or the
  /// old one. Throws `misconfigured` when there are too many tasks or a name is too long, and as writing does.
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
