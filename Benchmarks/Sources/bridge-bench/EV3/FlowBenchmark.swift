// SPDX-License-Identifier: Apache-2.0

import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryLink
import AccessorySimulator
import CFloor
import FamilyEV3
import FamilyEV3Simulator

/// How fast a pretended brick that drops the link when overrun takes tones without a reply, by way of pacing, in commands
/// a second; and what a command costs that is answered, in microseconds.
enum FlowBenchmark {
  /// When the brick's answers come.
  private static let delays: [Duration] = [.zero, .milliseconds(10), .milliseconds(30)]

  static func run(_ options: Options) async throws -> [Row] {
    var rows: [Row] = []
    for delay in delays { rows += try await flow(options, delay) }
    return rows + (try await asking(options))
  }

  // MARK: - Without a reply

  private static func flow(_ options: Options, _ delay: Duration) async throws -> [Row] {
    let count = options.isQuick ? 100 : 400
    let rounds = options.isQuick ? 1 : 3
    let usual = Contender("4 unanswered") { [try await rate(count, delay) { _ in }] }
    let windows = [1, 2, 6].map { window in
      Contender("\(window) unanswered") {
        [
          try await rate(count, delay) { options in
            options.unansweredCommands = window
          }
        ]
      }
    }
    // Each takes an eighth of a second: a few tell as much as many.
    let gap = Contender("gap of 125 ms") { [try await rate(16, delay) { $0.pacing = .gap(.milliseconds(125)) }] }
    let figures = try await Rounds.run(rounds, [usual] + windows + [gap])
    let when = delay == .zero ? "at once" : "\(Int(delay / .milliseconds(1))) ms late"
    return (windows + [gap]).enumerated().map { index, other in
      Row(
        "ev3", "tones, answers \(when)", unit: "1/s", ours: figures[0].map { $0[0] }, peer: other.name,
        theirs: figures[index + 1].map { $0[0] }, requirement: other.name == gap.name ? .ratioAtLeast(5) : nil)
    }
  }

  /// Tones a second that a brick with little room takes. Throws when it drops the link.
  private static func rate(
    _ count: Int, _ delay: Duration, _ change: (inout EV3Exchange.Options) -> Void
  ) async throws -> Double {
    var options = EV3Exchange.Options()
    options.timeout = .seconds(30)
    options.queueLimit = count + 1
    change(&options)
    return try await with(
      { configuration in
        configuration.pace = .overrun
        configuration.faults.delay = delay
      }, options
    ) { simulator, brick in
      let start = cfloor_now()
      for _ in 0..<count { try await brick.tell(.tone(volume: 1, frequency: 440, duration: .milliseconds(1))) }
      // Answered behind all of them.
      _ = try await brick.ask(.batteryPercent)
      let seconds = Double(cfloor_now() - start) / 1e9
      guard await simulator.overruns == 0 else { throw Failure("the brick dropped the link") }
      return Double(count) / seconds
    }
  }

  // MARK: - With a reply

  private static func asking(_ options: Options) async throws -> [Row] {
    let count = options.isQuick ? 1_000 : 5_000
    let ask = Contender("EV3Brick.ask") {
      try await with({ _ in }, EV3Exchange.Options()) { _, brick in
        var times: [Double] = []
        times.reserveCapacity(count)
        for _ in 0..<count {
          let start = cfloor_now()
          _ = try await brick.ask(.batteryPercent)
          times.append(Double(cfloor_now() - start) / 1_000)
        }
        return [times.median, times.quantile(0.99)]
      }
    }
    let figures = try await Rounds.run(options.isQuick ? 2 : 9, [ask])
    return ["median", "p99"].enumerated().map { part, name in
      Row("ev3", "EV3Brick.ask: \(name)", unit: "µs", ours: figures[0].map { $0[part] })
    }
  }

  private static func with<Result: Sendable>(
    _ change: (inout EV3Simulator.Configuration) -> Void, _ options: EV3Exchange.Options,
    _ body: (EV3Simulator, EV3Brick) async throws -> Result
  ) async throws -> Result {
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    change(&configuration)
    let simulator = EV3Simulator(configuration)
    let session = try await DeviceOpener(
      AccessoryDiscovery.Device(.node(try await simulator.plugIn()), source: .named), profile: .ev3
    ).session()
    let brick = try await EV3Brick.open(session, options: options)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(simulator, brick)) } catch { result = .failure(error) }
    await brick.close()
    await simulator.stop()
    return try result.get()
  }
}
