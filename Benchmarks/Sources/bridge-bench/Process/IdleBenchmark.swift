// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import FamilyAF1
import Glibc

/// What an open link costs while nothing happens.
enum IdleBenchmark {
  static func run(_ options: Options) async throws -> [Row] {
    let device = try Device(.echo)
    return try await device.withTransport { transport in
      let accessory = try await AF1Accessory.open(AccessorySession(transport))
      _ = try await accessory.echo([1, 2, 3])
      // A timer that was set for the request fires once more after its answer.
      sleep(2)
      let seconds: UInt32 = options.isQuick ? 2 : 10
      let wakeUps = IOThread.shared.wakeUps
      let before = contextSwitches()
      sleep(seconds)
      let after = contextSwitches()
      let wakeUpsAfter = IOThread.shared.wakeUps
      await accessory.close()
      // Threads of the pool that were let go meanwhile took their counts with them: only those that stayed count.
      let switches = after.reduce(0) { sum, thread in sum + thread.value - (before[thread.key] ?? 0) }
      return [
        Row(
          "idle", "I/O thread in \(seconds) s", unit: "wake-ups", ours: [Double(wakeUpsAfter - wakeUps)],
          requirement: .atMost(0)),
        Row("idle", "all threads in \(seconds) s", unit: "switches", ours: [Double(switches)]),
      ]
    }
  }

  /// Voluntary context switches by thread.
  private static func contextSwitches() -> [String: Int] {
    var counts: [String: Int] = [:]
    guard let directory = opendir("/proc/self/task") else { return counts }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let thread = withUnsafeBytes(of: entry.pointee.d_name) { name in
        String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard !thread.hasPrefix(".") else { continue }
      let lines = Machine.read("/proc/self/task/\(thread)/status").split(separator: "\n")
      let line = lines.first { $0.hasPrefix("voluntary_ctxt_switches:") }
      counts[thread] = line?.split { $0 == " " || $0 == "\t" }.last.flatMap { Int($0) } ?? 0
    }
    return counts
  }
}
