// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessorySimulator
import FamilyMAVLink
import FamilyMAVLinkSimulator
import Glibc
import TestSupport
import Testing

/// Six accessories of different kinds under a service, on bad lines, pulled and plugged in again at random, and charged and
/// discharged meanwhile: what the service tells of them is what was true at that time. For ACCESSORY_BRIDGE_SOAK_SECONDS,
/// or a few seconds without.
@Suite(.timeLimit(.minutes(Patience.minutes(90)))) struct PowerSoakTests {
  private static let kinds = ["jbd", "daly", "vedirect", "epever", "pi30", "mavlink"]
  /// How often the service asks those that don't tell by themselves.
  private static var poll: Duration { Soak.seconds == nil ? .seconds(2) : .seconds(20) }
  /// How long the batteries stay as full as they are. Less than a reading may be old that is still right.
  private static let step = Duration.seconds(7)
  /// How old a reading may be beyond the age that is told: what an accessory sends by itself counts for 10 s, and a poll
  /// on a bad line takes a few.
  private static let slack = Duration.seconds(25)

  /// A pretended accessory of any kind.
  private struct Pretended: Sendable {
    let serial: String
    let plugIn: @Sendable () async throws -> Void
    let unplug: @Sendable () async -> Void
    let fill: @Sendable (Int) async -> Void
    let stop: @Sendable () async -> Void

    init<Device: SerialDevice>(
      _ device: Device, _ serial: String, seed: UInt64, in directory: String,
      fill: @escaping @Sendable (inout Device, Int) -> Void
    ) {
      var configuration = SerialSimulator<Device>.Configuration(device, seed: seed)
      configuration.announcementDirectory = directory
      configuration.faults.drop = 0.02
      configuration.faults.corrupt = 0.02
      let simulator = SerialSimulator(configuration)
      self.serial = serial
      plugIn = { try await simulator.plugIn() }
      unplug = { await simulator.unplug() }
      self.fill = { percent in await simulator.change { fill(&$0, percent) } }
      stop = { await simulator.stop() }
    }
  }

  private static func pretend(_ kind: String, _ number: Int, in directory: String) throws -> Pretended {
    let serial = "P\(number)\(kind)"
    if kind == "mavlink" {
      var configuration = MAVLinkDevice.Configuration()
      configuration.serialNumber = serial
      configuration.garbage = 0.1
      configuration.split = 0.1
      return Pretended(MAVLinkDevice(configuration), serial, seed: UInt64(number), in: directory) {
        $0.configuration.percent = $1
      }
    }
    let described = try #require(DescriptionLibrary.builtIn.described(kind))
    let device = try DescribedDevice(described.description, serialNumber: serial)
    return Pretended(device, serial, seed: UInt64(number), in: directory) { $0.set(percent: $1) }
  }

  /// How full all batteries have been, and since when.
  private struct Truth: Sendable {
    private var past: [(since: ContinuousClock.Instant, percent: Int)] = []

    /// How full they are by now: each time something else, and what was before only after minutes.
    mutating func next(_ now: ContinuousClock.Instant) -> Int {
      let percent = 20 + (past.last.map { $0.percent - 20 + 1 } ?? 0) % 70
      past.append((now, percent))
      if past.count > 60 { past.removeFirst() }
      return percent
    }

    /// Whether they have been so full at a time since then.
    func was(_ percent: Int, since begin: ContinuousClock.Instant) -> Bool {
      past.indices.contains { index in
        past[index].percent == percent && (index == past.count - 1 || past[index + 1].since >= begin)
      }
    }
  }

  /// What was seen.
  private struct Tally: Sendable {
    var events = 0
    var answers = 0
    var refusals = 0
    var unplugs = 0
    var staleLists = 0
    var wrong: [String] = []
    var memory: [Int] = []
    var threads = 0
  }

  @Test func whatIsToldIsTrue() async throws {
    try await Sandbox.with { box in
      let duration = Duration.seconds(Soak.seconds ?? 15)
      let service = try box.start(
        ["serve", "--poll", Self.poll.text, "--reconnect-tries", "forever", "--retry-tries", "forever"],
        limit: duration + .seconds(300))
      try await service.errors(containing: "looking for accessories")
      let directory = box.runtime.path + "/accessory-bridge/simulated"
      try await eventually("the directory", within: .seconds(60)) { exists(directory) && exists(box.socket) }
      let all = try Self.kinds.enumerated().map { try Self.pretend($1, $0 + 1, in: directory) }
      let truth = Watched(Truth())
      let tally = Watched(Tally())
      let first = truth.update { $0.next(.now) }
      for one in all {
        await one.fill(first)
        try await one.plugIn()
      }
      let listener = try await Self.listen(box, truth, tally)
      let end = ContinuousClock.now + duration
      try await withThrowingTaskGroup { group in
        group.addTask { try await Self.charge(all, truth, until: end) }
        group.addTask { try await Self.pull(all, tally, until: end) }
        group.addTask { try await Self.ask(box, service.pid, truth, tally, until: end) }
        try await group.waitForAll()
      }
      listener.cancel()
      try await rest(all, service.pid)
      report(tally.value)
      judge(tally.value)
      for one in all { await one.stop() }
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }
  }

  /// Charges and discharges them.
  private static func charge(
    _ all: [Pretended], _ truth: Watched<Truth>, until end: ContinuousClock.Instant
  ) async throws {
    while ContinuousClock.now < end {
      try await Task.sleep(for: step)
      let percent = truth.update { $0.next(.now) }
      for one in all { await one.fill(percent) }
    }
  }

  /// Pulls one cable after the other, at random, for a few seconds.
  private static func pull(
    _ all: [Pretended], _ tally: Watched<Tally>, until end: ContinuousClock.Instant
  ) async throws {
    var random = SeededGenerator(seed: 7)
    while ContinuousClock.now < end {
      let one = all[Int(random.next() % UInt64(all.count))]
      try await Task.sleep(for: .milliseconds(1_000 + Int(random.next() % 30_000) / (Soak.seconds == nil ? 10 : 1)))
      await one.unplug()
      tally.update { $0.unplugs += 1 }
      try await Task.sleep(for: .milliseconds(Int(random.next() % 8_000) / (Soak.seconds == nil ? 8 : 1)))
      try await one.plugIn()
    }
  }

  /// Holds against the truth what the service tells by itself.
  private static func listen(
    _ box: Sandbox, _ truth: Watched<Truth>, _ tally: Watched<Tally>
  ) async throws -> Task<Void, Never> {
    let client = try await ControlClient.connect(to: box.socket)
    let events = try client.stream(Bridge.Subscribe())
    return Task {
      do {
        for try await event in events {
          guard let percent = event.battery?.percent else { continue }
          let isRight = truth.value.was(Int(percent), since: .now - slack)
          tally.update {
            $0.events += 1
            if !isRight { $0.wrong.append("event of \(event.device?.id ?? "?"): \(percent) %") }
          }
        }
      } catch {}
      _ = client
    }
  }

  /// Asks one after the other, and measures.
  private static func ask(
    _ box: Sandbox, _ pid: pid_t, _ truth: Watched<Truth>, _ tally: Watched<Tally>, until end: ContinuousClock.Instant
  ) async throws {
    let client = try await ControlClient.connect(to: box.socket)
    let limit = max(.seconds(60), poll * 3)  // Documentation/profiles.md, "Stale"
    while ContinuousClock.now < end {
      for accessory in try await client.call(Bridge.List(), timeout: .seconds(60)).accessories {
        let begin = ContinuousClock.now
        if let age = accessory.readings_age_ms {
          let isStale = accessory.stale == true
          tally.update {
            $0.staleLists += isStale ? 1 : 0
            if !isStale, .milliseconds(age) > limit + .seconds(1) {
              $0.wrong.append("\(accessory.device.id) is fresh after \(age) ms")
            }
          }
        }
        do {
          let reply = try await client.call(Bridge.GetBattery(device: accessory.device.id), timeout: .seconds(60))
          guard let percent = reply.battery.percent, reply.stale != true else { continue }
          let age = Duration.milliseconds(reply.age_ms ?? 0)
          let isRight = truth.value.was(Int(percent), since: begin - age - slack)
          tally.update {
            $0.answers += 1
            if !isRight { $0.wrong.append("battery of \(accessory.device.id): \(percent) %, age \(age)") }
          }
        } catch {
          tally.update { $0.refusals += 1 }
        }
        try await Task.sleep(for: .milliseconds(500))
      }
      let (memory, threads) = (try Soak.status(pid, "VmRSS"), try Soak.status(pid, "Threads"))
      tally.update {
        $0.memory.append(memory)
        $0.threads = max($0.threads, threads)
      }
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  /// Without those that tell by themselves and without clients: counts in how many twentieths of a second the service ran.
  private func rest(_ all: [Pretended], _ pid: pid_t) async throws {
    guard Soak.seconds != nil else { return }
    for one in all where one.serial.contains("vedirect") || one.serial.contains("mavlink") { await one.unplug() }
    try await Task.sleep(for: .seconds(45))
    var (last, quiet, longest, run) = (Self.switches(pid), 0, 0, 0)
    let parts = 1_200
    for _ in 0..<parts {
      try await Task.sleep(for: .milliseconds(50))
      let now = Self.switches(pid)
      run = now == last ? run + 1 : 0
      quiet += now == last ? 1 : 0
      longest = max(longest, run)
      last = now
    }
    print(
      "soak of six kinds, at rest: in \(quiet) of \(parts) parts of 50 ms nothing woke the service, the longest silence "
        + "\(Double(longest) / 20) s, with four accessories asked every \(Self.poll.text)")
    #expect(quiet > parts / 2)
  }

  /// How often threads of the process have gone to sleep.
  private static func switches(_ pid: pid_t) -> Int {
    Directory.names(in: "/proc/\(pid)/task").reduce(0) { sum, thread in
      sum + ((try? Soak.number("/proc/\(pid)/task/\(thread)/status", "voluntary_ctxt_switches")) ?? 0)
    }
  }

  private func report(_ tally: Tally) {
    print(
      "soak of six kinds: \(tally.events) readings told, \(tally.answers) answers, \(tally.refusals) while away, "
        + "\(tally.unplugs) unplugs, \(tally.staleLists) times stale and said so, \(tally.wrong.count) wrong; at most "
        + "\(tally.threads) threads; KiB by quarters \(Soak.quarters(tally.memory))")
  }

  private func judge(_ tally: Tally) {
    #expect(tally.wrong.isEmpty, "\(tally.wrong.prefix(10))")
    #expect(tally.answers > 0, "\(tally.refusals) refusals")
    guard Soak.seconds != nil else { return }
    #expect(tally.events > 0)
    Soak.expectNoGrowth(tally.memory)
  }
}

extension Duration {
  /// As commands take it.
  fileprivate var text: String { "\(components.seconds)s" }
}
