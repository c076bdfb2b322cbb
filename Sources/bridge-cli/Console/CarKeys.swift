// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import Console

/// The keyboard of an HM-1X car: arrows steer and accelerate by steps, space stops, digits are speeds, F1 and F2 lights.
/// Each key sends a frame; the car does what the last one says.
struct CarKeys: RobotKeys {
  private var (steering, acceleration) = (0, 0)
  private var (headlights, brakeLights) = (false, false)

  /// A fifth of a slider. Together with the digits it leads to no byte that is a colon, at which some cars split.
  private static let step = 51
  /// What a digit is worth: 9 is all.
  private static let gear = 255.0 / 9

  mutating func bytes(for key: Key) -> (what: String, bytes: [UInt8])? {
    switch key {
    case .up: acceleration += Self.step
    case .down: acceleration -= Self.step
    case .left: steering -= Self.step
    case .right: steering += Self.step
    case .character(" "): (steering, acceleration) = (0, 0)
    case .function(1): headlights.toggle()
    case .function(2): brakeLights.toggle()
    case .character(let scalar):
      guard ("0"..."9").contains(scalar) else { return nil }
      acceleration = Int(Double(scalar.value - 0x30) * Self.gear)
    default: return nil
    }
    (steering, acceleration) = (Self.within(steering), Self.within(acceleration))
    let frame = try? HM1XFrame(
      steering: steering, acceleration: acceleration, headlights: headlights, brakeLights: brakeLights)
    return frame.map { (text, $0.encoded()) }
  }

  private static func within(_ value: Int) -> Int {
    min(max(value, HM1XFrame.range.lowerBound), HM1XFrame.range.upperBound)
  }

  private var text: String {
    "steering \(steering), acceleration \(acceleration)\(headlights ? ", headlights" : "")"
      + (brakeLights ? ", brake lights" : "")
  }

  var summary: String {
    "up and down accelerate, left and right steer, space stops, 0 to 9 are speeds, F1 headlights, F2 brake lights"
  }
}
