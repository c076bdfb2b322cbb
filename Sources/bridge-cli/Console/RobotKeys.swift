// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import Console
import FamilyBluno
import FamilyHM1X

/// The keyboard as a robot's remote control.
protocol RobotKeys {
  /// The meaning of a key for the robot, and its bytes; nil for a key without a meaning.
  mutating func bytes(for key: Key) -> (what: String, bytes: [UInt8])?
  /// A summary of the keys, for people.
  var summary: String { get }
}

/// The keys for a driver's robot. The driver must be known, since the bytes that stop one robot make another drive.
///
/// Throws `misconfigured` when keys can't drive this driver's accessories, or when the user's remote control file isn't
/// valid.
func robotKeys(for driver: String?) async throws(AccessoryError) -> any RobotKeys {
  switch driver {
  case HM1XCar.driverName: return CarKeys()
  case BlunoRobot.driverName: return try await BlunoRobotKeys()
  default:
    let reason = driver.map { "the driver \($0) has no keys" } ?? "no driver is known for this device"
    throw AccessoryError(
      .misconfigured,
      "\(reason): --keys drives robots with a Bluno board (--driver \(BlunoRobot.driverName)) and HM-1X cars "
        + "(--driver \(HM1XCar.driverName))")
  }
}

/// Keys for a Bluno robot: arrows drive, space stops, F1 to F4, digits start tasks, + and - change the speed.
struct BlunoRobotKeys: RobotKeys {
  private let remote: BlunoRemote
  private var speed = 128

  private static let step = 16
  private static let speeds = 0...255

  /// Loads the user's remote control from `bluno.json`. Throws `misconfigured` when the file isn't valid.
  init() async throws(AccessoryError) {
    remote = try await SetupQueue(label: "remote").run { () throws(AccessoryError) in
      try BlunoRemoteFile.usual?.load() ?? BlunoRemote()
    }
  }

  mutating func bytes(for key: Key) -> (what: String, bytes: [UInt8])? {
    switch key {
    case .up: return press(.up)
    case .down: return press(.down)
    case .left: return press(.left)
    case .right: return press(.right)
    case .character(" "): return press(.stop)
    case .function(1): return press(.f1)
    case .function(2): return press(.f2)
    case .function(3): return press(.f3)
    case .function(4): return press(.f4)
    case .character("+"): return change(by: Self.step)
    case .character("-"): return change(by: -Self.step)
    case .character(let scalar):
      guard ("0"..."9").contains(scalar) else { return nil }
      // As in a keyboard's row, 0 is the tenth digit.
      let place = (Int(scalar.value) - 0x30 + 9) % 10 + 1
      guard let task = remote.task(at: place) else { return nil }
      return ("task \(task.number) \(task.name)", remote.bytes(for: task))
    default: return nil
    }
  }

  private func press(_ key: BlunoKey) -> (String, [UInt8]) { (key.rawValue, remote.bytes(for: key)) }

  private mutating func change(by step: Int) -> (String, [UInt8])? {
    speed = min(max(speed + step, Self.speeds.lowerBound), Self.speeds.upperBound)
    return (try? remote.bytes(of: .speed(speed))).map { ("speed \(speed)", $0) }
  }

  var summary: String {
    let tasks = remote.tasks.tasks.prefix(10).enumerated().map { "\(($0.offset + 1) % 10) \($0.element.name)" }
    return "arrows drive, space stops, F1 to F4, + and - for the speed; tasks: \(tasks.joined(separator: ", "))"
  }
}
