// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import ArgumentParser
import CommandOutput

struct RemoteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remote",
    abstract: "Sets up the remote control for Bluno robots: its tasks and its keys.",
    discussion: """
      It is kept in accessory-bridge/bluno.json in the user's configuration folder, and holds for request and console.

      EXAMPLES
        bridge-cli remote show
        bridge-cli remote add-task "Sing a song"
        bridge-cli remote move-task 5 1
        bridge-cli remote set-key up u
        bridge-cli remote reset --keys
      """,
    subcommands: [
      RemoteShow.self, AddTask.self, RenameTask.self, RemoveTask.self, MoveTask.self, SetKey.self, EndLines.self,
      RemoteReset.self,
    ])
}

/// A command that changes the remote control, or only shows it.
private protocol RemoteChange: AsyncParsableCommand, JSONCommand {
  func change(_ remote: inout BlunoRemote) throws
}

extension RemoteChange {
  /// Reads, changes, keeps and shows it.
  fileprivate func run(keeping: Bool) async throws {
    guard let file = BlunoRemoteFile.usual else {
      throw AccessoryError(.misconfigured, "set HOME: nothing says where the user's configuration folder is")
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
    if remote.endsLines { Output.line("\nEvery message ends in a line feed.") }
  }

  private static func text(_ bytes: [UInt8]) -> String {
    SafeText.escape(String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self))
  }

  /// The number of a task that there is.
  fileprivate static func check(_ isThere: Bool, _ number: Int) throws {
    if !isThere { throw UsageError("there is no task \(number): bridge-cli remote show shows all") }
  }
}

struct RemoteShow: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows the tasks, in their order, and what the keys send.",
    discussion: """
      EXAMPLES
        bridge-cli remote show
        bridge-cli remote show --json | jq .keys.up
      """)
  @OptionGroup var output: OutputOptions
  fileprivate func change(_ remote: inout BlunoRemote) {}
  func run() async throws { try await run(keeping: false) }
}

struct AddTask: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "add-task",
    abstract: "Adds a task behind the others.",
    discussion: """
      EXAMPLES
        bridge-cli remote add-task "Sing a song"
        bridge-cli remote add-task Dance --number 9
      """)
  @Argument(help: "What it is called.") var name: String
  @Option(help: ArgumentHelp("What is sent, 0 to 9999; else the lowest that is free.", valueName: "number"))
  var number: Int?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1...BlunoRemoteFile.nameLimit).contains(name.utf8.count) else {
      throw ValidationError("a name has 1 to \(BlunoRemoteFile.nameLimit) bytes")
    }
  }

  fileprivate func change(_ remote: inout BlunoRemote) throws {
    if let number {
      try remote.tasks.append(try BlunoTask(number: number, name: name))
    } else {
      try remote.tasks.append(named: name)
    }
  }

  func run() async throws { try await run(keeping: true) }
}

struct RenameTask: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "rename-task",
    abstract: "Calls a task something else.",
    discussion: """
      EXAMPLES
        bridge-cli remote rename-task 5 Dance
      """)
  @Argument(help: "Its number.") var number: Int
  @Argument(help: "What it is called from now on.") var name: String
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1...BlunoRemoteFile.nameLimit).contains(name.utf8.count) else {
      throw ValidationError("a name has 1 to \(BlunoRemoteFile.nameLimit) bytes")
    }
  }

  fileprivate func change(_ remote: inout BlunoRemote) throws {
    try Self.check(remote.tasks.rename(number, to: name), number)
  }

  func run() async throws { try await run(keeping: true) }
}

struct RemoveTask: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "remove-task",
    abstract: "Removes a task.",
    discussion: """
      EXAMPLES
        bridge-cli remote remove-task 5
      """)
  @Argument(help: "Its number.") var number: Int
  @OptionGroup var output: OutputOptions
  fileprivate func change(_ remote: inout BlunoRemote) throws { try Self.check(remote.tasks.remove(number), number) }
  func run() async throws { try await run(keeping: true) }
}

struct MoveTask: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "move-task",
    abstract: "Moves a task to another place in the list.",
    discussion: """
      EXAMPLES
        bridge-cli remote move-task 4 1
      """)
  @Argument(help: "Its number.") var number: Int
  @Argument(help: "The place, counted from 1.") var place: Int
  @OptionGroup var output: OutputOptions

  func validate() throws { guard place > 0 else { throw ValidationError("places are counted from 1") } }

  fileprivate func change(_ remote: inout BlunoRemote) throws {
    try Self.check(remote.tasks.move(number, to: place - 1), number)
  }

  func run() async throws { try await run(keeping: true) }
}

struct SetKey: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "set-key",
    abstract: "Lets a key send another character.",
    discussion: """
      The character is one that ASCII can print, but for < and >, and no other key's.

      EXAMPLES
        bridge-cli remote set-key up u
        bridge-cli remote set-key f1 1
      """)
  @Argument(help: "The key.") var key: BlunoKey
  @Argument(help: "The character.") var character: String
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard character.count == 1 else { throw ValidationError("a key sends one character") }
  }

  fileprivate func change(_ remote: inout BlunoRemote) throws {
    if let character = character.first { try remote.keys.set(key, to: character) }
  }

  func run() async throws { try await run(keeping: true) }
}

struct EndLines: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "end-lines",
    abstract: "Puts a line feed behind every message, for robots that read lines, or doesn't.",
    discussion: """
      EXAMPLES
        bridge-cli remote end-lines on
      """)
  @Argument(help: "on or off.") var state: OnOff
  @OptionGroup var output: OutputOptions

  enum OnOff: String, ExpressibleByArgument, CaseIterable {
    case on, off
  }

  fileprivate func change(_ remote: inout BlunoRemote) { remote.endsLines = state == .on }
  func run() async throws { try await run(keeping: true) }
}

struct RemoteReset: RemoteChange {
  static let configuration = CommandConfiguration(
    commandName: "reset", abstract: "Makes tasks and keys as they came, or only one of these.",
    discussion: """
      EXAMPLES
        bridge-cli remote reset
        bridge-cli remote reset --keys
      """)
  @Flag(help: "Only the tasks.") var tasks = false
  @Flag(help: "Only the keys.") var keys = false
  @OptionGroup var output: OutputOptions

  fileprivate func change(_ remote: inout BlunoRemote) {
    let isAll = !tasks && !keys
    if tasks || isAll { remote.tasks.reset() }
    if keys || isAll { remote.keys.reset() }
    if isAll { remote.endsLines = false }
  }

  func run() async throws { try await run(keeping: true) }
}

extension BlunoKey: ExpressibleByArgument {}

/// The remote control in JSON.
struct RemoteDocument: Encodable {
  struct Task: Encodable {
    let number: Int
    let name: String
  }

  let schema = DocumentSchema.name
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
