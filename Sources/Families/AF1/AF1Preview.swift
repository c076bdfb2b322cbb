// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

extension AF1Accessory {
  /// The AF1 command of a call.
  static func command(of call: CommandCall) -> AF1Command {
    switch call.command.name {
    case "identify": .identify
    case "status": .status
    case "battery": .battery
    case "echo": .echo
    default: AF1Command(rawValue: UInt8(truncatingIfNeeded: call.whole("number")))
    }
  }

  /// The frames of these calls, numbered from 0. Throws `misconfigured` when one can't be encoded.
  static func preview(of calls: [CommandCall]) throws(AccessoryError) -> [[UInt8]] {
    let codec = AF1Codec(maximumPayload: Int(UInt16.max))
    var frames: [[UInt8]] = []
    for (number, call) in calls.enumerated() {
      var frame: [UInt8] = []
      let header = AF1Header.request(command(of: call), number: UInt16(truncatingIfNeeded: number))
      do throws(FrameEncodingError) {
        try codec.encode(header, payload: call.bytes("payload").span.bytes, into: &frame)
      } catch {
        throw AccessoryError(.misconfigured, "\(call.command.name) can't be sent: \(error)")
      }
      frames.append(frame)
    }
    return frames
  }

  static let previewRemark =
    "AF1 numbers its frames from a number that is chosen anew each time, here from 0; HELLO comes first, and an accessory may "
    + "take less than what is sent here"
}
