// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Programs whose main run loop runs, or doesn't: see Tests/Clients/MainRunLoop.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct MainRunLoopTests {
  private static let ways = [
    "closed", "delegateFirst", "closedByAnotherThread", "hundredTimes", "closedAtFirstEnd", "leftAtTheEnd", "letGo",
    "removedWhileBytesArrive", "removedAndSessionLetGo", "removedFromDefault", "withoutDelegate", "unread",
    "privateMode", "anotherCommonMode", "privateModeThenMainQueue", "mainQueue",
  ]

  /// However a client is done with its streams, its main thread rests afterwards: 0 or 1 ticks of the processor, of
  /// which there are 100 a second, in two seconds, once it has finished. The programs run side by side, as they do nothing.
  @Test func theMainThreadRests() async throws {
    let place = try Place()
    let programs = try Self.ways.map { ($0, try place.start("MainRunLoopClient", $0)) }
    for (way, program) in programs {
      let transcript = try await program.end()
      #expect(transcript.status == 0, "\(way): \(transcript.outputText)\(transcript.errorText)")
      let ticks = transcript.lines.first?.split(separator: " ").first.flatMap { Int($0) }
      #expect(ticks ?? .max <= 1, "\(way): \(transcript.outputText)")
    }
  }

  /// Plugged in for 50 ms and unplugged for 50 ms, again and again, while the main thread is busy for longer than that
  /// at a time: all of it is told. ACCESSORY_BRIDGE_PLUGS says how often, ACCESSORY_BRIDGE_PLUGS_LOAD how many milliseconds
  /// the main thread is busy.
  @Test func everyPlugIsTold() async throws {
    let variables = ProcessInfo.processInfo.environment
    let count = variables["ACCESSORY_BRIDGE_PLUGS"] ?? "10"
    let load = variables["ACCESSORY_BRIDGE_PLUGS_LOAD"] ?? "120"
    let place = try Place()
    let program = try place.start("MainRunLoopClient", limit: .seconds(280), "plugs", count, load)
    let transcript = try await program.end()
    #expect(transcript.outputText == "connected \(count), disconnected \(count) of \(count)\n")
    #expect(transcript.status == 0, "\(transcript.errorText)")
    _ = place
  }
}
