// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO

/// Keys for a Bluno robot: arrows drive, space stops, F1 to F4, digits start tasks, + and - change the speed.
struct BlunoDriveKeys: DriveKeys {
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

  mutating func bytes(for key: DriveKey) -> (what: String, bytes: [UInt8])? {
    switch key {
    case .up: return press(.up)
    case .down: return press(.down)
    case .left: return press(.left)
    case .right: return press(.right)
    case .stop: return press(.stop)
    case .function(1): return press(.f1)
    case .function(2): return press(.f2)
    case .function(3): return press(.f3)
    case .function(4): return press(.f4)
    case .function: return nil
    case .faster: return change(by: Self.step)
    case .slower: return change(by: -Self.step)
    case .digit(let digit):
      // As in a keyboard's row, 0 is the tenth digit.
      guard let task = remote.task(at: (digit + 9) % 10 + 1) else { return nil }
      return ("task \(task.number) \(task.name)", remote.bytes(for: task))
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
