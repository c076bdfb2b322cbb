// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

extension EV3Brick {
  /// The message that these calls send as one batch, with the number 0.
  static func preview(of calls: [CommandCall]) throws(AccessoryError) -> [[UInt8]] {
    var commands: [(EV3NamedCommand, CommandCall)] = []
    for call in calls {
      guard let command = EV3NamedCommand.all.first(where: { $0.description.name == call.command.name }) else {
        throw AccessoryError(.unsupported, "a brick has no command \(call.command.name)")
      }
      commands.append((command, call))
    }
    do throws(EV3MessageError) {
      var batch = EV3Batch()
      for (command, call) in commands { _ = try command.add(call, &batch) }
      let body = try batch.command().body
      return [try EV3Message(number: 0, type: .directCommand, body: body).encoded()]
    } catch {
      throw AccessoryError(.misconfigured, "the command can't be sent to a brick: \(error)")
    }
  }

  static let previewRemark =
    "a message's number, its third and fourth byte, is chosen anew each time, here 0; with --no-reply its fifth byte is 80"
}
