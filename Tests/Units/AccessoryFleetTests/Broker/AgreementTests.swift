// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import AccessoryFleet

extension WithBroker {
  /// Whoever asks what an accessory's readings are gets the same answer, whichever way they ask.
  @Suite struct AgreementTests {
    /// `list`, `battery`, MQTT, metrics, NUT and `top` are asked at once, a hundred times, while an accessory that sends its
    /// readings by itself sends them, pauses, goes on, leaves and comes back.
    @Test func sixSayTheSame() async throws {
      try await with { scene in
        var simulator = try await scene.gateway.plug(kind: "--profile", "vedirect", "--serial", "V1")
        try scene.gateway.serve()
        try scene.gateway.publish(scene.broker)
        try await scene.onlooker.wait(scene.gateway.topic("V1/state"), #""percent""#)
        let window = try await TopWindow(scene)
        var six = try await Six(scene, window)
        try await window.isReady()

        // It sends each second.
        try await six.ask(20)
        simulator.signal(SIGSTOP)
        try await six.ask(10, until: .stale)
        #expect(six.rounds[.stale, default: 0] >= 10)
        simulator.signal(SIGCONT)
        try await six.ask(15, until: .fresh)
        simulator.signal(SIGTERM)
        try await simulator.end()
        try await six.ask(10, until: .gone)
        simulator = try await scene.gateway.plug(kind: "--profile", "vedirect", "--serial", "V1")
        try await six.ask(15, until: .fresh)
        try await six.ask(max(0, 100 - six.rounds.values.reduce(0, +)))
        #expect(six.rounds.values.reduce(0, +) >= 100 && six.rounds.count == 3, "\(six.rounds)")
        try await window.end()
      }
    }
  }
}

/// What somebody says of an accessory's readings.
private struct Statement: Sendable, CustomStringConvertible {
  enum Word: Sendable, Hashable {
    case fresh, stale, gone
  }

  let word: Word
  /// When the readings were made, from and to, in seconds since 1970; nil where nothing is said.
  var time: ClosedRange<Double>?

  var description: String { "\(word)" + (time.map { ", read \($0.lowerBound) to \($0.upperBound)" } ?? "") }
}

/// Asks all six at once, and compares their answers with what the service itself says before and after.
private struct Six {
  private let scene: WithBroker.Scene
  private let window: TopWindow
  private let client: BridgeClient
  private let metricsPort, nutPort: UInt16
  /// What the service has said, and when.
  private var said: [(time: Double, Statement)] = []
  /// How many rounds there were in which the service had said nothing else for as long as `delay`.
  private(set) var rounds: [Statement.Word: Int] = [:]

  /// For so long after a change one may say what was true before it: a list that is two seconds old is not asked for again,
  /// and there is no event when readings become stale.
  private static let delay = 4.0 * Double(Patience.factor)
  /// What rounding, and the way of an event, may make of a time.
  private static let tolerance = 1.0 * Double(Patience.factor)

  init(_ scene: WithBroker.Scene, _ window: TopWindow) async throws {
    (self.scene, self.window) = (scene, window)
    client = try await BridgeClient.connect(to: scene.gateway.socket)
    func port(_ kind: String) async throws -> UInt16 {
      let exporter = try scene.gateway.start("bridge-cli", ["export", kind, "--listen", "0"])
      let line = try await exporter.line(containing: " is open").dropLast(" is open".count)
      return try #require(line.split { !$0.isNumber }.last.flatMap { UInt16($0) })
    }
    (metricsPort, nutPort) = (try await port("metrics"), try await port("nut"))
  }

  /// Asks until there were `count` rounds in which nothing changed; with a word only those count in which it is said.
  mutating func ask(_ count: Int, until word: Statement.Word? = nil) async throws {
    var left = count
    let end = ContinuousClock.now + Duration.seconds(60).patient
    while left > 0 {
      if ContinuousClock.now > end {
        throw Hang("\(count) rounds of \(word.map { "\($0)" } ?? "any word"): \(said.last!)")
      }
      if let settled = try await round(), word == nil || settled == word { left -= 1 }
    }
  }

