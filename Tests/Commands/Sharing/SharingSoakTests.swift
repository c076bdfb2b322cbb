// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

/// `bridge` under load: 100,000 requests of ten clients, a minute at full speed, 10,000 connections, 1,000 clients at once. So much
/// with ACCESSORY_BRIDGE_SHARING_SOAK=1, a part of it with a number below; a little without.
@Suite(.timeLimit(.minutes(Patience.minutes(60))), .serialized) struct SharingSoakTests {
  private static let size = getenv("ACCESSORY_BRIDGE_SHARING_SOAK").flatMap { Double(String(cString: $0)) }

  /// The part of `full` that is asked for, or `little`.
  private static func part(of full: Int, orElse little: Int) -> Int {
    size.map { max(little, Int(Double(full) * $0)) } ?? little
  }

  @Test func tenClientsAskEachKindOfAccessory() async throws {
    let total = Self.part(of: 100_000, orElse: 600)
    for kind in AskingClient.Kind.allCases {
      let begin = ContinuousClock.now
      let (wrong, asked) = try await FrameSharingLoad.run(kind, clients: 10, requests: total / 30 + 1)
      #expect(wrong == 0)
      print("sharing soak: \(kind): \(asked) requests of 10 clients in \(ContinuousClock.now - begin), \(wrong) wrong")
    }
  }

  // MARK: - Full speed

  /// Bytes of which every stretch can be told by its place.
  private static let pattern: [UInt8] = {
    var state: UInt32 = 1
    return (0..<(1 << 20)).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
  }()

  /// Whether these bytes are those of the pattern from `place` on.
  private static func isPattern(_ bytes: [UInt8], at place: Int) -> Bool {
    var offset = place % pattern.count
    return bytes.withUnsafeBytes { bytes in
      pattern.withUnsafeBytes { pattern in
        var done = 0
        while done < bytes.count {
          let count = min(bytes.count - done, pattern.count - offset)
          guard memcmp(bytes.baseAddress! + done, pattern.baseAddress! + offset, count) == 0 else { return false }
          (done, offset) = (done + count, 0)
        }
        return true
      }
    }
  }

  /// What was seen of a stream, by one who looks at it as it comes.
  private final class Follower: Sendable {
    private let transport: any Transport
    private let state = Watched((count: 0, isRight: true, isOver: false))

    init(_ transport: any Transport) {
      self.transport = transport
      let (input, state) = (transport.input, state)
      input.onReadable {
        var bytes: [UInt8] = []
        while true {
          switch input.take(into: &bytes) {
          case .bytes:
            let piece = bytes
            state.update { state in
              if !SharingSoakTests.isPattern(piece, at: state.count) { state.isRight = false }
              state.count += piece.count
            }
          case .nothing: return
          case .end: return state.update { $0.isOver = true }
          }
        }
      }
    }

    var count: Int { state.value.count }
    var isRight: Bool { state.value.isRight }
    var isOver: Bool { state.value.isOver }
    func close() async { await transport.close() }
  }

  /// Sends the pattern until it is told to end, never further ahead of those who read than this.
  private static func send(
    to transport: any Transport, lead: Int, behind readers: [Follower], until isOver: Watched<Bool>
  ) async throws -> Int {
    var sent = 0
    while !isOver.value {
      let slowest = readers.map(\.count).min() ?? 0
      let start = sent % pattern.count
      let piece = Array(pattern[start..<min(start + 32_768, pattern.count)])
      guard sent - slowest < lead, transport.output.offer(piece) == .accepted else {
        try await Task.sleep(for: .microseconds(200))
        continue
      }
      sent += piece.count
    }
    return sent
  }

  @Test func readersSeeTheSameAtFullSpeed() async throws {
    try await Sandbox.with { box in
      let device = Watched<DescriptorTransport?>(nil)
      let listener = try SocketListener(at: box.directory.path + "/device") { client in device.update { $0 = client } }
      let line = try await SharedLine(
        box, "unix:./device", [.tcp], ["--by", "bytes", "--buffer", "8M"])
      let accessory = try #require(try await device.wait { $0 != nil })
      var readers: [Follower] = []
      for _ in 0..<3 { readers.append(Follower(try await line.connect(.tcp))) }
      // It never reads, and so does its kernel, soon.
      let dead = try Self.deadClient(line.port)
      let writer = try await line.connect(.tcp)
      readers.append(Follower(writer))
      try await line.program.transcript.wait { $0.errorText.split(separator: "is connected").count > 5 }
      let heard = Follower(accessory)
      let isOver = Watched(false)
      let begin = ContinuousClock.now
      let told = readers
      let sending = Task {
        try await Self.send(to: accessory, lead: 4 << 20, behind: told, until: isOver)
      }
      let writing = Task { try await Self.send(to: writer, lead: 4 << 20, behind: [heard], until: isOver) }
      let seconds = Self.part(of: 60, orElse: 2)
      var memory: [Int] = []
      while ContinuousClock.now - begin < .seconds(seconds) {
        try await Task.sleep(for: .milliseconds(100))
        memory.append(try Soak.status(line.program.pid, "VmRSS"))
      }
      isOver.update { $0 = true }
      let (sent, written) = (try await sending.value, try await writing.value)
      try await eventually("all to be read") { told.allSatisfy { $0.count >= sent } && heard.count >= written }
      #expect(told.allSatisfy { $0.count == sent && $0.isRight && !$0.isOver })
      #expect(heard.count == written && heard.isRight)
      let isCutOff = line.program.transcript.value.errorText.contains("it was too slow")
      if sent > 64 << 20 { #expect(isCutOff) }
      #expect((memory.max() ?? 0) < 256 * 1_024)
      print(
        "sharing soak: in \(seconds) s 4 readers took \(sent >> 20) MiB each, all the same; 1 writer sent \(written >> 20) MiB; "
          + "the stopped one was cut off: \(isCutOff); at most \((memory.max() ?? 0) / 1_024) MiB")
      for reader in told { await reader.close() }
      Glibc.close(dead)
      listener.close()
      try await line.end()
      await accessory.close()
    }
  }

  private static func deadClient(_ port: UInt16) throws -> CInt {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0)
    return descriptor
  }

  // MARK: - Clients

  @Test func clientsComeAndGo() async throws {
    try await Sandbox.with { box in
      let simulator = try box.start(["simulate", "framed", "--link", "./acc"], limit: .seconds(3_000))
      try await simulator.line(containing: " is plugged in at ")
      let line = try await SharedLine(box, "./acc", [.tcp, .unix, .rfc2217], ["--driver", "framed"])
      // One that is there all the time, with half a command of telnet.
      let half = try Self.deadClient(line.telnetPort)
      let command: [UInt8] = [255, 250, 44, 1, 0, 0]
      #expect(write(half, command, command.count) == command.count)
      try await line.said("rfc2217:127.0.0.1", times: 1)
      let before = (descriptors: line.descriptorCount, threads: line.threadCount)
      let count = Self.part(of: 10_000, orElse: 200)
      let begin = ContinuousClock.now
      var wrong = 0
      for index in 0..<count {
        let way: SharedLine.Way = [.tcp, .unix, .rfc2217][index % 3]
        let client = try await line.connect(way)
        // Every tenth asks something, and another tenth goes while it is asked.
        switch index % 10 {
        case 3: wrong += try await AskingClient(kind: .af1, number: index).ask(2, over: client)
        case 6: _ = client.output.offer(try AskingClient(kind: .af1, number: index).request(1))
        default: break
        }
        await client.close()
      }
      #expect(wrong == 0)
      try await line.settled(descriptors: before.descriptors)
      // Dispatch keeps the threads of setup queues for some seconds after their last work.
      try await eventually("the threads end") { line.threadCount <= before.threads + 8 }
      print(
        "sharing soak: \(count) connections in \(ContinuousClock.now - begin); descriptors \(before.descriptors) then "
          + "\(line.descriptorCount), threads \(before.threads) then \(line.threadCount), "
          + "\(try Soak.status(line.program.pid, "VmRSS") / 1_024) MiB")
      close(half)
      try await line.end()
      simulator.signal(SIGINT)
      _ = try await simulator.end()
    }
  }

  @Test func aBridgeServesManyClientsAtOnce() async throws {
    try await Sandbox.with { box in
      let simulator = try box.start(["simulate", "framed", "--link", "./acc"], limit: .seconds(3_000))
      try await simulator.line(containing: " is plugged in at ")
      let line = try await SharedLine(
        box, "./acc", [.tcp], ["--driver", "framed", "--max-clients", "2000"])
      let before = line.descriptorCount
      let count = Self.part(of: 1_000, orElse: 100)
      let begin = ContinuousClock.now
      var clients: [any Transport] = []
      for _ in 0..<count { clients.append(try await line.connect(.tcp)) }
      let connected = ContinuousClock.now - begin
      // All of them at once, three requests each.
      let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
        for (number, client) in clients.enumerated() {
          group.addTask { try await AskingClient(kind: .af1, number: number).ask(3, over: client) }
        }
        return try await group.reduce(0, +)
      }
      #expect(wrong == 0)
      let memory = try Soak.status(line.program.pid, "VmRSS") / 1_024
      try await line.settled(descriptors: before)
      print(
        "sharing soak: \(count) clients at once, connected in \(connected), 3 requests each in "
          + "\(ContinuousClock.now - begin - connected), \(wrong) wrong; \(memory) MiB")
      try await line.end()
      simulator.signal(SIGINT)
      _ = try await simulator.end()
    }
  }
}
