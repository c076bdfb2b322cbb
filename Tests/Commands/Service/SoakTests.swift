// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

/// The service with everything against it at once: events from three accessories as fast as they come, 128 clients that
/// never read, and a standard error that nobody reads. For ACCESSORY_BRIDGE_SOAK_SECONDS, or a few seconds without.
@Suite(.timeLimit(.minutes(Patience.minutes(60)))) struct SoakTests {
  /// Clients that never read.
  private static let lazyCount = 128
  /// What the service's unit allows it (`MemoryMax=`), in KiB.
  private static let mostMemory = 192 * 1_024
  /// Threads that the service may have.
  private static let mostThreads = 32

  /// A client that asks for all that happens and reads nothing of it.
  private final class LazyClient {
    let descriptor: CInt

    init(_ path: String, _ method: String) throws {
      let socket = try UnixSocket.create(blocking: true)
      descriptor = socket.rawValue
      try UnixSocket.connect(socket, to: path)
      let call =
        #"{"method":"accessorybridge.Bridge.\#(method)","parameters":{\#(method == "Trace" ? #""device":"S1""# : "")},"more":true}"#
      _ = try? Socket.send((Array(call.utf8) + [0])[...], to: socket)
    }

    deinit { close(descriptor) }

    /// The service has disconnected it.
    var isCutOff: Bool {
      var entry = pollfd(fd: descriptor, events: 0, revents: 0)
      return poll(&entry, 1, 0) == 1 && CInt(entry.revents) & (POLLHUP | POLLERR) != 0
    }
  }

  /// What was measured at a moment.
  private struct Sample {
    var memory: Int
    var threads: Int
    var answer: Duration
  }

  @Test func aServiceBearsFloodsAndUnreadOutput() async throws {
    try await Sandbox.with { box in
      #expect(mkfifo(box.directory.path + "/unread", 0o600) == 0)
      let duration = Duration.seconds(Soak.seconds ?? 4)
      let service = try box.start(
        ["serve", "--log-level", "debug"],
        prefix: ["sh", "-c", "exec 2<>unread; dd if=/dev/zero bs=4096 count=16 status=none >&2; exec \"$@\"", "sh"],
        limit: duration + .seconds(120))
      try await eventually("the service", within: .seconds(60)) {
        exists(box.runtime.path + "/accessory-bridge/simulated") && exists(box.socket)
      }
      var simulators: [AF1Simulator] = []
      for number in 1...3 {
        var configuration = AF1Simulator.Configuration(seed: UInt64(number))
        configuration.announcementDirectory = box.runtime.path + "/accessory-bridge/simulated"
        configuration.device.identity.serialNumber = "S\(number)"
        simulators.append(AF1Simulator(configuration))
        try await simulators.last?.plugIn()
      }
      try await Self.attached(box, 3)
      let isOver = Watched(false)
      let told = Watched(0)
      let floods = simulators.map { simulator in
        Task {
          var count = 0
          while !isOver.value {
            for _ in 0..<64 {
              count += 1
              await simulator.setBattery(
                AF1BatteryReply(level: .normal, percent: UInt8(count % 100), millivolts: 3_700, charge: .discharging))
            }
            // As much as the line takes.
            try? await Task.sleep(for: .milliseconds(2))
          }
          told.update { [count] in $0 += count }
        }
      }
      let samples = try await crowd(box, service, until: ContinuousClock.now + duration)
      isOver.update { $0 = true }
      for flood in floods { await flood.value }
      report(samples.samples, cutOff: samples.cutOff, told: told.value)
      judge(samples.samples)
      for simulator in simulators { await simulator.stop() }
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }
  }

  private static func attached(_ box: Sandbox, _ count: Int) async throws {
    try await eventually("\(count) accessories", within: .seconds(60)) {
      let client = try? await ControlClient.connect(to: box.socket)
      let list = try? await client?.call(Bridge.List()).accessories
      return (list ?? []).count(where: { $0.state == .attached }) == count
    }
  }

  /// Keeps the service surrounded by clients that never read, and measures.
  private func crowd(
    _ box: Sandbox, _ service: Program, until end: ContinuousClock.Instant
  ) async throws -> (samples: [Sample], cutOff: Int) {
    var lazy: [LazyClient] = []
    for number in 0..<Self.lazyCount {
      lazy.append(try LazyClient(box.socket, number.isMultiple(of: 2) ? "Subscribe" : "Trace"))
    }
    var samples: [Sample] = []
    var cutOff = 0
    while ContinuousClock.now < end {
      for index in lazy.indices where lazy[index].isCutOff {
        cutOff += 1
        lazy[index] = try LazyClient(box.socket, index.isMultiple(of: 2) ? "Subscribe" : "Trace")
      }
      let begin = ContinuousClock.now
      let list = try await ControlClient.connect(to: box.socket).call(Bridge.List(), timeout: .seconds(60))
      let answer = ContinuousClock.now - begin
      #expect(list.accessories.count == 3)
      samples.append(
        Sample(
          memory: try Soak.status(service.pid, "VmRSS"), threads: try Soak.status(service.pid, "Threads"),
          answer: answer))
      try await Task.sleep(for: .milliseconds(100))
    }
    return (samples, cutOff)
  }

  private func report(_ samples: [Sample], cutOff: Int, told: Int) {
    let parts = Soak.quarters(samples.map(\.memory)).map { "\($0 / 1_024) MiB" }.joined(separator: ", ")
    print(
      "soak: \(samples.count) lists, the slowest after \(samples.map(\.answer).max() ?? .zero); at most "
        + "\(samples.map(\.threads).max() ?? 0) threads and \((samples.map(\.memory).max() ?? 0) / 1_024) MiB; median "
        + "by quarters \(parts); \(told) events said, \(cutOff) clients disconnected")
  }

  private func judge(_ samples: [Sample]) {
    #expect(!ThisProcess.ownMemoryIsTelling || samples.allSatisfy { $0.memory < Self.mostMemory })
    // On a machine that is busy with other tests nothing of this is said of.
    guard Soak.seconds != nil else { return }
    #expect(samples.allSatisfy { $0.answer < .seconds(1) })
    #expect(samples.allSatisfy { $0.threads <= Self.mostThreads })
    Soak.expectNoGrowth(samples.map(\.memory))
  }
}
