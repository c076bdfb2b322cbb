// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessorySimulator
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import BridgeService

/// The whole service in this process, with hostile devices, clients and profiles at once, all made up from a seed. Nothing
/// traps, who is well-behaved is answered, and the service ends when it is told to.
///
/// For ACCESSORY_BRIDGE_FUZZ_SECONDS, or a few seconds without; ACCESSORY_BRIDGE_FUZZ_SEED chooses another seed.
@Suite(.timeLimit(.minutes(Patience.minutes(60)))) struct HostileWorldTests {
  private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

  @Test func theServiceSurvivesRandomTraffic() async throws {
    let seconds = Self.number("ACCESSORY_BRIDGE_FUZZ_SECONDS") ?? 3
    let seed = UInt64(clamping: Self.number("ACCESSORY_BRIDGE_FUZZ_SEED") ?? 1)
    print("a hostile world: seed \(seed), \(seconds) s")
    let end = ContinuousClock.now + .seconds(seconds)
    let tally = Watched<[String: Int]>([:])
    try await ServiceHarness.with(profiles: ProfileStore.builtIn.profiles) {
      $0.poll = .every(.milliseconds(200))
      $0.reconnect = .init(interval: .milliseconds(10))
      $0.commandRules = CommandRules([
        .init(.driver("framed"), "echo", arguments: ["payload": .any], rate: .init(3, every: .milliseconds(100))),
        .init(.accessory("A1"), "command", arguments: ["number": .range(60...70)]),
      ])
    } _: { harness in
      let world = HostileWorld(harness: harness, end: end, tally: tally)
      try await withThrowingTaskGroup { group in
        for number in 0..<5 {
          group.addTask { try await world.device("device-\(number)", SeededGenerator(seed: seed &+ UInt64(number))) }
        }
        for number in 0..<8 {
          group.addTask { await world.clients(SeededGenerator(seed: seed &+ 100 &+ UInt64(number))) }
        }
        group.addTask { await world.profiles(SeededGenerator(seed: seed &+ 200)) }
        group.addTask { try await world.wellBehaved() }
        try await group.waitForAll()
      }
    }
    print(
      "a hostile world: \(tally.value.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))"
    )
    #expect(tally.value["lists answered", default: 0] > 0)
    #expect(tally.value["devices", default: 0] > 0)
  }
}

/// What is done to a service.
private struct HostileWorld: Sendable {
  let harness: ServiceHarness
  let end: ContinuousClock.Instant
  let tally: Watched<[String: Int]>

  private func count(_ what: String) { tally.update { $0[what, default: 0] += 1 } }

  private var goesOn: Bool { ContinuousClock.now < end }

  // MARK: - Devices

  private static let drivers = ["framed", "ev3", "hm10", "hm1x", "bluno", "nonsense", ""]
  /// What devices of all kinds say, right and wrong.
  private static let phrases: [[UInt8]] =
    [
      "OK", "OK+DISCE", "OK+DISCS", "OK+DISC:", "OK+DIS0:001122334455", "OK+CONN", "OK+CONNF", "OK+CONNE", "OK+LOST",
      "OK+NAME:", "OK+Get:9", "OK+RESET", "OK+RSSI:-0", "OK+Get:", "AT", "ERR", "\r\n", "b\n", "99\n", "-1\n",
    ].map { Array($0.utf8) } + [
      [3, 0, 0, 0, 2], [3, 0, 0, 0, 4], [0xFF, 0xFF], [5, 0, 0, 0, 3, 0x92, 0], [0, 0, 0], [2, 0, 0, 0],
    ]
  private static let names = ["A1", "A1", "B2", "../../x", "\u{1b}[2J", "", "usb:1:2", "/dev/null", "tcp:127.0.0.1:1"]

  /// A device that comes and goes, again and again.
  func device(_ file: String, _ seed: SeededGenerator) async throws {
    var random = seed
    while goesOn {
      let terminal = try openPseudoTerminal(raw: true)
      let driver = Self.drivers.randomElement(using: &random)!
      let name = Self.names.randomElement(using: &random)!
      let announcement = try? harness.announce(
        Bool.random(using: &random) || random.next() % 4 > 0 ? terminal.path : "/dev/pts/9999", serial: name,
        name: name,
        driver: driver, file: file)
      count("devices")
      await talk(terminal, &random)
      // Pulled with or without a word.
      if Bool.random(using: &random) { terminal.unplug() }
      announcement?.remove()
      terminal.unplug()
      try? await Task.sleep(for: .milliseconds(Int.random(in: 0...20, using: &random)))
    }
  }

