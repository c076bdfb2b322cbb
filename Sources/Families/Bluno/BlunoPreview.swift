// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

extension BlunoRobot {
  /// The bytes that these calls send to a robot and its radio, with the user's remote control, if the radio answers
  /// every command at once.
  static func preview(of calls: [CommandCall]) throws(AccessoryError) -> [[UInt8]] {
    try preview(of: calls, by: try BlunoRemoteFile.usual?.load() ?? BlunoRemote())
  }

  static func preview(of calls: [CommandCall], by remote: BlunoRemote) throws(AccessoryError) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var isInATMode = false
    do throws(BlunoError) {
      for call in calls {
        if let message = message(of: call, by: remote) {
          if isInATMode { frames.append(try BlunoCommand.exit.encoded()) }
          isInATMode = false
          frames.append(try remote.bytes(of: message))
        } else if let command = try command(of: call) {
          if !isInATMode {
            frames += [try BlunoCommand.toggle.encoded(), try BlunoCommand.attention.encoded()]
          }
          frames.append(try command.encoded())
          isInATMode = command != .restart
        } else {
          throw .notSendable(argument: call.command.name)
        }
      }
      if isInATMode { frames.append(try BlunoCommand.exit.encoded()) }
      return frames
    } catch {
      throw AccessoryError(.misconfigured, "the command can't be sent to a Bluno: \(error)")
    }
  }

  static let previewRemark =
    "a radio that doesn't answer is sent AT and +++ again, and one that is older than 1.8 gets +++ in place of AT+EXIT"

  private static func message(of call: CommandCall, by remote: BlunoRemote) -> BlunoMessage? {
    switch call.command.name {
    case "task": (remote.task(call.text("task"))?.number ?? Int(call.text("task"))).map { .task($0) }
    case "key": .key(BlunoKey(rawValue: call.text("key")) ?? .stop)
    case "drive-speed": .speed(call.whole("speed"))
    case "text": .text(call.text("text"))
    default: nil
    }
  }

  private static func command(of call: CommandCall) throws(BlunoError) -> BlunoCommand? {
    let name = call.command.name
    if name == "restart" { return .restart }
    if name == "at" { return try BlunoCommand(decoding: Array(call.text("command").utf8)) }
    if let parameter = BlunoParameter.allCases.first(where: { $0.name == name }) { return .ask(parameter) }
    guard let parameter = BlunoParameter.allCases.first(where: { "set-" + $0.name == name }) else { return nil }
    if case .whole(let number)? = call.values[parameter.name] { return .set(parameter, "\(number)") }
    return .set(parameter, call.text(parameter.name))
  }
}
