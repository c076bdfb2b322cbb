// SPDX-License-Identifier: Apache-2.0

import AccessoryLink
import CFloor

/// Bytes in one direction, as fast as they go, in MB/s.
enum StreamBenchmark {
  private struct Size {
    let piece: Int
    /// Megabytes of one round.
    let megabytes: Int
    let requirement: Requirement?
  }

  private static let sizes = [
    Size(piece: 64, megabytes: 16, requirement: nil),
    Size(piece: 1_024, megabytes: 48, requirement: .ratioAtLeast(0.9)),
    Size(piece: 4_096, megabytes: 48, requirement: .ratioAtLeast(0.9)),
  ]

  static func receive(_ options: Options) async throws -> [Row] {
    var rows: [Row] = []
    for size in sizes { rows += try await fromDevice(size, options) }
    return rows
  }

  static func send(_ options: Options) async throws -> [Row] {
    var rows: [Row] = []
    for size in sizes { rows += try await toDevice(size, options) }
    return rows
  }

  private static func total(_ size: Size, _ options: Options) -> Int {
    size.megabytes * 1_000_000 / (options.isQuick ? 4 : 1)
  }

  private static func rounds(_ options: Options) -> Int { options.isQuick ? 3 : 11 }

  private static func fromDevice(_ size: Size, _ options: Options) async throws -> [Row] {
    let total = total(size, options)
    let device = try Device(.source(total: total, piece: size.piece))
    let floor = Contender("C") {
      try device.asCProgram { descriptor in
        try [
          rate(of: total) {
            try device.go()
            try Failure.check(cfloor_host_receive(descriptor, total), "receiving in C")
          }
        ]
      }
    }
    let transport = Contender("\(size.piece) B writes: transport") {
      try await device.withTransport { transport in
        let consumer = InputConsumer(transport.input, expecting: total)
        let start = cfloor_now()
        try device.go()
        try await consumer.finish()
        return [rate(of: total, since: start)]
      }
    }
    let session = Contender("\(size.piece) B writes: session.input") {
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
    let contenders = [transport, session]
    guard size.requirement != nil, SocatPeer.isInstalled else {
      if size.requirement != nil { note("no socat: install it to measure beside it") }
      return try await compare("receive", floor, contenders, size, options)
    }
    let socat = Contender("socat") {
      [rate(of: total, in: try SocatPeer.copy(total, from: device.path) { try device.go() })]
    }
    let figures = try await Rounds.run(rounds(options), [floor, socat] + contenders)
    let beside = Row(
      "receive", session.name, unit: "MB/s", ours: figures[3].map { $0[0] }, peer: "socat",
      theirs: figures[1].map { $0[0] }, requirement: .ratioAtLeast(1))
    return rows("receive", contenders, [figures[0]] + figures[2...], size) + [beside]
  }

  private static func toDevice(_ size: Size, _ options: Options) async throws -> [Row] {
    let total = total(size, options) / size.piece * size.piece
    let device = try Device(.sink(total: total))
    let floor = Contender("C") {
      try device.asCProgram { descriptor in
        try [rate(of: total) { try Failure.check(cfloor_host_send(descriptor, total, size.piece), "sending in C") }]
      }
    }
    let session = Contender("\(size.piece) B writes: session.write") {
      try await device.withTransport { transport in
        let session = AccessorySession(transport)
        let bytes = [UInt8](repeating: 0x55, count: size.piece)
        let start = cfloor_now()
        for _ in 0..<(total / size.piece) { try await session.write(bytes) }
        for try await _ in session.input { break }
        return [rate(of: total, since: start)]
      }
    }
    return try await compare("send", floor, [session], size, options)
  }

  private static func compare(
    _ group: String, _ floor: Contender, _ contenders: [Contender], _ size: Size, _ options: Options
  ) async throws -> [Row] {
    rows(group, contenders, try await Rounds.run(rounds(options), [floor] + contenders), size)
  }

  /// A row for each contender, beside the first of `figures`.
  private static func rows(
    _ group: String, _ contenders: [Contender], _ figures: [[[Double]]], _ size: Size
  ) -> [Row] {
    zip(contenders, figures.dropFirst()).map { contender, ours in
      Row(
        group, contender.name, unit: "MB/s", ours: ours.map { $0[0] }, theirs: figures[0].map { $0[0] },
        requirement: size.requirement)
    }
  }

  private static func rate(of total: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = cfloor_now()
    try body()
    return rate(of: total, since: start)
  }

  private static func rate(of total: Int, since start: Int64) -> Double { rate(of: total, in: cfloor_now() - start) }

  private static func rate(of total: Int, in nanoseconds: Int64) -> Double {
    Double(total) * 1_000 / Double(nanoseconds)
  }
}
