// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// A command of a robot, or of its board's radio, under the name that a person types.
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
      "task", "Begins a task, by its number or its name", [.init("task", .text(BlunoRemoteFile.nameLimit))]
    ) { robot, remote, call throws(AccessoryError) in
      let text = call.text("task")
      // A number needs no task of that number: a robot may know more than its remote control.
      guard let number = remote.task(text)?.number ?? Int(text) else {
        throw AccessoryError(.misconfigured, "there is no task \(text): bridge-cli remote show shows all")
      }
      try await robot.send(.task(number), by: remote)
      return []
    },
    BlunoNamedCommand("key", "Presses a key", [.init("key", .choice(BlunoKey.allCases.map(\.rawValue)))]) {
      robot, remote, call throws(AccessoryError) in
      try await robot.send(.key(BlunoKey(rawValue: call.text("key")) ?? .stop), by: remote)
      return []
    },
    BlunoNamedCommand("drive-speed", "Tells how fast to go", [.init("speed", .whole(BlunoMessage.speeds))]) {
      robot, remote, call throws(AccessoryError) in
      try await robot.send(.speed(call.whole("speed")), by: remote)
      return []
    },
    BlunoNamedCommand("text", "Sends any text", [.init("text", .text(1_024))]) {
      robot, remote, call throws(AccessoryError) in
      try await robot.send(.text(call.text("text")), by: remote)
      return []
    },
  ]

  /// "name" asks, "set-name" sets.
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
    BlunoNamedCommand("restart", "Starts the radio anew, so that what was set takes effect") {
      robot, _, _ throws(AccessoryError) in
      try await robot.ask(.restart)
      return []
    },
    BlunoNamedCommand(
      "at", "Sends the radio any command, as it is written here", [.init("command", .text(BlunoLimits.value))],
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

  /// All that a robot and its radio can be told and asked by name.
  public static let commands = BlunoNamedCommand.all.map(\.description)

  /// Carries out commands one after another, with the user's tasks and keys. Those of the radio need AT mode, which is
  /// left in the end.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    let file = BlunoRemoteFile.usual
    let remote = try await SetupQueue(label: "remote").run { () throws(AccessoryError) in
      try file?.load() ?? BlunoRemote()
    }
    return try await perform(calls, isAnswered: isAnswered, by: remote)
  }

  /// As above, with these tasks and keys.
  public func perform(
    _ calls: [CommandCall], isAnswered: Bool, by remote: BlunoRemote
  ) async throws(AccessoryError) -> [CommandReply] {
    var replies: [CommandReply] = []
    do throws(AccessoryError) {
      for call in calls {
        guard let command = Self.table[call.command.name] else {
          throw AccessoryError(.unsupported, "a Bluno has no command \(call.command.name)")
        }
        let values = try await command.run(self, remote, call)
        replies.append(CommandReply(call.command, isAnswered ? values : []))
      }
    } catch {
      await Task { try? await leaveATMode() }.value
      throw error
    }
    try await leaveATMode()
    return replies
  }
}

extension BlunoParameter {
  /// What people type.
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

  /// What it is, within a sentence.
  var summary: String {
    switch self {
    case .function: "function"
    case .role: "role in a connection"
    case .minimumInterval: "shortest time between two transmissions"
    case .maximumInterval: "longest time between two transmissions"
    case .speed: "line's speed"
    case .bind: "address to which it connects"
    case .connectMode: "readiness to connect to others than that"
    case .address: "own address"
    case .name: "name"
    case .setting: "settings as a whole"
    case .blunoDebug: "telling on USB what the processor sends"
    case .usbDebug: "telling on USB what comes by radio"
    case .power: "strength of sending"
    case .beacons: "sending as an iBeacon"
    case .major: "iBeacon's major number"
    case .minor: "iBeacon's minor number"
    case .version: "firmware's version"
    case .signalStrength: "connection's strength"
    case .key: "key presses, as a keyboard (firmware 1.6 and later)"
    }
  }

  /// In what a number is counted.
  var unit: String? {
    switch self {
    case .minimumInterval, .maximumInterval: "ms"
    case .speed: "bit/s"
    case .power, .signalStrength: "dBm"
    default: nil
    }
  }
}
