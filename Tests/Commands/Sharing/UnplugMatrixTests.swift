// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// What a client sees when the accessory is unplugged and plugged in again: by every way, under each policy, as
/// Documentation/sharing.md has it. Nothing is leaked.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct UnplugMatrixTests {
  enum Policy: String, CaseIterable, Sendable {
    case hangUp = "hang-up"
    case keep
  }

  @Test(arguments: SharedLine.Way.allCases, Policy.allCases)
  func anUnplugHangsUpOrKeepsTheClient(way: SharedLine.Way, policy: Policy) async throws {
    if way == .stdio { return try await atStandardStreams(policy) }
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "./acc", "--serial", "A1")
      let line = try await SharedLine(
        box, "./acc", [way], ["--driver", "framed", "--on-unplug", policy.rawValue])
      let client = try await line.connect(way)
      let asking = AskingClient(kind: .af1, number: 1)
      try await expectReply(to: 0, from: asking, over: client)
      let before = (descriptors: line.descriptorCount, threads: line.threadCount)
      try await simulator.stop()
      try await line.said("the accessory is gone", times: 1)
      let old: (any Transport)?
      switch policy {
      case .hangUp:
        // It is disconnected, behind the last byte.
        let ending = try await InputReader(client.input).readToEnd()
        #expect(ending.error?.kind == .disconnected && ending.bytes.isEmpty)
        await client.close()
        if way == .pty {
          try await eventually("no link") { !box.directory.names(in: "").contains("shared") }
        }
        old = nil
      case .keep:
        // What is sent meanwhile is thrown away.
        _ = client.output.offer(try asking.request(1))
        try await Task.sleep(for: .milliseconds(50))
        old = client
      }
      let again = try await box.simulate("--link", "./acc", "--serial", "A1")
      try await line.said(") is open", times: 2)
      if way == .pty, policy == .hangUp {
        try await eventually("the link") { box.directory.names(in: "").contains("shared") }
      }
      let now: any Transport
      if let old { now = old } else { now = try await line.connect(way) }
      try await expectReply(to: 2, from: asking, over: now)
      try await line.settled(descriptors: before.descriptors)
      // The pool has at most eight threads, and makes them as it needs them.
      #expect(line.threadCount <= before.threads + 8)
      await now.close()
      try await line.end()
      try await again.stop()
    }
  }

  private func expectReply(to index: Int, from asking: AskingClient, over client: any Transport) async throws {
    let request = try asking.request(index)
    #expect(client.output.offer(request) == .accepted)
    let reply = try await InputReader(client.input).read(index == 0 ? 22 : request.count)
    #expect(try asking.isReply(reply, to: index))
  }

  private func atStandardStreams(_ policy: Policy) async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "./acc", "--serial", "A1")
      let line = try await SharedLine(
        box, "./acc", [.stdio], ["--driver", "framed", "--on-unplug", policy.rawValue])
      let asking = AskingClient(kind: .af1, number: 1)
      line.type(try asking.request(0))
      try await line.program.transcript.wait { $0.status != nil || $0.output.count >= 22 }
      #expect(try asking.isReply(line.program.transcript.value.output, to: 0))
      let before = line.descriptorCount
      try await simulator.stop()
      switch policy {
      case .hangUp:
        // There is no other endpoint: it ends.
        let ended = try await line.program.end()
        #expect(ended.status == EX_UNAVAILABLE && ended.output.count == 22)
      case .keep:
        try await line.said("the accessory is gone", times: 1)
        line.type(try asking.request(1))
        try await Task.sleep(for: .milliseconds(50))
        let again = try await box.simulate("--link", "./acc", "--serial", "A1")
        try await line.said(") is open", times: 2)
        let request = try asking.request(2)
        line.type(request)
        try await line.program.transcript.wait { $0.status != nil || $0.output.count >= 22 + request.count }
        #expect(try asking.isReply(Array(line.program.transcript.value.output.dropFirst(22)), to: 2))
        try await line.settled(descriptors: before)
        try await line.end()
        try await again.stop()
      }
    }
  }
}
