// SPDX-License-Identifier: Apache-2.0

/// What must be known of a message to check its frames.
public struct MAVLinkMessageDefinition: Sendable, Hashable {
  /// The name in the protocol's definition: `BATTERY_STATUS`.
  public let name: String
  /// What goes into the checksum behind the payload, so that frames of another definition of the message fail it. The
  /// definition calls it CRC_EXTRA.
  public let seed: UInt8
  /// Bytes of the payload without extensions, as version 1 has it; 0 for messages that version 1 can't carry.
  public let baseByteCount: Int
  /// Bytes of the payload with all extensions that are known here.
  public let fullByteCount: Int
}

/// The messages that can be checked: those of the definitions `common` and `ardupilotmega`, by their numbers.
public enum MAVLinkTable {
  /// What is known of a message; nil when it is in neither definition.
  public static func definition(of message: UInt32) -> MAVLinkMessageDefinition? { all[message] }

  /// All numbers that are known.
  public static var numbers: some Collection<UInt32> { all.keys }

  /// From lines of number, name, seed, bytes without and with extensions.
  private static let all: [UInt32: MAVLinkMessageDefinition] = {
    var definitions: [UInt32: MAVLinkMessageDefinition] = [:]
    for line in (common + "\n" + arduPilot).split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 5, let number = UInt32(parts[0]), let seed = UInt8(parts[2]), let base = Int(parts[3]),
        let full = Int(parts[4])
      else { preconditionFailure("\(line)") }  // these are constants
      definitions[number] = MAVLinkMessageDefinition(
        name: String(parts[1]), seed: seed, baseByteCount: base, fullByteCount: full)
    }
    return definitions
  }()
}
