// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers

/// Keys for an HM-1X car: arrows steer and accelerate in steps, space stops, digits set the speed, F1 and F2 switch the
/// lights. Each key sends a frame with the complete state.
struct HM1XDriveKeys: DriveKeys {
  private var (steering, acceleration) = (0, 0)
  private var (headlights, brakeLights) = (false, false)

  /// The change by an arrow key, a fifth of the full range. With this value no byte of a frame can be a colon, at which
  /// some cars split frames.
  private static let step = 51
  /// The speed per digit: 9 is full speed.
  private static let gear = 255.0 / 9

  mutating func bytes(for key: DriveKey) -> (what: String, bytes: [UInt8])? {
    switch key {
    case .up: acceleration += Self.step
    case .down: acceleration -= Self.step
    case .left: steering -= Self.step
    case .right: steering += Self.step
    case .stop: (steering, acceleration) = (0, 0)
    case .function(1): headlights.toggle()
    case .function(2): brakeLights.toggle()
    case .digit(let digit): acceleration = Int(Double(digit) * Self.gear)
    case .function, .faster, .slower: return nil
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
    "up and down accelerate, left and right steer, space stops, 0 to 9 set the speed, F1 headlights, F2 brake lights"
  }
}
