// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// Commands with a device on the air, by a pretended bluetoothd.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct AirCommandTests {
  private static let device = "ble:" + PretendedAir.address

  /// Runs a test with a device whose serial port leads to a simulator of a framed accessory.
  private func with(_ body: (Sandbox, PretendedAir) async throws -> Void) async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      let air = try PretendedAir(line: simulator.path)
      defer { air.close() }
      try await body(box, air)
      try await simulator.stop()
    }
  }

  // MARK: - Batteries

  /// Two of JK's records of 300 bytes, in packets of 20, with what the device tells first.
  @Test func aBatteryIsReadOverTheAir() async throws {
    try await Sandbox.with { box in
      let pack = try await box.simulate(kind: "--profile", "jk02", "--percent", "57")
      let air = try PretendedAir(line: pack.path)
      defer { air.close() }
      let battery = try await box.run(
        ["battery", Self.device, "--driver", "jk02", "--json"], environment: air.environment)
      #expect(battery.status == 0, "\(battery.errorText)")
      #expect(try battery.json()["battery"]?["percent"] == 57)
      #expect(try battery.json()["battery"]?["voltage_mv"] == 52_971)
      // Its write needs both permissions.
      let off = try await box.run(
        ["request", Self.device, "discharge", "to=off", "--driver", "jk02", "--write"], environment: air.environment)
      #expect(off.status == EX_NOPERM, "\(off.errorText)")
      try await pack.stop()
    }
  }

  /// A shunt's Instant Readout, with its key (victron-ble, Unlicense).
  private static let shunt = (
    key: "aff4d0995b7d1e176c0c33ecb9e70dcd", data: "100289a302b040af925d09a4d89aa0128bdef48c6298a9"
  )

  private static func shuntProfile(_ key: String) -> [UInt8] {
    Array(
      """
      name: shunt
      match: {bluetooth: {address: "C4:BE:84:12:34:56"}}
      transport: {ble: {key: \(key)}}
      protocol: victron-ble
      """.utf8)
  }

  /// By a command, and by the service; and with a key that begins with another byte. Nothing is connected.
  @Test func whatAVictronAdvertisesIsReadWithoutAConnection() async throws {
    try await Sandbox.with { box in
      let air = try PretendedAir(advertised: (0x02E1, try #require(Hexadecimal.bytes(Self.shunt.data))))
      defer { air.close() }
      let found = try await box.run(["profile", "identify", Self.device], environment: air.environment)
      #expect(found.outputText.contains("victron-ble"), "\(found.outputText) \(found.errorText)")
      let without = try await box.run(
        ["battery", Self.device, "--driver", "victron-ble"], environment: air.environment)
      #expect(without.status == EX_CONFIG && without.errorText.contains("key_file"), "\(without.errorText)")
      try box.directory.makeFolders(of: "profiles/x")
      try box.directory.write(Self.shuntProfile("0d" + Self.shunt.key.dropFirst(2)), to: "profiles/shunt.yaml")
      // Devices repeat what they tell. One packet isn't enough for the error, since anybody can send it.
      let repeating = Task {
        while !Task.isCancelled {
          air.advertise()
          try await Task.sleep(for: .milliseconds(200))
        }
      }
      let wrong = try await box.run(["battery", Self.device], environment: air.environment)
      repeating.cancel()
      #expect(
        wrong.status == EX_CONFIG && wrong.errorText.contains("its first byte is 0d, and the device's is af"),
        "\(wrong.errorText)")
      #expect(!wrong.errorText.contains("0df4"), "the key isn't shown")
      try box.directory.write(Self.shuntProfile(Self.shunt.key), to: "profiles/shunt.yaml")
      let battery = try await box.run(["battery", Self.device, "--json"], environment: air.environment)
      #expect(battery.status == 0, "\(battery.errorText)")
      #expect(try battery.json()["battery"]?["percent"] == 50)
      #expect(try battery.json()["battery"]?["voltage_mv"] == 12_530)
      let service = try box.start(["serve"], environment: air.environment, limit: Sandbox.longLife)
      let list = try box.start(["watch"], environment: air.environment)
      try await list.line(containing: "C4:BE:84:12:34:56")
      let values = try await box.run(["values", Self.device, "--json"], environment: air.environment)
      #expect(values.status == 0 && values.outputText.contains("consumed"), "\(values.outputText) \(values.errorText)")
      list.signal(SIGINT)
      _ = try await list.end()
      service.signal(SIGINT)
      #expect(try await service.end().status == 0)
      #expect(!air.bus.calls.contains { ["Connect", "Pair", "AcquireNotify"].contains($0.member) })
    }
  }

  // MARK: - Pairing

  /// The number is another one each time, so it is of no use in what the next command is to say.
  @Test func withoutATerminalNoNumberIsCompared() async throws {
    try await Sandbox.with { box in
      let air = try PretendedAir(number: 482_913)
      defer { air.close() }
      let pairing = try box.start(["bluetooth", "pair", Self.device], environment: air.environment)
      try await eventually("it answers") { !air.bus.answers.isEmpty }
      #expect(air.bus.answers.first?.error == "org.bluez.Error.Rejected")
      air.bus.fail("Pair", "org.bluez.Error.AuthenticationFailed")
      let ended = try await pairing.end()
      #expect(ended.status == EX_NOPERM, "\(ended.errorText)")
      #expect(ended.errorText.contains("no terminal to ask you at: run this command at one"), "\(ended.errorText)")
      #expect(!ended.errorText.contains("482913"), "\(ended.errorText)")
    }
  }

  // MARK: - Names

  /// Each spelling means the device, and what it tells is shown escaped.
  @Test(arguments: [
    "ble:C4:BE:84:12:34:56", "ble:c4be84123456", "C4:BE:84:12:34:56", "ble:hci0/C4:BE:84:12:34:56",
    "ble:00:1A:7D:DA:71:10/C4:BE:84:12:34:56", "ble:" + PretendedAir.name, "ble:hci0/" + PretendedAir.name,
  ]) func everySpellingMeansTheDevice(name: String) async throws {
    try await with { box, air in
      let battery = try await box.run(
        ["battery", name, "--driver", "framed", "--json"], environment: air.environment)
      #expect(battery.status == 0, "\(battery.errorText)")
      #expect(try battery.json()["battery"]?["percent"] == 57)
      #expect(try battery.json()["device"]?["id"] == .string(Self.device))
    }
  }

  @Test func anAdapterThatIsNotThere() async throws {
    try await with { box, air in
      let battery = try await box.run(
        ["battery", "ble:hci7/" + PretendedAir.address, "--driver", "framed"], environment: air.environment)
      #expect(battery.status == EX_NOINPUT)
      #expect(battery.errorText.contains("no Bluetooth adapter hci7, only hci0, hci1"), "\(battery.errorText)")
      #expect(!air.bus.calls.contains { $0.member == "Connect" })
      let scan = try await box.run(["bluetooth", "scan", "--adapter", "hci1"], environment: air.environment)
      #expect(scan.status == EX_USAGE)
    }
  }

  /// What can be missing for Bluetooth, with the exit status.
  enum Missing: CInt, Sendable, CaseIterable {
    case bus = 1
    case daemon, adapter, power

    var status: CInt {
      switch self {
      case .bus, .daemon: EX_UNAVAILABLE
      case .adapter: EX_NOINPUT
      case .power: EX_CONFIG
      }
    }

    var words: String {
      switch self {
      case .bus: "Bluetooth needs the system bus (D-Bus), which isn't running here"
      case .daemon: "Bluetooth isn't running on this computer"
      case .adapter: "this computer has no Bluetooth adapter"
      case .power: "is off: bluetoothctl power on"
      }
    }
  }

  /// What isn't running is not a device that isn't there: each command says which of these it is.
  @Test(arguments: Missing.allCases) func whatIsMissingForBluetoothIsSaid(missing: Missing) async throws {
    let adapter = WireValue.entry(
      .path("/org/bluez/hci0"),
      .array(
        "{sa{sv}}",
        [
          .entry(
            .text("org.bluez.Adapter1"),
            .properties([("Address", .text("00:1A:7D:DA:71:10")), ("Powered", .boolean(false))]))
        ]))
    let bus = try FakeBus(clients: .max) { call in
      switch call.member {
      case "GetNameOwner" where missing == .daemon: .error("org.freedesktop.DBus.Error.NameHasNoOwner", "no")
      case "GetManagedObjects": .values([.array("{oa{sa{sv}}}", missing == .power ? [adapter] : [])])
      default: nil
      }
    }
    defer { bus.close() }
    let place = missing == .bus ? "unix:path=/nowhere/bus" : bus.address
    let environment = ["ACCESSORY_BRIDGE_SOURCES": "bluetooth", "DBUS_SYSTEM_BUS_ADDRESS": place]
    try await Sandbox.with { box in
      for words in [
        ["battery", Self.device, "--driver", "jbd"], ["battery", "ble:JBD-SP04S", "--driver", "jbd"],
        ["battery", Self.device, "--driver", "ble-battery"], ["values", Self.device, "--driver", "jbd"],
        ["console", Self.device], ["bluetooth", "scan", "--ble", "--timeout", "100ms"],
        ["bluetooth", "pair", Self.device], ["simulate", "--profile", "jbd", "--ble", "PACK"], ["doctor", Self.device],
      ] {
        let ended = try await box.run(words, environment: environment)
        #expect(ended.status == missing.status, "\(words): \(ended.outputText)\(ended.errorText)")
        #expect((ended.outputText + ended.errorText).contains(missing.words), "\(words): \(ended.errorText)")
      }
      let list = try await box.run(["list"], environment: environment)
      #expect(list.status == 0, "\(list.errorText)")
    }
  }

  @Test func listsShowItAndWhatItTellsEscaped() async throws {
    try await with { box, air in
      for command in [
        ["list"], ["list", "--json"], ["bluetooth", "scan", "--ble", "--timeout", "1s"],
        ["bluetooth", "scan", "--ble", "--timeout", "1s", "--adapter", "hci0", "--json"],
        ["info", "--passive", Self.device],
      ] {
        let shown = try await box.run(command, environment: air.environment)
        #expect(shown.status == 0 && shown.outputText.contains("C4:BE:84:12:34:56"), "\(command): \(shown.errorText)")
        #expect(!shown.outputText.contains("\u{1B}[31m") && !shown.outputText.contains("\u{202E}"), "\(command)")
      }
      // The device isn't known at the other adapter.
      let other = try await box.run(
        ["bluetooth", "scan", "--ble", "--timeout", "200ms", "--adapter", "hci1"], environment: air.environment)
      #expect(other.status == 0 && !other.outputText.contains("C4:BE"))
      #expect(!air.bus.calls.contains { ["Connect", "Pair"].contains($0.member) }, "nothing is connected")
    }
  }

  // MARK: - What passes

  /// A trace has GATT's own lines; a recording keeps them, and is replayed.
  @Test func aTraceTellsWhatHappensOnTheAir() async throws {
    try await with { box, air in
      let trace = try box.start(
        ["trace", Self.device, "--driver", "framed", "--ask", "--once", "--record", "air.trace"],
        environment: air.environment)
      try await trace.line(containing: "reply BATTERY")
      air.vanish()
      let live = try await trace.end()
      #expect(live.status == EX_UNAVAILABLE, "\(live.errorText)")
      for text in [
        "connected to C4:BE:84:12:34:56", "by hci0", "services: ffe0 (ffe1 read write-without-response notify)",
        "MTU 247: 244 bytes in a packet; notifications of ffe1 are on (by a socket)", "disconnected: ",
      ] {
        #expect(live.outputText.contains(text), "\(text): \(live.outputText)")
      }
      #expect(!live.outputText.contains("\u{1B}[31m"))
      let again = try await box.run("trace", "air.trace")
      #expect(again.outputText == live.outputText)
      let json = try await box.run("trace", "air.trace", "--json")
      #expect(json.lines.filter { $0.contains("\"kind\":\"note\"") }.count == 4)
      let capture = try await box.run("trace", "air.trace", "--pcapng", "air.pcapng")
      #expect(capture.status == 0)
      let replay = try box.start(["replay", "air.trace", "--link", "./again"], limit: Sandbox.longLife)
      try await replay.line(containing: "./again")
      // Who asks the same gets the same answers, until the unplug.
      let asked = try await box.run("trace", "./again", "--driver", "framed", "--ask", "--once")
      #expect(asked.outputText.contains("reply BATTERY"), "\(asked.errorText)")
      replay.signal(SIGINT)
      _ = try await replay.end()
    }
  }

  @Test func aBridgeOffersItsLine() async throws {
    try await with { box, air in
      for arguments in [["--by", "bytes"], ["--by", "frames"]] {
        let bridge = try box.start(
          ["bridge", Self.device, "--driver", "framed", "--pty", "./tty", "--unix", "./line.sock"] + arguments,
          environment: air.environment, limit: Sandbox.longLife)
        try await bridge.line(containing: "./tty leads to /dev/pts/")
        try await bridge.errors(containing: "is open")
        for name in ["./tty", "unix:./line.sock"] {
          let battery = try await box.run("battery", name, "--driver", "framed", "--json")
          #expect(battery.status == 0, "\(arguments) \(name): \(battery.errorText)")
          #expect(try battery.json()["battery"]?["percent"] == 57)
        }
        bridge.signal(SIGINT)
        #expect(try await bridge.end().status == 0)
      }
    }
  }

  // MARK: - The service

  private static let profile = """
    name: pack
    match: {bluetooth: {address: "C4:BE:84:12:34:56"}}
    connect: allowed
    driver: framed
    """

  /// The service has just started, and hasn't heard of the device when a command asks for it: the service gets it.
  @Test func aCommandLeavesTheDeviceToTheService() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      let commandCame = OneShot<Void>()
      let air = try PretendedAir(line: simulator.path) { call in
        guard call.member == "GetManagedObjects" else { return }
        guard call.client == 0 else { return _ = commandCame.finish(()) }
        // The thread of this client alone waits, and bluetoothd's own limit ends that.
        let limit = ContinuousClock.now + .seconds(4)
        while commandCame.current == nil, ContinuousClock.now < limit { sched_yield() }
      }
      defer { air.close() }
      try box.directory.makeFolders(of: "profiles/x")
      try box.directory.write(Array(Self.profile.utf8), to: "profiles/pack.yaml")
      let service = try box.start(["serve"], environment: air.environment, limit: Sandbox.longLife)
      try await eventually("the service asks bluetoothd") { !air.bus.calls.isEmpty }
      let battery = try await box.run(["battery", Self.device, "--json"], environment: air.environment)
      #expect(battery.status == 0, "\(battery.errorText)")
      #expect(air.bus.calls.filter { $0.member == "AcquireNotify" }.count == 1, "one program has opened it")
      let list = try await box.run(["list", "--json"], environment: air.environment)
      #expect(list.outputText.contains("\"attached\""), "\(list.outputText)")
      let watch = try box.start(["watch"], environment: air.environment)
      try await watch.line(containing: "C4:BE:84:12:34:56")
      watch.signal(SIGINT)
      _ = try await watch.end()
      let detached = try await box.run(
        ["attach", "--end", "ble:hci0/" + PretendedAir.address], environment: air.environment)
      #expect(detached.status == 0, "\(detached.errorText)")
      // It isn't waited for where the service isn't going to have it.
      let alone = try await box.run(["battery", Self.device, "--json"], environment: air.environment)
      #expect(alone.status == 0, "\(alone.errorText)")
      let attached = try await box.run(["attach", "ble:hci0/" + PretendedAir.address], environment: air.environment)
      #expect(attached.status == 0, "\(attached.errorText)")
      service.signal(SIGINT)
      #expect(try await service.end().status == 0)
      try await simulator.stop()
    }
  }

  // MARK: - What is wrong

  @Test func theDoctorSaysWhatIsWrong() async throws {
    try await Sandbox.with { box in
      let air = try PretendedAir(isPowered: false)
      defer { air.close() }
      let off = try await box.run(["doctor", Self.device], environment: air.environment)
      #expect(off.status != 0 && off.outputText.contains("hci0 is off: bluetoothctl power on"), "\(off.outputText)")
      for (error, member, text) in [
        ("org.freedesktop.DBus.Error.NameHasNoOwner", "GetNameOwner", "sudo systemctl start bluetooth"),
        ("org.freedesktop.DBus.Error.AccessDenied", "GetManagedObjects", "doesn't let this user talk to bluetoothd"),
      ] {
        let bus = try FakeBus(clients: .max) { $0.member == member ? .error(error, "no") : nil }
        defer { bus.close() }
        let shown = try await box.run(
          ["doctor", Self.device], environment: air.environment.merging(["DBUS_SYSTEM_BUS_ADDRESS": bus.address]) { $1 }
        )
        #expect(shown.status != 0 && shown.outputText.contains(text), "\(shown.outputText) \(shown.errorText)")
      }
    }
  }
}
