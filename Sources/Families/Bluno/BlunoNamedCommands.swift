// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols

/// A command of a robot, or of its board's radio, under the name that the user types.
struct BlunoNamedCommand: Sendable {
  typealias Run = @Sendable (BlunoRobot, BlunoRemote, CommandCall) async throws(AccessoryError) -> [CommandValue]

  let description: CommandDescription
  let run: Run

  init(
    _ name: String, _ summary: String, _ arguments: [CommandDescription.Argument] = [],
    results: [CommandDescription.Result] = [], _ run: @escaping Run
  ) {
    description = CommandDescription(name, summary, arguments, results: results)
    self.run = run
  }

  static let all: [BlunoNamedCommand] = robot + BlunoParameter.allCases.flatMap { radio($0) } + others

  private static let robot: [BlunoNamedCommand] = [
    BlunoNamedCommand(
      "task", "Starts a task, by its number or its name", [.init("task", .text(BlunoRemoteFile.nameLimit))]
    ) { robot, remote, call throws(AccessoryError) in
      let text = call.text("task")
      // The number needn't be in the remote control's list: a robot may have more tasks.
      guard let number = remote.task(text)?.number ?? Int(text) else {
        throw AccessoryError(
          .misconfigured, "there is no task \(text): bridge-cli bluetooth remote show lists all tasks")
      }
      try await robot.deliver(.task(number), by: remote)
      return []
    },
    BlunoNamedCommand("key", "Presses a key", [.init("key", .choice(BlunoKey.allCases.map(\.rawValue)))]) {
      robot, remote, call throws(AccessoryError) in
      try await robot.deliver(.key(BlunoKey(rawValue: call.text("key")) ?? .stop), by: remote)
      return []
    },
    BlunoNamedCommand("drive-speed", "Sets the driving speed", [.init("speed", .whole(BlunoMessage.speeds))]) {
      robot, remote, call throws(AccessoryError) in
      try await robot.deliver(.speed(call.whole("speed")), by: remote)
      return []
    },
    BlunoNamedCommand("text", "Sends any text", [.init("text", .text(1_024))]) {
      robot, remote, call throws(AccessoryError) in
      try await robot.deliver(.text(call.text("text")), by: remote)
      return []
    },
  ]

  /// The commands for a parameter: one with its name that asks for it, and "set-" plus its name, which sets it.
  private static func radio(_ parameter: BlunoParameter) -> [BlunoNamedCommand] {
    let name = parameter.name
    var commands = [
      BlunoNamedCommand(
        name, "Asks the radio for " + parameter.summary, results: [.init(name, unit: parameter.unit)]
      ) { robot, _, _ throws(AccessoryError) in
        let text = try await robot.text(of: parameter)
        return [BlunoReply.value(text).number(of: parameter).map { .whole($0) } ?? .text(text)]
      }
    ]
    if !parameter.isReadOnly {
      let kind: CommandDescription.Kind =
        if let choices = parameter.choices {
          .choice(choices)
        } else if let range = parameter.range {
          .whole(range)
        } else {
          .text(parameter == .name ? BlunoLimits.name : BlunoLimits.value)
        }
      commands.append(
        BlunoNamedCommand(
          "set-" + name, "Sets the radio's " + parameter.summary, [.init(name, kind, unit: parameter.unit)]
        ) { robot, _, call throws(AccessoryError) in
          let value = if case .whole(let number)? = call.values[name] { "\(number)" } else { call.text(name) }
          try await robot.set(parameter, to: value)
          return []
        })
    }
    return commands
  }

  private static let others: [BlunoNamedCommand] = [
    BlunoNamedCommand("restart", "Restarts the radio, so that new settings take effect") {
      robot, _, _ throws(AccessoryError) in
      try await robot.ask(.restart)
      return []
    },
    BlunoNamedCommand(
      "at", "Sends any AT command to the radio", [.init("command", .text(BlunoLimits.value))],
      results: [.init("reply")]
    ) { robot, _, call throws(AccessoryError) in
      let command: BlunoCommand
      do throws(BlunoError) {
        command = try BlunoCommand(decoding: Array(call.text("command").utf8))
      } catch {
        throw AccessoryError(.misconfigured, "\(call.text("command")) can't be sent: \(error)")
      }
      return [.text(String(decoding: try await robot.ask(command).encoded.dropLast(2), as: UTF8.self))]
    },
  ]
}

