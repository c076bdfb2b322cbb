// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

/// Whole commands, with the library that they are shipped with, against somebody who answers in a broker's place. However they end, they
/// end by themselves.
@Suite(.timeLimit(.minutes(Patience.minutes(60)))) struct HostilePacketTests {
  private let directory: TemporaryDirectory
  private let machine: TestGateway

  init() throws {
    directory = try TemporaryDirectory()
    machine = try TestGateway("attic", directory: directory)
  }

  /// So many commands run at a time.
  private static let width = 4

  /// Every kind of packet with bodies that may be properties of MQTT 5, of which one is unknown, before and after CONNACK.
  private static let packets: [[UInt8]] = {
    let types: [UInt8] = [0x20, 0x30, 0x32, 0x34, 0x40, 0x62, 0x90, 0xB0, 0xE0, 0xE2, 0xF0, 0xF2]
    let bodies: [[UInt8]] = [
      [], [0x00], [0x00, 0x00], [0x00, 0x01, 0x00, 0x00], [0x00, 0x00, 0x01, 0x00],
      [0x00, 0x07, 0x00, 0x02, 0x7F, 0x00],
      [0x18, 0x05, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], [0x00, 0x01, 0x74, 0x00, 0x07, 0x03, 0x26, 0xFF, 0xFF],
    ]
    return types.flatMap { type in
      bodies.flatMap { body in
        let packet = [type, UInt8(body.count)] + body
        return [packet, HostileBroker.accepts + packet]
      }
    }
  }()

  /// Runs a command against a broker to its end, or until it has lost the connection; expects that no signal ends it.
  private func run(_ words: [String], _ bytes: [UInt8], _ broker: HostileBroker) async throws {
    let program = try machine.start("bridge-fleet", words + ["--broker", broker.address])
    let isPublisher = words.first == "publish"
    _ = try await program.transcript.wait { $0.status != nil || isPublisher && $0.errorText.contains("the next try") }
    if isPublisher { program.signal(SIGTERM) }
    let end = try await program.end()
    #expect((end.status ?? -1) >= 0, "\(words) \(Hexadecimal.string(bytes)): \(end.status ?? 0) \(end.errorText)")
  }

  /// No packet ends a command by a signal.
  @Test func noPacketCrashesACommand() async throws {
    #expect(Self.packets.count == 192)
    try await inParallel(Self.packets) { bytes in
      try await run(["list", "--timeout", "2s"], bytes, HostileBroker(bytes))
    }
  }

  /// No command is ended by one, also where a configuration still asks for MQTT 5.
  @Test func unknownPacketsCrashNoCommand() async throws {
    let unknown: [[UInt8]] = [[0xE0, 0x04, 0x00, 0x01, 0x00, 0x00], [0xF0, 0x04, 0x00, 0x01, 0x00, 0x00]]
    let commands = [
      ["publish", "--gateway", "attic", "--socket", "no.socket"], ["battery", "--timeout", "2s"],
      ["watch", "--timeout", "2s"], ["status", "X", "--timeout", "2s"], ["values", "X", "--timeout", "2s"],
      ["request", "X", "beep", "--timeout", "2s"], ["list", "--timeout", "2s", "--mqtt-version", "5"],
    ]
    let cases = commands.flatMap { words in unknown.flatMap { [(words, $0), (words, HostileBroker.accepts + $0)] } }
    try await inParallel(cases) { words, bytes in try await run(words, bytes, HostileBroker(bytes)) }
  }

  /// A packet of 250 MB leaves those who look small, too, and they say what ends the connection.
  @Test func aHugePacketLeavesAViewerSmall() async throws {
    let head: [UInt8] = [0x30, 0x80, 0xE5, 0x9A, 0x77, 0x00, 0x01, UInt8(ascii: "t")]
    let broker = try HostileBroker(HostileBroker.accepts + head, flooding: [0x55])
    let program = try machine.start(
      "bridge-fleet", ["list", "--timeout", "5s", "--broker", broker.address], limit: .seconds(60))
    _ = try await broker.sent.wait { $0 > 16 << 20 }
    let peak = Watched<UInt64>(0)
    let looking = Task {
      while !Task.isCancelled {
        let memory = UInt64(ProcessMemory.anonymous(of: program.pid))
        peak.update { $0 = max($0, memory) }
        usleep(2_000)
      }
    }
    let end = try await program.end()
    looking.cancel()
    #expect(end.errorText.contains("sends a packet of more than 16777216 bytes"), "\(end.errorText)")
    // The library keeps twice what it has received; all of it would be 477 MiB.
    #expect(!ThisProcess.ownMemoryIsTelling || peak.value < 64 << 20, "\(peak.value >> 20) MiB")
  }

  /// A flood of anything leaves a publisher small, and it ends when it is told to.
  @Test(
    arguments: [
      HostileBroker.accepts, [0x40, 0x02, 0x00, 0x07], [0xD0, 0x00], [0x90, 0x03, 0x00, 0x07, 0x00],
      [0xC0, 0x00], [0x50, 0x02, 0x00, 0x07], [0x32, 0x06, 0x00, 0x01, 0x74, 0x00, 0x07, 0x58],
      [0x34, 0x06, 0x00, 0x01, 0x74, 0x00, 0x07, 0x58], [0x30, 0x04, 0x00, 0x01, 0x74, 0x58],
    ] as [[UInt8]], [true, false])
  func aFloodLeavesAPublisherSmall(piece: [UInt8], reads: Bool) async throws {
    let broker = try HostileBroker(HostileBroker.accepts, flooding: piece, reads: reads)
    // The limit is for one that hangs: it needs milliseconds.
    let program = try machine.start(
      "bridge-fleet", ["publish", "--gateway", "attic", "--socket", "no.socket", "--broker", broker.address],
      limit: .seconds(30))
    // It reads on, or has given the broker up, or has stopped reading.
    try? await firstOf(.seconds(3)) { try await broker.sent.wait { $0 > 24 << 20 } }
    let memory = ProcessMemory.anonymous(of: program.pid)
    program.signal(SIGTERM)
    let end = try await program.end()
    #expect(end.status == 0, "\(end.errorText)")
    #expect(!ThisProcess.ownMemoryIsTelling || memory < 48 << 20, "\(Hexadecimal.string(piece)): \(memory >> 20) MiB")
  }

  /// Random packets, for ACCESSORY_BRIDGE_FUZZ_SECONDS or a few seconds without; ACCESSORY_BRIDGE_FUZZ_SEED chooses others.
  @Test func randomPacketsCrashNoCommand() async throws {
    func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }
    let seconds = number("ACCESSORY_BRIDGE_FUZZ_SECONDS") ?? 3
    let seed = UInt64(clamping: number("ACCESSORY_BRIDGE_FUZZ_SEED") ?? 1)
    print("a hostile broker: seed \(seed), \(seconds) s")
    let end = ContinuousClock.now + .seconds(seconds)
    let tally = Watched(0)
    try await inParallel(0..<Self.width) { worker in
      var round: UInt64 = 0
      while ContinuousClock.now < end {
        var numbers = SeededGenerator(seed: seed &* 1_000_003 &+ round &* 17 &+ UInt64(worker))
        let bytes = RandomPackets.connection(&numbers)
        let words = [
          ["list", "--timeout", "1s"], ["battery", "X", "--timeout", "1s"],
          ["publish", "--gateway", "attic", "--socket", "no.socket"],
          ["request", "attic:X", "beep", "--timeout", "1s"],
        ][Int(round % 4)]
        try await run(words, bytes, HostileBroker(bytes))
        tally.update { $0 += 1 }
        round += 1
      }
    }
    print("a hostile broker: \(tally.value) connections")
    #expect(tally.value > 0)
  }

  /// Runs `body` for all values, some at a time.
  private func inParallel<Value: Sendable>(
    _ values: some Sequence<Value>, _ body: @escaping @Sendable (Value) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, value) in values.enumerated() {
        if index >= Self.width { try await group.next() }
        group.addTask { try await body(value) }
      }
      try await group.waitForAll()
    }
  }

  /// The result of `body`; throws when it takes longer.
  private func firstOf(_ limit: Duration, _ body: @escaping @Sendable () async throws -> some Sendable) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { _ = try await body() }
      group.addTask {
        try await Task.sleep(for: limit)
        throw CancellationError()
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

/// What a broker might send to a client on one connection: mostly packets that are nearly right.
private enum RandomPackets {
  static func connection(_ numbers: inout SeededGenerator) -> [UInt8] {
    var bytes = Bool.random(using: &numbers) || Bool.random(using: &numbers) ? HostileBroker.accepts : []
    for _ in 0..<Int.random(in: 1...40, using: &numbers) { bytes += packet(&numbers) }
    return bytes
  }

  private static func packet(_ numbers: inout SeededGenerator) -> [UInt8] {
    let type = UInt8.random(in: 1...15, using: &numbers)
    let flags: UInt8 = Bool.random(using: &numbers) ? [0, 0, 2][Int(numbers.next() % 3)] : UInt8(numbers.next() & 0x0F)
    var body: [UInt8]
    switch type {
    case 3:
      let topics = [
        "accessory-bridge/attic/availability", "accessory-bridge/attic/X/state", "accessory-bridge/attic/X/beep/set",
        "homeassistant/status", "homeassistant/device/attic/X/config", "",
      ]
      let topic = Array(topics[Int(numbers.next() % 6)].utf8)
      body = [0, UInt8(topic.count)] + topic
      if flags & 0x06 != 0 { body += number(&numbers) }
      body += Bool.random(using: &numbers) ? Array("online".utf8) : noise(&numbers)
    case 9: body = number(&numbers) + noise(&numbers).prefix(3)
    case 4...7, 11: body = number(&numbers) + (numbers.next() % 4 == 0 ? noise(&numbers) : [])
    default: body = noise(&numbers)
    }
    var length = body.count
    if numbers.next() % 16 == 0 { length = Int(numbers.next() % 70_000) }
    var header = [type << 4 | flags]
    repeat {
      header.append(UInt8(length % 128) | (length >= 128 ? 0x80 : 0))
      length /= 128
    } while length > 0
    return header + body
  }

  private static func number(_ numbers: inout SeededGenerator) -> [UInt8] { [0, UInt8(numbers.next() % 12)] }

  private static func noise(_ numbers: inout SeededGenerator) -> [UInt8] {
    (0..<Int(numbers.next() % 24)).map { _ in
      Bool.random(using: &numbers) ? UInt8(numbers.next() & 3) : UInt8(numbers.next() & 255)
    }
  }
}

/// How much memory a process has.
enum ProcessMemory {
  /// Its anonymous memory in bytes; 0 for one that is gone.
  static func anonymous(of process: pid_t) -> Int {
    let descriptor = open("/proc/\(process)/status", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return 0 }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 8_192)
    let count = read(descriptor, &buffer, buffer.count)
    let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return (line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
  }
}
