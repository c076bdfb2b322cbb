// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `bridge-cli bridge` beside the programs that people use for the same: socat and ser2net, each in a process of its own, at a
/// pseudo-terminal of its own.
enum SharingBenchmark {
  private static let total = 16 << 20

  static func run(_ options: Options) async throws -> [Row] {
    let cli = options.cliPath
    guard access(cli, X_OK) == 0 else {
      note("no \(cli): build it with `swift build -c release --static-swift-stdlib --product bridge-cli`")
      return []
    }
    let peers = try SharingPeers(cli)
    var rows: [Row] = []
    rows += try await network(options, peers)
    rows += try await terminals(options, peers)
    rows += try await settings(options, peers)
    rows += try await frames(options, peers)
    rows += try await crowd(options, peers)
    return rows
  }

  /// A program, its device and a connection to it.
  private struct Seat {
    let program: SharingProcess
    let device: SharedTerminal
    let client: CInt

    init?(_ start: (String) throws -> SharingProcess?) throws {
      device = try SharedTerminal()
      guard let program = try start(device.path) else { return nil }
      self.program = program
      client = try program.connect()
      // What it has opened passes bytes by then.
      for _ in 0..<20 { _ = try Bytes.roundTrip(1, client: client, device: device.master) }
    }

    func stop() {
      close(client)
      program.stop()
    }

    /// MB/s in, processor time by MB, MB/s out, median of the round trips in µs.
    func measure(_ total: Int, roundTrips: Int) throws -> [Double] {
      let before = program.processorTime
      let receiving = try Bytes.time(total, from: device.master, to: client, piece: 4_096)
      let between = program.processorTime
      let sending = try Bytes.time(total, from: client, to: device.master, piece: 4_096)
      let roundTrip = try Bytes.roundTrip(roundTrips, client: client, device: device.master)
      let megabytes = Double(total) / 1e6
      return [
        megabytes / receiving * 1e9, (between - before) / 1e3 / megabytes, megabytes / sending * 1e9, roundTrip / 1e3,
      ]
    }
  }

  private static func compare(
    _ options: Options, _ what: String, _ starts: [(String) throws -> SharingProcess?]
  ) async throws -> [Row] {
    let seats = try starts.compactMap { try Seat($0) }
    defer { seats.forEach { $0.stop() } }
    let (total, trips) = options.isQuick ? (total / 4, 200) : (total, 1_000)
    let contenders = seats.map { seat in Contender(seat.program.name) { try seat.measure(total, roundTrips: trips) } }
    let figures = try await Rounds.run(options.isQuick ? 8 : 16, contenders)
    var rows: [Row] = []
    for (index, seat) in seats.enumerated().dropFirst() {
      func row(_ name: String, _ unit: String, _ column: Int, _ requirement: Requirement) -> Row {
        Row(
          "sharing", "\(what): \(name)", unit: unit, ours: figures[0].map { $0[column] }, peer: seat.program.name,
          theirs: figures[index].map { $0[column] }, requirement: requirement)
      }
      rows += [
        row("from the device, 4 KiB writes", "MB/s", 0, .ratioAtLeast(1)),
        row("processor time by MB of that", "µs", 1, .ratioAtMost(1)),
        row("to the device, 4 KiB writes", "MB/s", 2, .ratioAtLeast(1)),
        row("16 bytes there and back", "µs", 3, .ratioAtMost(1)),
      ]
    }
    return rows
  }

  private static func network(_ options: Options, _ peers: SharingPeers) async throws -> [Row] {
    try await compare(
      options, "terminal to TCP",
      [
        { try peers.ours($0, "--tcp") }, { try peers.socat($0) }, { try peers.ser2net($0, "tcp") },
      ])
  }

  private static func terminals(_ options: Options, _ peers: SharingPeers) async throws -> [Row] {
    try await compare(
      options, "terminal to terminal", [{ try peers.oursToTerminal($0) }, { try peers.socatToTerminal($0) }])
  }

  /// The time of SET-BAUDRATE and its answer, µs.
  private static func settings(_ options: Options, _ peers: SharingPeers) async throws -> [Row] {
    let devices = (try SharedTerminal(), try SharedTerminal())
    let ours = try peers.ours(devices.0.path, "--rfc2217")
    defer { ours.stop() }
    guard let theirs = try peers.ser2net(devices.1.path, "telnet(rfc2217),tcp") else { return [] }
    defer { theirs.stop() }
    let contenders = try [ours, theirs].map { program in
      let client = try PortClient(try program.connect())
      return Contender(program.name) { [try client.measure(options.isQuick ? 100 : 500)] }
    }
    let figures = try await Rounds.run(options.isQuick ? 8 : 16, contenders)
    return [
      Row(
        "sharing", "RFC 2217: SET-BAUDRATE and its answer", unit: "µs", ours: figures[0].map { $0[0] },
        peer: theirs.name, theirs: figures[1].map { $0[0] }, requirement: .ratioAtMost(1))
    ]
  }

  /// The time of an AF1 request and its reply, µs: what routing by frames costs beside passing bytes on.
  private static func frames(_ options: Options, _ peers: SharingPeers) async throws -> [Row] {
    let (ours, bytes) = (try SharedFrames(peers, by: "frames"), try SharedFrames(peers, by: "bytes"))
    defer {
      ours.stop()
      bytes.stop()
    }
    let contenders = [ours, bytes].map { one in
      Contender(one.name) { [try one.measure(options.isQuick ? 200 : 1_000)] }
    }
    let figures = try await Rounds.run(options.isQuick ? 8 : 16, contenders)
    return [
      Row(
        "sharing", "AF1 ECHO of 16 bytes there and back, by frames", unit: "µs", ours: figures[0].map { $0[0] },
        peer: "bridge-cli by bytes", theirs: figures[1].map { $0[0] })
    ]
  }

  /// A hundred readers of one device: until the last has a piece, what that costs, and what it costs when nothing passes.
  private static func crowd(_ options: Options, _ peers: SharingPeers) async throws -> [Row] {
    let seat = try Seat { try peers.ours($0, "--tcp") }
    guard let seat else { return [] }
    defer { seat.stop() }
    let memory = seat.program.memory
    var clients = [seat.client]
    defer { for client in clients.dropFirst() { close(client) } }
    while clients.count < 100 { clients.append(try seat.program.connect()) }
    // Threads that opened and accepted end after five seconds without work.
    sleep(6)
    let seconds: UInt32 = options.isQuick ? 2 : 10
    let waits = seat.program.waits
    sleep(seconds)
    // Threads that ended meanwhile, for want of work, took their counts with them.
    let idle = seat.program.waits.reduce(0) { sum, thread in sum + thread.value - (waits[thread.key] ?? 0) }
    var times: [Double] = []
    for _ in 0..<(options.isQuick ? 50 : 200) {
      let start = Bytes.now()
      Bytes.send(1_024, to: seat.device.master, piece: 1_024)
      for client in clients { try Bytes.receive(1_024, from: client) }
      times.append((Bytes.now() - start) / 1e3)
      usleep(2_000)
    }
    return [
      Row("sharing", "1 KiB to 100 clients, until the last has it", unit: "µs", ours: times),
      Row("sharing", "memory of 100 clients", unit: "KiB", ours: [seat.program.memory - memory]),
      Row(
        "sharing", "100 clients, nothing passes, in \(seconds) s", unit: "wake-ups", ours: [idle],
        requirement: .atMost(0)),
    ]
  }
}