  /// Asks once. Returns what was the case; nil while that changed.
  private mutating func round() async throws -> Statement.Word? {
    let begin = FleetPublisher.now
    let before = try await service()
    async let list = list()
    async let battery = battery()
    async let metrics = metrics()
    async let nut = nut()
    async let top = window.statement()
    let mqtt = try mqtt()
    let answers: [(String, Statement)] = [
      ("list", try await list), ("battery", try await battery), ("mqtt", mqtt), ("metrics", try await metrics),
      ("nut", try await nut), ("top", try await top),
    ]
    let after = try await service()
    let recent = said.last { $0.time <= begin - Self.delay }.map { [$0] } ?? []
    let words = Set((recent + said.filter { $0.time > begin - Self.delay }).map { $0.1.word })
    let left = said.last { $0.1.word == .gone }?.time
    for (name, answer) in answers {
      // An accessory that is back has the reading from before it left, which is stale, until it tells something new.
      let isOfBefore = left.flatMap { left in answer.time.map { $0.upperBound <= left + Self.tolerance } } ?? false
      let isBack = answer.word == .stale && isOfBefore && words.isSuperset(of: [.gone, .fresh])
      #expect(words.contains(answer.word) || isBack, "\(name) says \(answer); the service says \(words), now \(after)")
      guard words.count == 1, let time = answer.time, let oldest = before.time, let newest = after.time else {
        continue
      }
      // A broker is told when a reading changes, and when it becomes stale: until then it may have an older time.
      let least = name == "mqtt" && answer.word == .fresh ? -Double.infinity : oldest.lowerBound - Self.tolerance
      #expect(
        time.upperBound >= least && time.lowerBound <= newest.upperBound + Self.tolerance,
        "\(name) says \(answer); the service says \(before), then \(after)")
    }
    guard words.count == 1, let word = words.first else { return nil }
    rounds[word, default: 0] += 1
    return word
  }

  // MARK: - Asking

  /// What the service says, now.
  private mutating func service() async throws -> Statement {
    let begin = FleetPublisher.now
    let accessory = try await client.list().first { $0.device.id == "V1" }
    let isThere = accessory?.state == .attached
    let statement = Statement(
      word: !isThere ? .gone : accessory?.stale == true ? .stale : .fresh,
      time: isThere ? Self.times(accessory?.readings_age_ms.map(Double.init), begin) : nil)
    said.append((FleetPublisher.now, statement))
    return statement
  }

  /// When what has this age was made, if it was said between `begin` and now.
  private static func times(_ age: Double?, _ begin: Double) -> ClosedRange<Double>? {
    age.map { begin - $0 / 1_000...FleetPublisher.now - $0 / 1_000 }
  }

  private static func number(_ json: JSON?) -> Double? {
    if case .number(let digits)? = json { Double(digits) } else { nil }
  }

  private func list() async throws -> Statement {
    let begin = FleetPublisher.now
    let end = try await scene.gateway.start("bridge-cli", ["list", "--json"]).end()
    let document = try JSON(Array(end.outputText.utf8))
    guard case .array(let devices)? = document["devices"],
      let held = devices.first(where: { $0["id"]?.text == "V1" })?["service"], held["state"]?.text == "attached"
    else { return Statement(word: .gone) }
    return Statement(
      word: held["stale"] == .bool(true) ? .stale : .fresh,
      time: Self.times(Self.number(held["readings_age_ms"]), begin))
  }

  private func battery() async throws -> Statement {
    let begin = FleetPublisher.now
    let end = try await scene.gateway.start("bridge-cli", ["battery", "V1", "--json"]).end()
    let document = try JSON(Array(end.outputText.utf8))
    guard end.status == 0, document["battery"] != nil else { return Statement(word: .gone) }
    // Of an accessory that is gone, it is the last reading, with when that was last there.
    if Self.number(document["device"]?["service"]?["last_seen"]) != nil { return Statement(word: .gone) }
    return Statement(
      word: document["stale"] == .bool(true) ? .stale : .fresh, time: Self.times(Self.number(document["age_ms"]), begin)
    )
  }