  /// Says something for a while: answers that are right but for a few bytes, phrases, noise, floods, nothing.
  private func talk(_ terminal: TestTerminal, _ random: inout SeededGenerator) async {
    let manners = Int.random(in: 0...4, using: &random)
    let good = ScriptedAccessory { request in
      switch request.command {
      case .identify: .reply(Array(repeating: [0x41, 0], count: 6).flatMap { $0 })
      case .battery: .reply([2, 50, 0, 0, 1])
      case .status: .reply([0, 0, 0, 0])
      default: .reply(request.payload)
      }
    }
    let end = min(end, ContinuousClock.now + .milliseconds(Int.random(in: 5...600, using: &random)))
    while ContinuousClock.now < end {
      var said: [UInt8] = []
      let heard = terminal.readSome()
      if manners < 2, !heard.isEmpty { said += good.take(heard) }
      switch Int.random(in: 0...9, using: &random) {
      case 0: said += Self.phrases.randomElement(using: &random)!
      case 1: said += heard
      case 2 where manners > 0: said += (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
      case 3 where manners > 2:
        for _ in 0..<200 {
          said += ScriptedAccessory.event(.battery, number: UInt16(truncatingIfNeeded: random.next()), [1, 5])
        }
      case 4 where manners > 2: for _ in 0..<50 { said += Self.phrases.randomElement(using: &random)! }
      default: break
      }
      if manners > 0, !said.isEmpty, random.next() % 4 == 0 {
        said[Int.random(in: said.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if !said.isEmpty { _ = try? terminal.writeSome(said) }
      try? await Task.sleep(for: .microseconds(Int.random(in: 200...3_000, using: &random)))
    }
  }

  // MARK: - Clients

  private static let calls: [(method: String, parameters: [String])] = [
    ("List", []), ("Service", []), ("Info", ["device"]), ("Status", ["device"]), ("Battery", ["device"]),
    ("Request", ["device", "command", "payload_hex", "timeout_ms"]), ("Subscribe", ["device"]), ("Trace", ["device"]),
    ("Open", ["device"]), ("Attach", ["device", "profile"]), ("Expect", ["device"]), ("Detach", ["device"]),
    ("ListFolder", ["device", "path"]), ("MakeFolder", ["device", "path"]), ("Remove", ["device", "path"]),
    ("GetFile", ["device", "path", "limit_bytes", "patience_ms"]),
    ("SendFile", ["device", "path", "size_bytes", "crc32", "kind", "patience_ms"]),
    ("SupplyFile", ["transfer", "offset", "bytes_hex"]), ("Commands", ["device"]),
    ("Perform", ["device", "commands", "no_reply", "timeout_ms"]),
  ]
  private static let values = [
    #""A1""#, #""B2""#, #""A""#, #""""#, "null", "0", "-1", "9223372036854775807", "-9223372036854775808", "1e400",
    "1.5",
    "true", "[]", "{}", #""/dev/null""#, #""/nowhere/at/all""#, #""tcp:127.0.0.1:1""#, #""usb:2341:0043""#, #""0x12""#,
    #""echo""#, #""00ff""#, #""f""#, #""framed""#, #""../x""#, #"[{"command":"echo","arguments":{"payload":"00"}}]"#,
    #"[{"name":"echo","arguments":{"payload":"00"}}]"#, #"[{"name":"command","arguments":{"number":"66"}}]"#,
    #""\u0000\u001b[2J\ud83d\ude00""#, #""deadbeef""#, "18446744073709551616",
  ]

  private func message(_ random: inout SeededGenerator) -> [UInt8] {
    let call = Self.calls.randomElement(using: &random)!
    var fields: [String] = []
    for parameter in call.parameters where random.next() % 4 > 0 {
      let value =
        parameter == "device" && random.next() % 2 == 0 ? #""A1""# : Self.values.randomElement(using: &random)!
      fields.append("\"\(parameter)\":\(value)")
    }
    let flags = ["", #","more":true"#, #","oneway":true"#, #","upgrade":true"#, #","more":true,"upgrade":true"#]
    let more = ["Subscribe", "Trace", "GetFile", "SendFile"].contains(call.method) && random.next() % 4 > 0
    let flag =
      call.method == "Open" && random.next() % 4 > 0 ? flags[3] : more ? flags[1] : flags.randomElement(using: &random)!
    var bytes = Array(
      #"{"method":"accessorybridge.Bridge.\#(call.method)","parameters":{\#(fields.joined(separator: ","))}\#(flag)}"#
        .utf8)
    if random.next() % 8 == 0 {
      for _ in 0...Int.random(in: 0...3, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
    }
    return bytes + [0]
  }

  /// Clients one after another, each of another kind.
  func clients(_ seed: SeededGenerator) async {
    var random = seed
    while goesOn {
      try? await Task.sleep(for: .milliseconds(1))
      guard let socket = try? UnixSocket.create() else { continue }
      defer { Socket.close(socket) }
      let place = random.next() % 3 == 0 ? harness.readingsPath : harness.path
      guard (try? UnixSocket.connect(socket, to: place)) != nil else { continue }
      count("clients")
      let reads = random.next() % 3 > 0
      for _ in 0..<Int.random(in: 0...30, using: &random) where goesOn {
        let bytes = random.next() % 40 == 0 ? [UInt8](repeating: 0x7B, count: 70_000) : message(&random)
        let piece = random.next() % 4 == 0 ? Int.random(in: 1...20, using: &random) : bytes.count
        for start in stride(from: 0, to: bytes.count, by: piece) {
          guard let sent = try? Socket.send(bytes[start..<min(bytes.count, start + piece)], to: socket) else {
            break
          }
          if sent == 0 { break }
        }
        count("messages")
        if random.next() % 20 == 0 { shutdown(socket.rawValue, CInt(SHUT_WR)) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        if reads { _ = recv(socket.rawValue, &buffer, buffer.count, CInt(MSG_DONTWAIT)) }
        try? await Task.sleep(for: .microseconds(Int.random(in: 0...4_000, using: &random)))
      }
    }
  }

  // MARK: - Profiles

  private static let profile = Array(
    """
    name: mine
    match: [{serial: "A*"}, {name: "A*"}]
    transport: {prefer: tty, tty: {baud: 9600, settle: 20ms, dtr: keep, flow: none, rs485: {before: 1ms}}}
    driver: framed
    protocols: [com.example.x]
    pacing: {window: 4}
    policies:
      reconnect: {tries: 5, interval: 10ms, backoff: 1.5, longest: 1s}
      retry: {tries: forever, interval: 10ms}
      max_attached: 3
      idle_close: 1s
    """.utf8)
  private static let pieces = [
    "9999999999", "2562047788.999999h", "-1", "1ms", "[", "}", ": ", "ev3", "hm10", "hm1x", "bluno", "*", "&a",
    "\u{FEFF}",
  ]

  /// Profiles that are changed at random, those that can be read taken.
  func profiles(_ seed: SeededGenerator) async {
    var random = seed
    while goesOn {
      var bytes = Self.profile
      for _ in 0...Int.random(in: 0...3, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch random.next() % 3 {
        case 0: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &random)
        case 1:
          bytes.replaceSubrange(
            place..<min(bytes.count, place + 3), with: Self.pieces.randomElement(using: &random)!.utf8)
        default: bytes.remove(at: place)
        }
      }
      if let profile = try? ProfileReader.read(bytes, file: "f") {
        var all = ProfileStore.builtIn
        all.register(profile)
        await harness.service.use(all)
        count("profiles")
      } else {
        count("profiles refused")
      }
      try? await Task.sleep(for: .milliseconds(Int.random(in: 1...50, using: &random)))
    }
  }

  // MARK: - Others

  /// Who is well-behaved is answered, whatever else there is.
  func wellBehaved() async throws {
    while goesOn {
      let list = try await harness.client().call(Bridge.List(), timeout: .seconds(60))
      if list.accessories.contains(where: { $0.state == .attached }) { count("lists with something attached") }
      count("lists answered")
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
