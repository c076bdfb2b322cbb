// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import Glibc
import TestSupport
import Testing

/// Accessories that a service shares: by profiles, by `bridge`, and those on the network.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct SharedServiceTests {
  private func write(_ text: String, to file: String, _ box: Sandbox) throws {
    try box.directory.write(Array(text.utf8), to: file)
  }

  private func json(_ box: Sandbox, _ arguments: String...) async throws -> JSON {
    let ended = try await box.run(arguments + ["--json"])
    #expect(ended.status == 0, "\(arguments): \(ended.errorText)")
    return try ended.json()
  }

  @Test func aProfileSharesItsAccessory() async throws {
    try await Sandbox.with { box in
      #expect(mkdir(box.directory.path + "/profiles", 0o755) == 0)
      try write(
        "name: lamp\nmatch: {serial: LAMP1}\ndriver: framed\nshare: {pty: lamp, unix: lamp.sock}\n",
        to: "profiles/lamp.yaml", box)
      let service = try await box.serve()
      try await service.errors(containing: "lamp is shared at ", times: 2)
      let folder = box.runtime.path + "/accessory-bridge/shared"
      var simulator = try await box.simulate("--serial", "LAMP1", "--percent", "57")
      try await service.errors(containing: "LAMP1 is attached at")
      for place in [folder + "/lamp", "unix:" + folder + "/lamp.sock"] {
        let battery = try await json(box, "battery", place, "--driver", "framed")
        #expect(battery["battery"]?["percent"] == 57, "\(place)")
      }
      // The link is there again when the accessory is.
      try await simulator.stop()
      try await eventually("the link has gone") { access(folder + "/lamp", F_OK) != 0 }
      simulator = try await box.simulate("--serial", "LAMP1", "--percent", "12")
      try await eventually("the link is back") { access(folder + "/lamp", F_OK) == 0 }
      let battery = try await json(box, "battery", folder + "/lamp", "--driver", "framed")
      #expect(battery["battery"]?["percent"] == 12)
      service.signal(SIGINT)
      #expect(try await service.end().status == 0)
      #expect(access(folder + "/lamp.sock", F_OK) != 0)
      try await simulator.stop()
    }
  }

  /// What `bridge` reads of an accessory doesn't keep others from asking it; what it may write does.
  @Test func aBridgeThatOnlyReadsLeavesOthersTheirAnswers() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--serial", "A1", "--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "A1 is attached at")
      let reader = try box.start(
        ["bridge", "A1", "--unix", "./read.sock", "--writers", "none"], limit: Sandbox.longLife)
      try await reader.errors(containing: " is open")
      let listener = AccessorySession(try await DescriptorTransport.open(unix: box.directory.path + "/read.sock"))
      try await reader.errors(containing: "is connected")
      let battery = try await json(box, "battery", "A1")
      #expect(battery["battery"]?["percent"] == 57 && battery["age_ms"] == 0)
      var heard: [UInt8] = []
      for try await piece in listener.input {
        heard += piece
        if heard.count >= 12 { break }
      }
      #expect(!heard.isEmpty)
      // Two bridges that may write bytes share it, and both get answers.
      for name in ["one", "two"] {
        let bridge = try box.start(
          ["bridge", "A1", "--by", "bytes", "--unix", "./\(name).sock"], limit: Sandbox.longLife)
        try await bridge.errors(containing: " is open")
      }
      for name in ["one", "two"] {
        let battery = try await json(box, "battery", "unix:./\(name).sock", "--driver", "framed")
        #expect(battery["battery"]?["percent"] == 57)
      }
      let remembered = try await box.run("battery", "A1")
      #expect(remembered.status == 0 && remembered.errorText.contains(" and 1 more: this was read "))
      await listener.close()
      try await simulator.stop()
    }
  }

  @Test func aFileSaysWhatIsShared() async throws {
    try await Sandbox.with { box in
      try write(
        "device: A1\ntcp: [0, '127.0.0.1:0']\nunix: ./lamp.sock\nwriters: one\non_unplug: keep\nbuffer: 64K\n",
        to: "lamp.yaml", box)
      let checked = try await box.run("share", "check", "lamp.yaml")
      #expect(checked.status == 0 && checked.outputText == "lamp.yaml: fine, a share of A1\n")
      let simulator = try await box.simulate("--serial", "A1", "--percent", "57")
      let bridge = try box.start(["bridge", "--config", "lamp.yaml"], limit: Sandbox.longLife)
      try await bridge.errors(containing: " is open")
      let battery = try await json(box, "battery", "unix:./lamp.sock", "--driver", "framed")
      #expect(battery["battery"]?["percent"] == 57)
      #expect(bridge.transcript.value.lines.count { $0.hasPrefix("tcp:127.0.0.1:") } == 2)
      bridge.signal(SIGINT)
      #expect(try await bridge.end().status == 0)
      try await simulator.stop()
    }
  }

  @Test(arguments: [
    ("device: A1\ntcp: seven\n", "2:6: tcp must be a port, or a host and a port"),
    ("device: A1\ntcp: 7000\nwriter: one\n", "3:1: unknown key \"writer\": did you mean writers or write?"),
    ("device: A1\ntcp: 7000\nwriters: some\n", "3:10: writers must be none or one or many, not \"some\""),
    ("device: A1\ntcp: 7000\non_unplug: stay\n", "3:12: on_unplug must be hang-up or keep or end"),
    ("device: A1\ntcp: 7000\nwrite: yes\n", "3:8: write must be true or false"),
    ("device: A1\ntcp: 7000\nmax_clients: 0\n", "3:14: max_clients must be a number, at least 1"),
    ("device: A1\ntcp: 0.0.0.0:7000\n", "1:1: other machines can connect to 0.0.0.0:7000: name their network"),
    ("device: A1\n", "1:1: name at least one endpoint"), ("device: [A1]\n", "1:9: "),
    ("device: A1\ntcp:\n\t7000", "3:"),
  ])
  func mistakesAreToldWithTheirPlace(_ text: String, _ message: String) async throws {
    try await Sandbox.with { box in
      try write(text, to: "lamp.yaml", box)
      let checked = try await box.run("share", "check", "lamp.yaml")
      #expect(
        checked.status == EX_CONFIG && checked.outputText.contains("lamp.yaml:" + message), "\(checked.outputText)")
      let document = try await box.run("share", "check", "lamp.yaml", "--json").json()
      #expect(document["files"]?[0]?["problems"]?[0] != nil)
      let bridge = try await box.run("bridge", "--config", "lamp.yaml")
      #expect(bridge.status == EX_CONFIG && bridge.errorText.contains("lamp.yaml:" + message), "\(bridge.errorText)")
    }
  }

  @Test func oneWayToSayIt() async throws {
    try await Sandbox.with { box in
      for more in [["A1"], ["--tcp", "0"], ["--stdio"]] {
        let ended = try await box.run(["bridge", "--config", "lamp.yaml"] + more)
        #expect(
          ended.status == EX_USAGE && ended.errorText.contains("takes everything from the file"), "\(ended.errorText)")
      }
      let missing = try await box.run("bridge", "--config", "lamp.yaml")
      #expect(missing.status == EX_NOINPUT && missing.errorText.contains("lamp.yaml: it can't be read"))
    }
  }

  // MARK: - On the network

  /// A second service has what is on the network; commands find it as they find the other's.
  @Test func aServiceHoldsDevicesOnTheNetwork() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--link", "./acc", "--serial", "NET1", "--percent", "57")
      let bridge = try box.start(
        ["bridge", "./acc", "--driver", "framed", "--tcp", "0", "--rfc2217", "0"], limit: Sandbox.longLife)
      let tcp = String(try await bridge.line(containing: "tcp:127.0.0.1:").prefix { $0 != " " })
      let line = String(try await bridge.line(containing: "rfc2217:127.0.0.1:").prefix { $0 != " " })
      try write("devices:\n  - {at: '\(tcp)', profile: framed}\n", to: "network.yaml", box)
      for arguments in [["--devices", "network.yaml"], ["--device", line + "=framed"]] {
        let service = try box.start(["serve"] + arguments, limit: Sandbox.longLife)
        try await service.errors(containing: " is attached at ")
        let socket = try await json(box, "service")["socket"]?.text
        #expect(socket == box.runtime.path + "/accessory-bridge/network/bridge.socket", "\(socket ?? "")")
        let address = arguments[0] == "--device" ? line : tcp
        let battery = try await json(box, "battery", address)
        #expect(battery["battery"]?["percent"] == 57, "\(address)")
        let list = try await box.run("list", "--json")
        #expect(list.outputText.contains(address), "\(list.outputText)")
        // The other service may run beside it.
        let other = try await box.serve()
        other.signal(SIGINT)
        _ = try await other.end()
        service.signal(SIGINT)
        #expect(try await service.end().status == 0)
      }
      try await simulator.stop()
    }
  }

  /// It is awaited, from the first on.
  @Test func whatIsNotThereIsAwaited() async throws {
    try await Sandbox.with { box in
      let service = try box.start(
        ["serve", "--device", "unix:./late.sock=framed", "--retry-interval", "50ms", "--retry-backoff", "1"],
        limit: Sandbox.longLife)
      try await service.errors(containing: "try 5 in ")
      let simulator = try await box.simulate("--link", "./acc", "--percent", "57")
      let bridge = try box.start(
        ["bridge", "./acc", "--driver", "framed", "--unix", "./late.sock"], limit: Sandbox.longLife)
      try await bridge.line(containing: "is open")
      try await service.errors(containing: "is attached at")
      service.signal(SIGINT)
      #expect(try await service.end().status == 0)
      try await simulator.stop()
    }
  }

  @Test(arguments: [
    ("devices: [{at: 'tcp:nowhere'}]\n", "1:16: an address is tcp:HOST:PORT"),
    ("devices:\n  - {profile: framed}\n", "2:5: at is missing"),
    ("devices:\n  - {at: 'tcp:h:1', profile: frame}\n", "2:30: a profile must be "),
    ("devices: [/dev/ttyS0]\n", "1:11: an address is"),
    ("devices: ['tcp:h:1', 'tcp:h:1']\n", "1:22: tcp:h:1 is there twice"), ("device: x\n", "1:1: unknown key"),
  ])
  func mistakesInAListOfDevicesHaveTheirPlace(_ text: String, _ message: String) async throws {
    try await Sandbox.with { box in
      try write(text, to: "network.yaml", box)
      let ended = try await box.run("serve", "--devices", "network.yaml")
      #expect(ended.status == EX_CONFIG && ended.errorText.contains("network.yaml:" + message), "\(ended.errorText)")
    }
  }

  @Test func mistakesInAnAddressAreErrors() async throws {
    try await Sandbox.with { box in
      var ended = try await box.run("serve", "--device", "/dev/ttyS0")
      #expect(ended.status == EX_USAGE)
      #expect(
        ended.errorText.contains("tcp:HOST:PORT, rfc2217:HOST:PORT, esphome://HOST/PORT, unix:PATH or ble:ADDRESS"))
      ended = try await box.run("serve", "--device", "tcp:127.0.0.1:9=nothing")
      #expect(
        ended.status == EX_CONFIG && ended.errorText.contains("there is no profile nothing"), "\(ended.errorText)")
    }
  }
}
