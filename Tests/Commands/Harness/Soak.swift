// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Glibc
import Testing

/// What soaks have in common: how long they last, and what they measure of the service's process.
enum Soak {
  /// For how long they last, by ACCESSORY_BRIDGE_SOAK_SECONDS; nil where they are only tried for a few seconds.
  static let seconds = getenv("ACCESSORY_BRIDGE_SOAK_SECONDS").flatMap { Int(String(cString: $0)) }

  /// A number in /proc/PID/status, in KiB where it is a size; -1 where there is no such line.
  static func status(_ pid: pid_t, _ name: String) throws -> Int { try number("/proc/\(pid)/status", name) }

  /// A number in a file of lines like `Name: 5 kB`; -1 where there is no such line.
  static func number(_ path: String, _ name: String) throws -> Int {
    let text = String(decoding: try SmallFile.read(path, limit: 65_536), as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    return line.flatMap { Int($0.split(whereSeparator: { " \t".contains($0) }).dropFirst().first ?? "") } ?? -1
  }

  /// The median of the memory in each quarter of the time.
  static func quarters(_ memory: [Int]) -> [Int] {
    (0..<4).compactMap { quarter in
      let part = memory[memory.count * quarter / 4..<memory.count * (quarter + 1) / 4].sorted()
      return part.isEmpty ? nil : part[part.count / 2]
    }
  }

  /// Expects that the memory, in KiB, doesn't grow from the second quarter to the last.
  static func expectNoGrowth(_ memory: [Int], _ location: SourceLocation = #_sourceLocation) {
    let memory = quarters(memory)
    guard memory.count == 4 else { return }
    #expect(memory[3] < memory[1] + memory[1] / 8 + 4_096, "it grows: \(memory) KiB", sourceLocation: location)
  }
}