extension BlunoRobot {
  private static let table = Dictionary(uniqueKeysWithValues: BlunoNamedCommand.all.map { ($0.description.name, $0) })

  /// The commands of a robot and its radio.
  public static let commands = BlunoNamedCommand.all.map(\.description)

  /// The type's `commands`.
  public func commands() -> [CommandDescription] { Self.commands }

  /// Carries out commands one after another, with the user's tasks and keys. Commands of the radio enter AT mode; this
  /// leaves it at the end. Throws what `send`, `ask` and `BlunoRemoteFile.load` throw.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    let file = BlunoRemoteFile.usual
    let remote = try await SetupQueue(label: "remote").run { () throws(AccessoryError) in
      try file?.load() ?? BlunoRemote()
    }
    return try await perform(calls, isAnswered: isAnswered, by: remote)
  }

  /// Carries out commands one after another, with the tasks and keys of `remote`.
  public func perform(
    _ calls: [CommandCall], isAnswered: Bool, by remote: BlunoRemote
  ) async throws(AccessoryError) -> [CommandReply] {
    try await alone { () throws(AccessoryError) in try await performAlone(calls, isAnswered: isAnswered, by: remote) }
  }

  private func performAlone(
    _ calls: [CommandCall], isAnswered: Bool, by remote: BlunoRemote
  ) async throws(AccessoryError) -> [CommandReply] {
    var replies: [CommandReply] = []
    try await attempt { () throws(AccessoryError) in
      for call in calls {
        guard let command = Self.table[call.command.name] else {
          throw AccessoryError(.unsupported, "a Bluno has no command \(call.command.name)")
        }
        let values = try await command.run(self, remote, call)
        replies.append(CommandReply(call.command, isAnswered ? values : []))
      }
    } onFailure: { _ in
      await Task { try? await leaveATMode() }.value
    }
    try await leaveATMode()
    return replies
  }
}

extension BlunoParameter {
  /// The parameter's name on the command line.
  var name: String {
    switch self {
    case .function: "function"
    case .role: "role"
    case .minimumInterval: "min-interval"
    case .maximumInterval: "max-interval"
    case .speed: "line-speed"
    case .bind: "bind"
    case .connectMode: "connect-mode"
    case .address: "address"
    case .name: "name"
    case .setting: "setting"
    case .blunoDebug: "bluno-debug"
    case .usbDebug: "usb-debug"
    case .power: "power"
    case .beacons: "beacons"
    case .major: "major"
    case .minor: "minor"
    case .version: "version"
    case .signalStrength: "signal-strength"
    case .key: "key-press"
    }
  }

  /// The parameter's meaning, as a part of a sentence.
  var summary: String {
    switch self {
    case .function: "function"
    case .role: "role in a connection"
    case .minimumInterval: "shortest time between two transmissions"
    case .maximumInterval: "longest time between two transmissions"
    case .speed: "baud rate of the serial line"
    case .bind: "address of the device to connect to"
    case .connectMode: "permission to connect to other devices"
    case .address: "own address"
    case .name: "name"
    case .setting: "settings as one value"
    case .blunoDebug: "copy to USB of what the processor sends"
    case .usbDebug: "copy to USB of what the radio receives"
    case .power: "transmission power"
    case .beacons: "transmission as an iBeacon"
    case .major: "iBeacon's major number"
    case .minor: "iBeacon's minor number"
    case .version: "firmware version"
    case .signalStrength: "signal strength of the connection"
    case .key: "key presses, as a keyboard (firmware 1.6 and later)"
    }
  }

  /// The unit of a numeric value.
  var unit: String? {
    switch self {
    case .minimumInterval, .maximumInterval: "ms"
    case .speed: "bit/s"
    case .power, .signalStrength: "dBm"
    default: nil
    }
  }
}
