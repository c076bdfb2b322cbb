// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

extension AF1Accessory {
  /// The commands of AF1's reference set; `command` sends any other by its number.
  public static let commands = [
    CommandDescription("identify", "Asks who it is", results: [.init("payload")]),
    CommandDescription("status", "Asks what it is doing", results: [.init("payload")]),
    CommandDescription("battery", "Asks for its battery", results: [.init("payload")]),
    CommandDescription(
      "echo", "Sends bytes and gets them back", [.init("payload", .bytes(Int(UInt16.max)), defaultValue: .bytes([]))],
      results: [.init("payload")]),
    CommandDescription(
      "command", "Sends any command by its number",
      [.init("number", .whole(0...255)), .init("payload", .bytes(Int(UInt16.max)), defaultValue: .bytes([]))],
      results: [.init("payload")]),
  ]

  /// Describes a reply's payload as a trace shows it: a summary for people, and named fields. Returns nil when the
  /// format of the command's reply isn't known, as for an echo, or when the payload doesn't have that format.
  package static func words(
    ofReply payload: [UInt8], to command: UInt8
  ) -> (summary: String, fields: [FrameField])? {
    AF1Words.reply(payload, to: AF1Command(rawValue: command))
  }

  /// The type's `commands`.
  public func commands() -> [CommandDescription] { Self.commands }

  /// Sends the commands one after another. With `isAnswered`, each result holds the payload of the reply. Throws what
  /// `request` throws.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    var replies: [CommandReply] = []
    for call in calls {
      let payload = try await request(Self.command(of: call), payload: call.bytes("payload"))
      replies.append(CommandReply(call.command, isAnswered ? [.bytes(payload)] : []))
    }
    return replies
  }
}