  private func mqtt() throws -> Statement {
    let text = try #require(scene.onlooker.seen.value.latest[scene.gateway.topic("V1/state")])
    let state = try JSON(Array(text.utf8))
    guard state["connected"] == .bool(true) else { return Statement(word: .gone) }
    return Statement(
      word: state["stale"] == .bool(true) ? .stale : .fresh, time: Self.number(state["battery_time"]).map { $0...$0 })
  }

  private func metrics() async throws -> Statement {
    let answer = try await Self.exchange(
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", metricsPort)
    func sample(_ name: String) -> Double? {
      answer.split(separator: "\n").first { $0.hasPrefix(name + #"{id="V1"} "#) }?.split(separator: " ").last
        .flatMap { Double($0) }
    }
    guard sample("accessory_connected") == 1 else { return Statement(word: .gone) }
    return Statement(
      word: sample("accessory_readings_stale") == 1 ? .stale : .fresh,
      time: sample("accessory_readings_timestamp_seconds").map { $0...$0 })
  }

  /// NUT has no age.
  private func nut() async throws -> Statement {
    let answer = try await Self.exchange("GET VAR V1 battery.voltage\nLOGOUT\n", nutPort)
    if answer.hasPrefix("ERR DATA-STALE") { return Statement(word: .stale) }
    // A server that has just started hasn't heard of it yet.
    if ["ERR DRIVER-NOT-CONNECTED", "ERR UNKNOWN-UPS"].contains(where: answer.hasPrefix) {
      return Statement(word: .gone)
    }
    #expect(answer.hasPrefix("VAR V1 battery.voltage "), "\(answer)")
    return Statement(word: .fresh)
  }

  /// What a server on this machine sends, up to its end.
  private static func exchange(_ text: String, _ port: UInt16) async throws -> String {
    let transport = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port))
    _ = transport.output.offer(Array(text.utf8))
    let answer = try await InputReader(transport.input).readToEnd().bytes
    await transport.close()
    return String(decoding: answer, as: UTF8.self)
  }
}

/// `top` in a window of tmux, as a person sees it.
private struct TopWindow: Sendable {
  private let scene: WithBroker.Scene

  init(_ scene: WithBroker.Scene) async throws {
    self.scene = scene
    let top = "exec \(TestGateway.binaries)/bridge-cli top"
    try await run("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30", top)
  }

  func end() async throws { try await run("kill-server") }

  @discardableResult
  private func run(_ arguments: String...) async throws -> Program.Transcript {
    let variables = ["NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"]
    let ended = try await Program(
      ["/usr/bin/tmux", "-u", "-S", scene.directory.path + "/tmux"] + arguments,
      environment: scene.gateway.environment(with: variables), directory: scene.directory.path
    ).end()
    #expect(ended.status == 0, "\(arguments): \(ended.errorText)")
    return ended
  }

  /// Waits until the accessory is shown.
  func isReady() async throws {
    try await eventually("the accessory in top") { try await statement().word == .fresh }
  }

  /// What the accessory's row says: by its mark, and by its age of at most four letters.
  func statement() async throws -> Statement {
    let begin = FleetPublisher.now
    let lines = try await run("capture-pane", "-p").lines
    guard let row = lines.first(where: { $0.contains("V1") }), let name = row.firstRange(of: "V1") else {
      return Statement(word: .gone)
    }
    let mark = row[..<name.lowerBound]
    if mark.contains("-") || mark.contains("+") { return Statement(word: .gone) }
    var time: ClosedRange<Double>?
    if let age = row.split(separator: " ").compactMap({ Self.seconds(String($0)) }).last {
      // The screen is drawn anew for an age every five seconds.
      time = begin - age.upperBound - 5...FleetPublisher.now - age.lowerBound
    }
    return Statement(word: mark.contains("?") ? .stale : .fresh, time: time)
  }

  /// What "now", "20s" and "5m" stand for.
  private static func seconds(_ text: String) -> ClosedRange<Double>? {
    if text == "now" { return 0...10 }
    guard let unit = text.last, let number = Double(text.dropLast()) else { return nil }
    return unit == "s" ? number...number + 10 : unit == "m" ? number * 60...(number + 1) * 60 : nil
  }
}
