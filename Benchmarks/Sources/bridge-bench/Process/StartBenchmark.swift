// SPDX-License-Identifier: Apache-2.0

import CFloor
import Glibc

/// Wall time of whole processes, in milliseconds, from spawn to exit.
enum StartBenchmark {
  static func run(_ options: Options) async throws -> [Row] {
    let cli = options.cliPath
    guard access(cli, X_OK) == 0 else {
      note("no \(cli): build it with `swift build -c release --static-swift-stdlib --product bridge-cli`")
      return []
    }
    let simulator = try Simulator(cli)
    defer { simulator.stop() }
    let floor = Contender("C") { [try time("/bin/true", [])] }
    let version = Contender("bridge-cli --version") { [try time(cli, ["--version"])] }
    let battery = Contender("bridge-cli battery") { [try time(cli, ["battery"])] }
    let figures = try await Rounds.run(options.isQuick ? 10 : 50, [floor, version, battery])
    let c = figures[0].map { $0[0] }
    return [
      Row("start", version.name, unit: "ms", ours: figures[1].map { $0[0] }, theirs: c, requirement: .atMost(10)),
      Row("start", battery.name, unit: "ms", ours: figures[2].map { $0[0] }, theirs: c, requirement: .atMost(25)),
    ]
  }

  private static func time(_ path: String, _ arguments: [String]) throws -> Double {
    var status: CInt = 0
    let nanoseconds = withArguments([path] + arguments) { cfloor_run(path, $0, &status) }
    try Failure.check(nanoseconds, "running \(path)")
    guard status == 0 else { throw Failure("\(path) \(arguments) ended with status \(status)") }
    return Double(nanoseconds) / 1_000_000
  }
}

/// Calls `body` with arguments as C has them.
func withArguments<Result>(
  _ arguments: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let copies = arguments.map { strdup($0) } + [nil]
  defer { copies.forEach { free($0) } }
  return copies.withUnsafeBufferPointer { body($0.baseAddress!) }
}
