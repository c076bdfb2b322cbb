// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import TestSupport
import Testing

@testable import AccessoryDrivers
@testable import AccessorySimulator

/// What real accessories do that makes it harder to speak with them: whatever it is, the same is told as without it, twice,
/// and nothing is made up. Documentation/simulators.md has the same table with the options of `simulate`.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct QuirkTests {
  /// Each of them.
  static let all = [
    QuirkCase.jbd, QuirkCase.daly, QuirkCase.jk, QuirkCase.pylontech, QuirkCase.vedirect, QuirkCase.pi30,
    QuirkCase.vesc,
    QuirkCase.elm327, QuirkCase.modbus, QuirkCase.megatec,
  ].flatMap { $0 }

  /// What each kind tells without any of them, asked once, since it takes an accessory seconds to tell all.
  private actor Plain {
    private var asked: [String: Task<[String: String], any Error>] = [:]

    func told(by kind: String) async throws -> [String: String] {
      let task = asked[kind] ?? Task { try await QuirkBench.with(kind) { try await $0.told() } }
      asked[kind] = task
      return try await task.value
    }
  }

  private static let plain = Plain()

  @Test(arguments: all) func quirksChangeOnlyWhatTheySay(quirk: QuirkCase) async throws {
    let plain = try await Self.plain.told(by: quirk.kind)
    let told = try await QuirkBench.with(quirk.kind, quirk.show) { bench in
      [try await bench.told(), try await bench.told()]
    }
    #expect(!plain.isEmpty)
    for told in told {
      for name in Set(plain.keys).union(told.keys) where told[name] != plain[name] {
        let isExpected = told[name] == nil && quirk.missing.contains(name) || quirk.more.contains(name)
        #expect(isExpected, "\(name) is \(told[name] ?? "unknown"), not \(plain[name] ?? "unknown")")
      }
      #expect(quirk.missing.allSatisfy { told[$0] == nil } && quirk.more.allSatisfy { told[$0] != nil })
    }
  }

  /// An adapter says that it looks for the car's bus in front of the first answer.
  @Test func aSearchingAdapterAnswersTheFirstRequest() async throws {
    try await QuirkBench.with("elm327", QuirkCase.pushes("534541524348494E472E2E2E0D")) { bench in
      let request = try #require(bench.accessory.description.request(named: "engine_speed"))
      let reply = try await bench.accessory.ask(request)
      #expect(reply?["engine_speed"]?.value == .number(1_303.75))
      #expect(try await bench.accessory.battery().millivolts == 13_100)
    }
  }

  /// Where all that would be told is refused, that is the error.
  @Test func aRefusedBatteryIsAnError() async throws {
    try await QuirkBench.with("elm327", QuirkCase.refuses("voltage")) { bench in
      for _ in 0..<2 {
        let error = await #expect(throws: AccessoryError.self) { try await bench.accessory.battery() }
        #expect(error?.kind == .refused && error?.message.contains("refuses voltage") == true)
      }
    }
  }

  /// What old shunts do: behind a HEX message they send no text for a while. What was told before is still told.
  @Test func readingsStayDuringAQuietTime() async throws {
    try await QuirkBench.with("vedirect") { device, _ in
      device.quirks.quietTime = .seconds(1)
    } _: { bench in
      let plain = try await bench.told()
      let ping = try #require(bench.accessory.description.request(named: "ping"))
      _ = try await bench.accessory.ask(ping)
      #expect(try await bench.told() == plain)
      let session = bench.accessory
      var news = session.news().makeAsyncIterator()
      #expect(try await news.next() != nil, "the text comes again")
    }
  }
}
