// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessorySimulator
import CFloor
import FamilyAF1
import FamilyAF1Simulator

/// A file to a pretended accessory in this process, in MB/s, beside a C loop that writes just the file's bytes to one that
/// only counts them: what frames, checksums, replies, and who takes them, cost together.
enum FileBenchmark {
  /// Pieces that the accessory lets be under way.
  private static let windows: [UInt8] = [1, 8]

  static func run(_ options: Options) async throws -> [Row] {
    let size = 1_000_000 * (options.isQuick ? 4 : 16)
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let device = try Device(.sink(total: size))
    let floor = Contender("C") {
      try device.asCProgram { descriptor in
        let start = cfloor_now()
        try Failure.check(cfloor_host_send(descriptor, size, 4_096), "sending in C")
        return [rate(size, since: start)]
      }
    }
    let ways = windows.map { window in
      Contender("AF1Transfer, \(window) under way") { [try await send(bytes, window)] }
    }
    let figures = try await Rounds.run(options.isQuick ? 3 : 9, [floor] + ways)
    return zip(ways, figures.dropFirst()).map { way, ours in
      Row("file", way.name, unit: "MB/s", ours: ours.map { $0[0] }, theirs: figures[0].map { $0[0] })
    }
  }

  private static func send(_ bytes: [UInt8], _ window: UInt8) async throws -> Double {
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    configuration.device.window = window
    let simulator = AF1Simulator(configuration)
    let path = try await simulator.plugIn()
    let accessory = try await AF1Accessory.open(
      try await AccessorySession.open(TerminalConfiguration(path: path)))
    var transfer = AF1Transfer(MemoryFile(bytes), kind: .firmware, name: "bench.bin")
    let start = cfloor_now()
    let failure: AccessoryError?
    do throws(AccessoryError) {
      try await transfer.run(on: accessory)
      failure = nil
    } catch { failure = error }
    let result = rate(bytes.count, since: start)
    await accessory.close()
    let arrived = await simulator.file(named: "bench.bin")
    await simulator.stop()
    if let failure { throw failure }
    guard arrived == bytes else { throw Failure("the file didn't arrive") }
    return result
  }

  private static func rate(_ count: Int, since start: Int64) -> Double {
    Double(count) * 1_000 / Double(cfloor_now() - start)
  }
}
