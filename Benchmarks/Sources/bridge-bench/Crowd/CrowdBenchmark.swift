// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import CFloor
import FamilyAF1
import Glibc

/// What a thousand open links cost: the round trip of one of them while the others are quiet, and memory.
enum CrowdBenchmark {
  private static let count = 1_000
  private static let payload = [UInt8](0..<16)

  static func run(_ options: Options) async throws -> [Row] {
    let crowd = try Crowd(count)
    let requests = options.isQuick ? 2_000 : 5_000
    let memory = try await memoryPerLink(crowd)
    let lone = Contender("lone") {
      let accessory = try await Crowd.open(crowd.paths[0])
      let times = try await times(of: requests, accessory)
      await accessory.close()
      return times
    }
    let one = Contender("one of \(count) links") {
      let others = try await openAll(crowd.paths.dropFirst())
      let accessory = try await Crowd.open(crowd.paths[0])
      let times = try await times(of: requests, accessory)
      await accessory.close()
      for other in others { await other.close() }
      return times
    }
    let figures = try await Rounds.run(options.isQuick ? 2 : 5, [lone, one])
    return ["median", "p99"].enumerated().map { part, name in
      Row(
        "crowd", "\(one.name), AF1Accessory.echo: \(name)", unit: "µs", ours: figures[1].map { $0[part] },
        peer: "lone", theirs: figures[0].map { $0[part] }, requirement: part == 0 ? .ratioAtMost(2) : nil)
    } + [Row("crowd", "memory of an idle link", unit: "KiB", ours: [memory], requirement: .atMost(32))]
  }

  /// Opens links and makes one round trip on each.
  private static func openAll(_ paths: some Sequence<String>) async throws -> [AF1Accessory] {
    var links: [AF1Accessory] = []
    for path in paths {
      let accessory = try await Crowd.open(path)
      _ = try await accessory.echo(payload)
      links.append(accessory)
    }
    return links
  }

  private static func times(of requests: Int, _ accessory: AF1Accessory) async throws -> [Double] {
    var times: [Double] = []
    times.reserveCapacity(requests)
    for _ in 0..<requests {
      let start = cfloor_now()
      _ = try await accessory.echo(payload)
      times.append(Double(cfloor_now() - start) / 1_000)
    }
    return [times.median, times.quantile(0.99)]
  }

  /// KiB by which the process grows with each link that is opened and used once. The first link, which brings threads
  /// and buffers that all share, is not counted.
  private static func memoryPerLink(_ crowd: Crowd) async throws -> Double {
    let first = try await openAll(crowd.paths.prefix(1))
    let before = try anonymousKibibytes()
    let others = try await openAll(crowd.paths.dropFirst())
    let after = try anonymousKibibytes()
    for link in first + others { await link.close() }
    return Double(after - before) / Double(others.count)
  }

  /// Memory of this process that no file stands behind.
  private static func anonymousKibibytes() throws(Failure) -> Int {
    let line = Machine.read("/proc/self/status").split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    guard let size = line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap({ Int($0) })
    else { throw Failure("/proc/self/status does not tell RssAnon") }
    return size
  }
}
