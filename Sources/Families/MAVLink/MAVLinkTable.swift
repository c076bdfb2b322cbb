// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// What is needed to check the frames of a message.
public struct MAVLinkMessageDefinition: Sendable, Hashable {
  /// The name in the protocol's definition, such as `BATTERY_STATUS`.
  public let name: String
  /// A byte that is added to the checksum behind the payload. Frames of another definition of the message then have a
  /// wrong checksum. The protocol calls it CRC_EXTRA.
  public let seed: UInt8
  /// The size of the payload without extensions, as in version 1, in bytes; 0 for messages that version 1 can't carry.
  public let baseByteCount: Int
  /// The size of the payload with all extensions that are known here, in bytes.
  public let fullByteCount: Int
}

/// The messages that can be checked, by their numbers: those of the definitions `common` and `ardupilotmega`.
public enum MAVLinkTable {
  /// The definition of a message; nil if it is in neither definition file.
  public static func definition(of message: UInt32) -> MAVLinkMessageDefinition? { all[message] }

  /// The numbers of all messages in the table.
  public static var numbers: some Collection<UInt32> { all.keys }

  /// Made from lines with number, name, seed, and sizes without and with extensions.
  private static let all: [UInt32: MAVLinkMessageDefinition] = {
    var definitions: [UInt32: MAVLinkMessageDefinition] = [:]
    for line in (common + "\n" + arduPilot).split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 5, let number = UInt32(parts[0]), let seed = UInt8(parts[2]), let base = Int(parts[3]),
        let full = Int(parts[4])
      else { preconditionFailure("\(line)") }  // the lines are constants
      definitions[number] = MAVLinkMessageDefinition(
        name: String(parts[1]), seed: seed, baseByteCount: base, fullByteCount: full)
    }
    return definitions
  }()
}
