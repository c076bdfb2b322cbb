// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryLink
import CFloor
import FamilyAF1

/// Requests and replies, one at a time, in microseconds: ECHO with 16 bytes.
enum EchoBenchmark {
  private static let payload = [UInt8](0..<16)

  static func run(_ options: Options) async throws -> [Row] {
    let nio = NIOPeer()
    do {
      let rows = try await run(options, nio)
      try await nio.stop()
      return rows
    } catch {
      try? await nio.stop()
      throw error
    }
  }

  private static func run(_ options: Options, _ nio: NIOPeer) async throws -> [Row] {
    let count = options.isQuick ? 2_000 : 5_000
    let rounds = options.isQuick ? 3 : 9
    let device = try Device(.echo)

    let floor = Contender("C") {
      var times = [Int64](repeating: 0, count: count)
      try device.asCProgram { descriptor in
        _ = try Failure.check(cfloor_host_echo(descriptor, payload.count, count, &times), "ECHO in C")
      }
      return summary(times)
    }
    let inline = Contender("transport, on the I/O thread") {
      try await device.withTransport { transport in
        summary(try await EchoClient(transport, payload: payload, count: count, queue: nil).run())
      }
    }
    let queued = Contender("transport, on a dispatch queue") {
      try await device.withTransport { transport in
        summary(
          try await EchoClient(transport, payload: payload, count: count, queue: .init(label: "bench.echo")).run())
      }
    }
    let link = Contender("Link.request") {
      try await device.withTransport { transport in
        let accessory = try await AF1Accessory.open(AccessorySession(transport))
        var times: [Int64] = []
        times.reserveCapacity(count)
        for _ in 0..<count {
          let start = cfloor_now()
          let request = AF1Request(.echo, payload: payload, largestReply: payload.count)
          let reply = try await accessory.link.request(request)
          times.append(cfloor_now() - start)
          guard reply.payload == payload else { throw Failure("the device echoed something else") }
        }
        await accessory.close()
        return summary(times)
      }
    }
    let driver = Contender("AF1Accessory.echo") {
      try await device.withTransport { transport in
        let accessory = try await AF1Accessory.open(AccessorySession(transport))
        var times: [Int64] = []
        times.reserveCapacity(count)
        for _ in 0..<count {
          let start = cfloor_now()
          _ = try await accessory.echo(payload)
          times.append(cfloor_now() - start)
        }
        await accessory.close()
        return summary(times)
      }
    }

    // NIO, used as the loop above is, and as the link is.
    let handler = Contender("NIO, in its handler") {
      let descriptor = try Failure.check(cfloor_host_open(device.path), "opening \(device.path)")
      return summary(try await nio.times(of: count, payload: payload, on: descriptor, asking: .inTheHandler))
    }
    let task = Contender("NIO, asked by a task") {
      let descriptor = try Failure.check(cfloor_host_open(device.path), "opening \(device.path)")
      return summary(try await nio.times(of: count, payload: payload, on: descriptor, asking: .fromATask))
    }

    let contenders = [inline, queued, link, driver]
    let figures = try await Rounds.run(rounds, [floor] + contenders + [handler, task])
    func rows(
      _ index: Int, peer: String = "C", besides peerIndex: Int = 0, _ requirements: [Requirement?] = [nil, nil]
    ) -> [Row] {
      ["median", "p99"].enumerated().map { part, name in
        Row(
          "echo", "\(contenders[index - 1].name): \(name)", unit: "µs", ours: figures[index].map { $0[part] },
          peer: peer, theirs: figures[peerIndex].map { $0[part] }, requirement: requirements[part])
      }
    }
    return rows(1) + rows(2) + rows(3) + rows(4, [.ratioAtMost(4), .ratioAtMost(4)])
      + rows(1, peer: "NIO", besides: 5) + rows(4, peer: "NIO task", besides: 6, [.ratioAtMost(1), nil])
      + rows(4, peer: "NIO", besides: 5)
  }

  private static func summary(_ nanoseconds: [Int64]) -> [Double] {
    let microseconds = nanoseconds.map { Double($0) / 1_000 }
    return [microseconds.median, microseconds.quantile(0.99)]
  }
}
