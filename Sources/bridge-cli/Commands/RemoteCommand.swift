// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser
import CommandOutput
import FamilyBluno

struct RemoteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remote",
    abstract: "Sets up the remote control for Bluno robots: its tasks and its keys.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth remote show
        bridge-cli bluetooth remote add-task "Sing a song"
        bridge-cli bluetooth remote set-key up u
      """,
    subcommands: [
      RemoteShow.self, AddTask.self, RenameTask.self, RemoveTask.self, MoveTask.self, SetKey.self, EndLines.self,
      RemoteReset.self,
    ])
}

/// A command that changes or shows the remote control's configuration.
protocol RemoteChange: AsyncParsableCommand, JSONCommand {
  func change(_ remote: inout BlunoRemote) throws
}

extension RemoteChange {
  func run() async throws { try await run(keeping: true) }

  /// Reads the configuration, changes it, saves it if `keeping`, and shows it.
  fileprivate func run(keeping: Bool) async throws {
    guard let file = BlunoRemoteFile.usual else {
      throw AccessoryError(.misconfigured, "set HOME: without it the user's configuration folder isn't known")
    }
    let queue = SetupQueue(label: "remote")
    var remote = try await queue.run { () throws(AccessoryError) in try file.load() }
    if keeping {
      do {
        try change(&remote)
      } catch let error as BlunoError {
        throw UsageError("\(error)")
      }
      let changed = remote
      try await queue.run { () throws(AccessoryError) in try file.save(changed) }
    }
    show(remote, file)
  }

  private func show(_ remote: BlunoRemote, _ file: BlunoRemoteFile) {
    if output.json { return Output.json(RemoteDocument(remote, file)) }
    var tasks = Table(["#", "task", "sends", "name"])
    for (place, task) in remote.tasks.tasks.enumerated() {
      tasks.add([
        "\(place + 1)", "\(task.number)", Self.text(remote.bytes(for: task)),
        SafeText.escape(task.name, limit: BlunoRemoteFile.nameLimit),
      ])
    }
    tasks.lines(columns: Output.columns).forEach(Output.line)
    Output.line("")
    var keys = Table(["key", "sends"])
    for key in BlunoKey.allCases { keys.add([key.rawValue, Self.text(remote.bytes(for: key))]) }
    keys.lines(columns: Output.columns).forEach(Output.line)
    if remote.endsLines { Output.line("\nEvery message ends with a line feed.") }
  }

  private static func text(_ bytes: [UInt8]) -> String {
    SafeText.escape(String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self))
  }

  /// Throws where this can't be a task's name.
  fileprivate static func check(_ name: String) throws {
    guard (1...BlunoRemoteFile.nameLimit).contains(name.utf8.count) else {
      throw ValidationError("a name must have 1 to \(BlunoRemoteFile.nameLimit) bytes")
    }
  }

  /// Throws `UsageError` where the task `number` doesn't exist.
  fileprivate static func check(_ isThere: Bool, _ number: Int) throws {
    if !isThere { throw UsageError("there is no task \(number): bridge-cli bluetooth remote show lists the tasks") }
  }
}

struct RemoteShow: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows the tasks in their order, and what the keys send.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth remote show
        bridge-cli bluetooth remote show --json | jq .keys.up
      """)
  @OptionGroup var output: OutputOptions
  func change(_ remote: inout BlunoRemote) {}
  func run() async throws { try await run(keeping: false) }
}

struct AddTask: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "add-task",
    abstract: "Adds a task at the end of the list.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth remote add-task "Sing a song"
        bridge-cli bluetooth remote add-task Dance --number 9
      """)
  @Argument(help: "The name of the task.") var name: String
  @Option(help: .value("number", "The number that the task sends; default: the lowest free one.")) var number: Int?
  @OptionGroup var output: OutputOptions

  func validate() throws { try Self.check(name) }

  func change(_ remote: inout BlunoRemote) throws {
    if let number {
      try remote.tasks.append(try BlunoTask(number: number, name: name))
    } else {
      try remote.tasks.append(named: name)
    }
  }
}

struct RenameTask: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "rename-task",
    abstract: "Renames a task.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth remote rename-task 5 Dance
      """)
  @Argument(help: "The number that the task sends.") var number: Int
  @Argument(help: "The new name of the task.") var name: String
  @OptionGroup var output: OutputOptions

  func validate() throws { try Self.check(name) }

  func change(_ remote: inout BlunoRemote) throws {
    try Self.check(remote.tasks.rename(number, to: name), number)
  }
}

struct RemoveTask: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "remove-task",
    abstract: "Removes a task.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth remote remove-task 5
      """)
  @Argument(help: "The number that the task sends.") var number: Int
  @OptionGroup var output: OutputOptions
  func change(_ remote: inout BlunoRemote) throws { try Self.check(remote.tasks.remove(number), number) }
}

struct MoveTask: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "move-task",
    abstract: "Moves a task to another place in the list.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth remote move-task 4 1
      """)
  @Argument(help: "The number that the task sends.") var number: Int
  @Argument(help: "The new place in the list, counted from 1.") var place: Int
  @OptionGroup var output: OutputOptions

  func validate() throws { guard place > 0 else { throw ValidationError("places are counted from 1") } }

  func change(_ remote: inout BlunoRemote) throws {
    try Self.check(remote.tasks.move(number, to: place - 1), number)
  }
}

struct SetKey: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "set-key",
    abstract: "Changes the character that a key sends.",
    discussion: """
      The character must be printable ASCII, but not < or >, and no other key may send it.

      EXAMPLES
        bridge-cli bluetooth remote set-key up u
        bridge-cli bluetooth remote set-key f1 1
      """)
  @Argument(help: "The key.") var key: BlunoKey
  @Argument(help: "The character.") var character: String
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard character.count == 1 else { throw ValidationError("a key sends one character") }
  }

  func change(_ remote: inout BlunoRemote) throws {
    if let character = character.first { try remote.keys.set(key, to: character) }
  }
}

struct EndLines: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "end-lines",
    abstract: "Turns the line feed at the end of every message on or off, for robots that read lines.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth remote end-lines on
      """)
  @Argument(help: "on or off.") var state: OnOff
  @OptionGroup var output: OutputOptions

  enum OnOff: String, ExpressibleByArgument, CaseIterable {
    case on, off
  }

  func change(_ remote: inout BlunoRemote) { remote.endsLines = state == .on }
}

struct RemoteReset: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Resets the tasks and keys to their defaults, or only one of the two.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth remote reset
        bridge-cli bluetooth remote reset --keys
      """)
  @Flag(help: "Only the tasks.") var tasks = false
  @Flag(help: "Only the keys.") var keys = false
  @OptionGroup var output: OutputOptions

  func change(_ remote: inout BlunoRemote) {
    let isAll = !tasks && !keys
    if tasks || isAll { remote.tasks.reset() }
    if keys || isAll { remote.keys.reset() }
    if isAll { remote.endsLines = false }
  }
}

extension BlunoKey: ExpressibleByArgument {}

/// The remote control's configuration in JSON.
struct RemoteDocument: Encodable {
  struct Task: Encodable {
    let number: Int
    let name: String
  }

  let schema = DocumentSchema.name
  let document = DocumentKind.remote
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
