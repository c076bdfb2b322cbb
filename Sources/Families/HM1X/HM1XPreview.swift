// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols

extension HM1XCar {
  /// The frames that these calls send to a car whose last frame was "standing". A repeated frame is listed once.
  static func preview(of calls: [CommandCall]) throws(AccessoryError) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var frame = HM1XFrame.standing
    for call in calls {
      let receiver: HM1XFrame.Receiver = call.text("receiver") == "naive" ? .naive : .window
      func add(_ steering: Int, _ acceleration: Int) throws(AccessoryError) {
        do throws(HM1XFrameError) {
          frame = try HM1XFrame(
            steering: steering, acceleration: acceleration, headlights: frame.headlights,
            brakeLights: frame.brakeLights)
        } catch {
          throw AccessoryError(.misconfigured, "the command can't be sent to a car: \(error)")
        }
        frames.append(frame.encoded(for: receiver))
      }
      switch call.command.name {
      case "drive":
        try add(call.whole("steering"), call.whole("acceleration"))
        if call.whole("time") > 0 { try add(0, 0) }
      case "stop": try add(0, 0)
      case "headlights":
        frame.headlights = call.flag("on")
        try add(frame.steering, frame.acceleration)
      case "brake-lights":
        frame.brakeLights = call.flag("on")
        try add(frame.steering, frame.acceleration)
      default: throw AccessoryError(.unsupported, "a car has no command \(call.command.name)")
      }
    }
    return frames
  }

  static let previewRemark =
    "with a time, drive's frame is sent every 100 ms for so long, and the one behind it then"
}
