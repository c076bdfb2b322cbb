// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import TestSupport
import Testing

@testable import BridgeService

/// Many clients, while accessories come and go.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct CrowdTests {
  /// Errors that are right when accessories come and go.
  private static let expected: Set<String> = [
    "Disconnected", "NoSuchDevice", "Cancelled", "TimedOut", "AmbiguousDevice", "Busy",
  ]

  /// Every call ends, with an answer or with an error that has a name.
  @Test func aHundredClientsAreAllAnswered() async throws {
    try await ServiceHarness.with({ $0.reconnect.tries = .count(5) }) { harness in
      let ids = (1...5).map { "A\($0)" }
      var simulators: [AF1Simulator] = []
      for id in ids { simulators.append(try await harness.simulate(id)) }
      for id in ids { try await harness.attached(id) }
      let (answers, errors) = (Watched(0), Watched<[String: Int]>([:]))
      let isOver = Watched(false)
      let shaking = Task { [simulators] in
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<60 {
          let simulator = simulators[Int(generator.next() % UInt64(simulators.count))]
          await simulator.unplug()
          try await Task.sleep(for: .milliseconds(Int(generator.next() % 40)))
          try await simulator.plugIn()
        }
        isOver.update { $0 = true }
      }
      try await withThrowingTaskGroup { group in
        for number in 0..<100 {
          group.addTask {
            let client = try await harness.client()
            var turn = number
            repeat {
              let id = ids[turn % ids.count]
              let payload = [UInt8(truncatingIfNeeded: turn), UInt8(truncatingIfNeeded: number)]
              let name = await errorName { () throws(ControlError) in
                switch turn % 4 {
                case 0: _ = try await client.call(Bridge.GetBattery(device: id))
                case 1: _ = try await client.call(Bridge.GetStatus(device: id))
                case 2: _ = try await client.call(Bridge.List())
                default:
                  let reply = try await client.call(Bridge.Request(device: id, command: "echo", payload: payload))
                  #expect(reply.reply.payload == payload)
                }
              }
              if let name { errors.update { $0[name, default: 0] += 1 } } else { answers.update { $0 += 1 } }
              turn += 1
            } while !isOver.value
          }
        }
        try await group.waitForAll()
      }
      try await shaking.value
      #expect(answers.value > 100)
      #expect(Set(errors.value.keys).isSubset(of: Self.expected), "\(errors.value)")
      // What is plugged in is attached in the end.
      for id in ids { try await eventually("\(id)") { try await harness.state(id) == .attached } }
    }
  }

  /// Subscribers and listeners that take nothing cost nobody else anything, and are cut off in the end.
  @Test func clientsThatNeverReadAreCutOff() async throws {
    var limits = ControlServer.Limits()
    limits.unsentBytes = 65_536
    try await ServiceHarness.with(limits: limits) { harness in
      try await harness.simulate("A1")
      try await harness.attached("A1")
      var lazy: [RawClient] = []
      for method in ["Subscribe", "Trace"] {
        for _ in 0..<10 {
          let client = try RawClient(path: harness.path)
          client.send(#"{"method":"accessorybridge.Bridge.\#(method)","parameters":{},"more":true}"#)
          lazy.append(client)
        }
      }
      let client = try await harness.client()
      for number in 0..<2_000 {
        let payload = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 200)
        #expect(try await client.call(Bridge.Request(command: "echo", payload: payload)).reply.payload == payload)
      }
      for client in lazy { client.close() }
    }
  }
}
