// SPDX-License-Identifier: Apache-2.0

import AccessoryLink
import AccessoryProtocols
import CFloor
import ExternalAccessory

/// ExternalAccessory's streams with their delegate on the main run loop, and the Swift-native face of the same session.
enum ExternalAccessoryBenchmark {
  private static let payload = [UInt8](0..<64)
  private static let piece = 4_096

  static func run(_ options: Options) async throws -> [Row] {
    try await echo(options) + receive(options) + send(options) + jitter(options)
  }

  private static func rounds(_ options: Options) -> Int { options.isQuick ? 3 : 9 }
  private static func total(_ options: Options) -> Int { (options.isQuick ? 3_000 : 11_000) * piece }

  // MARK: - Round trips

  private static func echo(_ options: Options) async throws -> [Row] {
    let count = options.isQuick ? 2_000 : 5_000
    let device = try Device(.echo)
    let path = device.path
    let floor = Contender("C") {
      var times = [Int64](repeating: 0, count: count)
      try device.asCProgram { descriptor in
        _ = try Failure.check(cfloor_host_echo(descriptor, payload.count, count, &times), "ECHO in C")
      }
      return summary(times)
    }
    let delegate = Contender("64 B echo, delegate on RunLoop.main") {
      summary(
        try await OpenedAccessory.onMain(path) { accessory in
          let client = EchoDelegate(payload: payload, count: count)
          try accessory.run(client)
          return client.times
        })
    }
    let native = Contender("64 B echo, session.write and session.input") {
      try await device.withTransport { transport in summary(try await nativeEcho(AccessorySession(transport), count)) }
    }
    let figures = try await Rounds.run(rounds(options), [floor, delegate, native])
    func rows(_ name: String, _ ours: [[Double]], _ requirements: [Requirement?]) -> [Row] {
      ["median", "p99"].enumerated().map { part, title in
        Row(
          "ea", "\(name): \(title)", unit: "µs", ours: ours.map { $0[part] }, theirs: figures[0].map { $0[part] },
          requirement: requirements[part])
      }
    }
    return rows(delegate.name, figures[1], [.ratioAtMost(4), .ratioAtMost(6)])
      + rows(native.name, figures[2], [.ratioAtMost(2.5), nil])
  }

  private static func nativeEcho(_ session: AccessorySession, _ count: Int) async throws -> [Int64] {
    var echo = EchoState(payload: payload)
    var iterator = session.input.makeAsyncIterator()
    while echo.times.count < count {
      try await session.write(echo.nextRequest())
      while !echo.isAnswered, let bytes = try await iterator.next() { try echo.take(bytes.span.bytes) }
    }
    return echo.times
  }

  // MARK: - Bytes in one direction

  private static func receive(_ options: Options) async throws -> [Row] {
    let total = total(options)
    let device = try Device(.source(total: total, piece: piece))
    let (path, go) = (device.path, device.starter)
    let floor = Contender("C") {
      try device.asCProgram { descriptor in
        let start = cfloor_now()
        try device.go()
        try Failure.check(cfloor_host_receive(descriptor, total), "receiving in C")
        return [rate(of: total, since: start)]
      }
    }
    let delegate = Contender("4 KiB writes received, delegate on RunLoop.main") {
      try await OpenedAccessory.onMain(path) { accessory in
        let start = cfloor_now()
        try go()
        try accessory.run(ReceivingDelegate(expecting: total))
        return [rate(of: total, since: start)]
      }
    }
    let native = Contender("4 KiB writes received, session.input") {
      try await device.withTransport { transport in
        let session = AccessorySession(transport)
        let start = cfloor_now()
        try device.go()
        var left = total
        for try await piece in session.input {
          left -= piece.count
          if left <= 0 { break }
        }
        return [rate(of: total, since: start)]
      }
    }
    return try await compare(floor, delegate, native, options)
  }

  private static func send(_ options: Options) async throws -> [Row] {
    let total = total(options)
    let device = try Device(.sink(total: total))
    let path = device.path
    let floor = Contender("C") {
      try device.asCProgram { descriptor in
        let start = cfloor_now()
        try Failure.check(cfloor_host_send(descriptor, total, piece), "sending in C")
        return [rate(of: total, since: start)]
      }
    }
    let delegate = Contender("4 KiB writes sent, delegate on RunLoop.main") {
      try await OpenedAccessory.onMain(path) { accessory in
        let start = cfloor_now()
        try accessory.run(SendingDelegate(total: total, piece: piece))
        return [rate(of: total, since: start)]
      }
    }
    let native = Contender("4 KiB writes sent, session.write") {
      try await device.withTransport { transport in
        let session = AccessorySession(transport)
        let bytes = [UInt8](repeating: 0x55, count: piece)
        let start = cfloor_now()
        for _ in 0..<(total / piece) { try await session.write(bytes) }
        for try await _ in session.input { break }
        return [rate(of: total, since: start)]
      }
    }
    return try await compare(floor, delegate, native, options)
  }

  private static func compare(
    _ floor: Contender, _ delegate: Contender, _ native: Contender, _ options: Options
  ) async throws -> [Row] {
    let figures = try await Rounds.run(rounds(options), [floor, delegate, native])
    return [(delegate, 1, 0.6), (native, 2, 0.85)].map { contender, index, share in
      Row(
        "ea", contender.name, unit: "MB/s", ours: figures[index].map { $0[0] }, theirs: figures[0].map { $0[0] },
        requirement: .ratioAtLeast(share))
    }
  }

  // MARK: - A timer beside them

  /// How far the intervals of a 1 kHz timer are from 1 ms, on a main run loop that has nothing else to do and on one
  /// whose streams carry 10 MB/s.
  private static func jitter(_ options: Options) async throws -> [Row] {
    let ticks = options.isQuick ? 500 : 2_000
    let device = try Device(.source(total: 10_000, piece: piece))
    let (path, go) = (device.path, device.starter)
    let idle = Contender("idle") { summary(await MainActor.run { TimerJitter.measure(ticks) }) }
    let busy = Contender("1 kHz timer beside 10 MB/s, deviation") {
      try await OpenedAccessory.onMain(path) { accessory in
        let pacer = Pacer { try? go() }
        defer { pacer.stop() }
        let client = ReceivingDelegate(expecting: .max)
        try accessory.start(client)
        let start = cfloor_now()
        let deviations = TimerJitter.measure(ticks)
        return summary(deviations) + [rate(of: client.received, since: start)]
      }
    }
    let figures = try await Rounds.run(options.isQuick ? 1 : 3, [idle, busy])
    return ["median", "p99"].enumerated().map { part, title in
      Row(
        "ea", "\(busy.name): \(title)", unit: "µs", ours: figures[1].map { $0[part] }, peer: "idle loop",
        theirs: figures[0].map { $0[part] })
    } + [Row("ea", "bytes that passed meanwhile", unit: "MB/s", ours: figures[1].map { $0[2] })]
  }

  private static func rate(of total: Int, since start: Int64) -> Double {
    Double(total) * 1_000 / Double(cfloor_now() - start)
  }

  private static func summary(_ nanoseconds: [Int64]) -> [Double] {
    let microseconds = nanoseconds.map { Double($0) / 1_000 }
    return [microseconds.median, microseconds.quantile(0.99)]
  }
}
