// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO

/// `bluetooth remote`.
package enum BlunoRemoteCommands: FamilyCommandGroup {
  package static let name = "remote"
  package static let abstract = "Sets up the remote control for Bluno robots: its tasks and its keys."
  package static let discussion = """
    EXAMPLES
      bridge-cli bluetooth remote show
      bridge-cli bluetooth remote add-task "Sing a song"
      bridge-cli bluetooth remote set-key up u
    """
  package static let commands: [any FamilyCommand.Type] = [
    RemoteShow.self, AddTask.self, RenameTask.self, RemoveTask.self, MoveTask.self, SetKey.self, EndLines.self,
    RemoteReset.self,
  ]
}

/// A command that changes or shows the remote control's configuration.
private protocol RemoteChange: FamilyCommand {
  func change(_ remote: inout BlunoRemote) throws
}

extension RemoteChange {
  func run() async throws -> CommandReport { try await run(keeping: true) }

  /// Reads the configuration, changes it, saves it if `keeping`, and shows it.
  fileprivate func run(keeping: Bool) async throws -> CommandReport {
    guard let file = BlunoRemoteFile.usual else {
      throw AccessoryError(.misconfigured, "set HOME: without it the user's configuration folder isn't known")
    }
    let queue = SetupQueue(label: "remote")
    var remote = try await queue.run { () throws(AccessoryError) in try file.load() }
    if keeping {
      do {
        try change(&remote)
      } catch let error as BlunoError {
        throw CommandMisuse("\(error)")
      }
      let changed = remote
      try await queue.run { () throws(AccessoryError) in try file.save(changed) }
    }
    return Self.report(remote, file)
  }

  private static func report(_ remote: BlunoRemote, _ file: BlunoRemoteFile) -> CommandReport {
    let tasks = remote.tasks.tasks.enumerated().map { place, task in
      [
        "\(place + 1)", "\(task.number)", text(remote.bytes(for: task)),
        SafeText.escape(task.name, limit: BlunoRemoteFile.nameLimit),
      ]
    }
    let keys = BlunoKey.allCases.map { [$0.rawValue, text(remote.bytes(for: $0))] }
    return CommandReport(
      [.table(["#", "task", "sends", "name"], tasks), .line(""), .table(["key", "sends"], keys)]
        + (remote.endsLines ? [.line("\nEvery message ends with a line feed.")] : []),
      document: "remote", RemoteFields(remote, file))
  }

  private static func text(_ bytes: [UInt8]) -> String {
    SafeText.escape(String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self))
  }

  /// Throws where the task `number` doesn't exist.
  fileprivate func check(_ isThere: Bool, _ number: Int) throws {
    if !isThere { throw CommandMisuse("there is no task \(number): bridge-cli bluetooth remote show lists the tasks") }
  }
}

/// The remote control's configuration in JSON.
private struct RemoteFields: Encodable {
  struct Task: Encodable {
    let number: Int
    let name: String
  }

  let file: String
  let tasks: [Task]
  let keys: [String: String]
  let ends_lines: Bool

  init(_ remote: BlunoRemote, _ file: BlunoRemoteFile) {
    self.file = file.path
    tasks = remote.tasks.tasks.map { Task(number: $0.number, name: $0.name) }
    keys = Dictionary(uniqueKeysWithValues: BlunoKey.allCases.map { ($0.rawValue, String(remote.keys[$0])) })
    ends_lines = remote.endsLines
  }
}

private struct RemoteShow: RemoteChange {
  static let name = "show"
  static let abstract = "Shows the tasks in their order, and what the keys send."
  static let discussion = """
    EXAMPLES
      bridge-cli bluetooth remote show
      bridge-cli bluetooth remote show --json | jq .keys.up
    """
  static let options: [CommandOption<Self>] = []
  func change(_ remote: inout BlunoRemote) {}
  func run() async throws -> CommandReport { try await run(keeping: false) }
}

private struct AddTask: RemoteChange {
  static let name = "add-task"
  static let abstract = "Adds a task at the end of the list."
  static let discussion = """
    EXAMPLES
      bridge-cli bluetooth remote add-task "Sing a song"
      bridge-cli bluetooth remote add-task Dance --number 9
    """
  static let options: [CommandOption<Self>] = [
    .text("name", nil, "The name of the task.", \.task, 1...BlunoRemoteFile.nameLimit).argument,
    .whole(
      "number", "number", "The number that the task sends; default: the lowest free one.", \.number, Int.min...Int.max),
  ]
  private var task = ""
  private var number: Int?

  func change(_ remote: inout BlunoRemote) throws {
    if let number {
      try remote.tasks.append(try BlunoTask(number: number, name: task))
    } else {
      try remote.tasks.append(named: task)
    }
  }
}

private struct RenameTask: RemoteChange {
  static let name = "rename-task"
  static let abstract = "Renames a task."
  static let discussion = """
    EXAMPLES
      bridge-cli bluetooth remote rename-task 5 Dance
    """
  static let options: [CommandOption<Self>] = [
    .number(\.number), .text("name", nil, "The new name of the task.", \.task, 1...BlunoRemoteFile.nameLimit).argument,
  ]
  private var number = 0
  private var task = ""

  func change(_ remote: inout BlunoRemote) throws { try check(remote.tasks.rename(number, to: task), number) }
}

private struct RemoveTask: RemoteChange {
  static let name = "remove-task"
  static let abstract = "Removes a task."
  static let discussion = """
    EXAMPLES
      bridge-cli bluetooth remote remove-task 5
    """
  static let options: [CommandOption<Self>] = [.number(\.number)]
  private var number = 0

  func change(_ remote: inout BlunoRemote) throws { try check(remote.tasks.remove(number), number) }
}

private struct MoveTask: RemoteChange {
  static let name = "move-task"
  static let abstract = "Moves a task to another place in the list."
  static let discussion = """
    EXAMPLES
      bridge-cli bluetooth remote move-task 4 1
    """
  static let options: [CommandOption<Self>] = [
    .number(\.number),
    .whole("place", "place", "The new place in the list, counted from 1.", \.place, 1...Int.max).argument,
  ]
  private var number = 0
  private var place = 1

  func change(_ remote: inout BlunoRemote) throws { try check(remote.tasks.move(number, to: place - 1), number) }
}

private struct SetKey: RemoteChange {
  static let name = "set-key"
  static let abstract = "Changes the character that a key sends."
  static let discussion = """
    The character must be printable ASCII, but not < or >, and no other key may send it.

    EXAMPLES
      bridge-cli bluetooth remote set-key up u
      bridge-cli bluetooth remote set-key f1 1
    """
  static let options: [CommandOption<Self>] = [
    .word("key", "The key.", \.key).argument,
    .text("character", nil, "The character.", \.character, 0...Int.max).argument,
  ]
  private var key = BlunoKey.up
  private var character = ""

  var problem: String? { character.count == 1 ? nil : "a key sends one character" }

  func change(_ remote: inout BlunoRemote) throws {
    if let character = character.first { try remote.keys.set(key, to: character) }
  }
}

private struct EndLines: RemoteChange {
  static let name = "end-lines"
  static let abstract = "Turns the line feed at the end of every message on or off, for robots that read lines."
  static let discussion = """
    EXAMPLES
      bridge-cli bluetooth remote end-lines on
    """
  static let options: [CommandOption<Self>] = [.word("state", "on or off.", \.state).argument]
  private var state = OnOff.on

  private enum OnOff: String, OptionWord {
    case on, off
  }

  func change(_ remote: inout BlunoRemote) { remote.endsLines = state == .on }
}

private struct RemoteReset: RemoteChange {
  static let name = "reset"
  static let abstract = "Resets the tasks and keys to their defaults, or only one of the two."
  static let discussion = """
    EXAMPLES
      bridge-cli bluetooth remote reset
      bridge-cli bluetooth remote reset --keys
    """
  static let options: [CommandOption<Self>] = [
    .flag("tasks", "Only the tasks.", \.tasks), .flag("keys", "Only the keys.", \.keys),
  ]
  private var (tasks, keys) = (false, false)

  func change(_ remote: inout BlunoRemote) {
    let isAll = !tasks && !keys
    if tasks || isAll { remote.tasks.reset() }
    if keys || isAll { remote.keys.reset() }
    if isAll { remote.endsLines = false }
  }
}

extension CommandOption where Settings: RemoteChange {
  /// The number of a task.
  fileprivate static func number(_ path: Path<Int>) -> Self {
    whole("number", "number", "The number that the task sends.", path, Int.min...Int.max).argument
  }
}

extension BlunoKey: OptionWord {}
