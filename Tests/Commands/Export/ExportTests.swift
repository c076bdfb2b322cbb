// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import Glibc
import TestSupport
import Testing

/// `export` as a process, and the programs that it is for: `upsc`, `upsrw`, `upscmd` and `upsmon` of Debian's nut-client.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct ExportTests {
  /// Where the service answers those who only read.
  private func readings(_ box: Sandbox) -> String { box.runtime.path + "/accessory-bridge/readings.socket" }

  /// Starts an exporter that follows the sandbox's service; returns it with the address that it prints.
  private func export(_ box: Sandbox, _ arguments: String...) async throws -> (Program, address: String) {
    let program = try box.start(
      ["export"] + arguments + ["--listen", "0", "--socket", readings(box)], limit: Sandbox.longLife)
    let line = try await program.line(containing: " is open")
    return (program, String(line.dropLast(" is open".count)))
  }

  private func nut(_ box: Sandbox, _ arguments: String...) async throws -> (Program, host: String) {
    let program = try box.start(
      ["export", "nut", "--listen", "0", "--socket", readings(box)] + arguments, limit: Sandbox.longLife)
    let line = try await program.line(containing: " is open")
    return (program, String(line.dropFirst("nut:".count).dropLast(" is open".count)))
  }

  private func client(_ words: String...) async throws -> Program.Transcript {
    try await Program(words, environment: ["PATH": "/usr/bin:/bin"], directory: "/").end()
  }

  /// Waits until `upsc` prints this.
  private func wait(for text: String, of ups: String) async throws {
    try await eventually("upsc \(ups) to print \(text)", within: .seconds(60)) {
      let ended = try await client("/bin/upsc", ups)
      return (ended.outputText + ended.errorText).contains(text)
    }
  }

  @Test func upscReadsAccessories() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57", "--voltage", "3712")
      _ = try await box.simulate(kind: "--profile", "megatec", "--serial", "RACK 1")
      let service = try await box.serve()
      let (exporter, host) = try await nut(box)
      try await wait(for: "battery.charge: 57", of: "SIM0001@\(host)")
      try await wait(for: "input.voltage: 226", of: "RACK_1@\(host)")
      #expect(try await client("/bin/upsc", "-l", host).lines == ["RACK_1", "SIM0001"])
      let variables = try await client("/bin/upsc", "SIM0001@\(host)").lines
      for line in [
        "battery.charge: 57", "battery.voltage: 3.712", "device.mfr: Accessory Bridge",
        "ups.model: AF1-SIM", "ups.serial: SIM0001", "ups.status: OL DISCHRG",
      ] { #expect(variables.contains(line), "\(line)") }
      #expect(try await client("/bin/upsc", "SIM0001@\(host)", "battery.charge").lines == ["57"])
      // Nothing can be written, and there are no commands.
      let writable = try await client("/bin/upsrw", "-l", "SIM0001@\(host)")
      #expect(writable.status == 0 && writable.outputText == "", "\(writable.errorText)")
      let commands = try await client("/bin/upscmd", "-l", "SIM0001@\(host)")
      #expect(commands.status == 0 && commands.lines.filter { !$0.isEmpty }.count == 1, "\(commands.outputText)")
      #expect(try await client("/bin/upsc", "nobody@\(host)").errorText.contains("Unknown UPS"))
      #expect(try await client("/bin/upsc", "-c", "SIM0001@\(host)").status == 0)
      // What is unplugged, and what nobody can say anything of.
      try await simulator.stop()
      try await wait(for: "Driver not connected", of: "SIM0001@\(host)")
      _ = try await box.simulate("--percent", "12")
      try await wait(for: "battery.charge: 12", of: "SIM0001@\(host)")
      service.signal(SIGKILL)
      try await service.end()
      try await wait(for: "Data stale", of: "SIM0001@\(host)")
      let again = try await box.serve()
      try await wait(for: "battery.charge: 12", of: "SIM0001@\(host)")
      exporter.signal(SIGTERM)
      #expect(try await exporter.end().status == 0)
      #expect(again.transcript.value.status == nil)
    }
  }

  /// Debian 12 has the program in /lib/nut, and a script that starts it in /usr/sbin. Newer versions have the program itself in /usr/sbin.
  private static let upsmon = ["/lib/nut/upsmon", "/usr/sbin/upsmon"].first(where: exists) ?? "upsmon"

  /// Runs `upsmon` until `isEnough` of what it has said, or until it ends. It would shut the machine down by writing a file.
  private func monitor(
    _ ups: String, _ box: Sandbox, until isEnough: @escaping @Sendable (String) -> Bool
  ) async throws -> Bool {
    let folder = box.directory.path
    unlink(folder + "/shutdown")
    try box.directory.write(
      Array(
        """
        RUN_AS_USER root
        MONITOR \(ups) 1 user password primary
        MINSUPPLIES 1
        SHUTDOWNCMD "touch \(folder)/shutdown"
        POLLFREQ 1
        POLLFREQALERT 1
        FINALDELAY 0
        HOSTSYNC 1
        POWERDOWNFLAG \(folder)/killpower

        """.utf8), to: "upsmon.conf")
    let program = try Program(
      [Self.upsmon, "-DDDD", "-p"], environment: ["PATH": "/usr/bin:/bin", "NUT_CONFPATH": folder],
      directory: folder, limit: .seconds(120))
    let state = try await program.transcript.wait { $0.status != nil || isEnough($0.errorText + $0.outputText) }
    #expect(!state.isHung, "\(state.errorText)")
    program.signal(SIGTERM)
    try await program.end()
    return access(folder + "/shutdown", F_OK) == 0
  }

  /// A UPS on battery that is low has `upsmon` shut the machine down if it is named as a UPS, and never otherwise.
  @Test func onlyANamedUPSShutsTheMachineDown() async throws {
    try await Sandbox.with { box in
      for serial in ["RACK1", "OTHER1"] {
        _ = try await box.simulate(
          kind: "--profile", "megatec", "--serial", serial, "--set", "on_battery=true", "--set",
          "battery.warnings=battery-low")
      }
      _ = try await box.simulate("--percent", "3", "--charge", "discharging")
      _ = try await box.serve()
      let (_, host) = try await nut(box, "--ups", "RACK1")
      try await wait(for: "ups.status: OB LB", of: "RACK1@\(host)")
      for (name, status) in [("OTHER1", "OL"), ("SIM0001", "OL DISCHRG")] {
        try await wait(for: "ups.status: \(status)", of: "\(name)@\(host)")
        let isDown = try await monitor("\(name)@\(host)", box) { text in
          text.split(separator: "parse_status: [\(status)]", omittingEmptySubsequences: false).count > 4
        }
        #expect(!isDown, "\(name)")
      }
      #expect(try await monitor("RACK1@\(host)", box) { _ in false })
    }
  }

  @Test func theUsersFileMustBePrivate() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      _ = try await box.serve()
      try box.directory.write(Array("[a]\npassword = secret\nupsmon primary\n".utf8), to: "users")
      #expect(chmod(box.directory.path + "/users", 0o644) == 0)
      let open = try await box.run("export", "nut", "--listen", "0", "--users", "users")
      #expect(open.status == EX_NOPERM)
      #expect(open.errorText.contains("every user of this machine can read or change it: chmod o= users"))
      #expect(chmod(box.directory.path + "/users", 0o600) == 0)
      let (_, host) = try await nut(box, "--users", "users")
      try await wait(for: "ups.status", of: "SIM0001@\(host)")
      let port = try #require(host.split(separator: ":").last.flatMap { UInt16($0) })
      for (password, answer) in [("secret", "OK\nOK\nOK\n"), ("guess", "OK\nOK\nERR ACCESS-DENIED\n")] {
        #expect(
          try await ask("USERNAME a\nPASSWORD \(password)\nLOGIN SIM0001\nLOGOUT\n", port) == answer + "OK Goodbye\n")
      }
    }
  }

  /// What a server answers to this until it closes the connection.
  private func ask(_ text: String, _ port: UInt16) async throws -> String {
    let transport = try await DescriptorTransport.open(NetworkAddress(host: "127.0.0.1", port: port))
    let session = AccessorySession(transport)
    try await session.write(Array(text.utf8))
    var bytes: [UInt8] = []
    do {
      for try await piece in session.input { bytes += piece }
    } catch {}
    await session.close()
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func metricsAreExportedByHTTP() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate("--percent", "57")
      _ = try await box.serve()
      let (exporter, address) = try await export(box, "metrics")
      let port = try #require(address.split(whereSeparator: { ":/".contains($0) }).compactMap { UInt16($0) }.first)
      let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
      try await eventually("the readings are there", within: .seconds(60)) {
        try await ask(request + "\r\n", port).contains("\naccessory_battery_charge_ratio{id=\"SIM0001\"} 0.57\n")
      }
      let open = try await ask(request + "Accept: application/openmetrics-text\r\n\r\n", port)
      #expect(open.hasPrefix("HTTP/1.1 200 OK\r\n") && open.hasSuffix("\n# EOF\n"))
      #expect(open.contains("\naccessory_service_up{socket=\"\(readings(box))\"} 1\n"))
      #expect(try await ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", port).hasPrefix("HTTP/1.1 421 "))
      exporter.signal(SIGINT)
      #expect(try await exporter.end().status == 0)
    }
  }

  private func file(_ box: Sandbox, _ name: String) -> String {
    (try? SmallFile.read(box.directory.path + "/" + name, limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
      ?? ""
  }

  @Test func metricsAreKeptInAFile() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--percent", "57")
      _ = try await box.serve()
      let exporter = try box.start(
        ["export", "metrics", "--textfile", "a.prom", "--socket", readings(box)], limit: Sandbox.longLife)
      let line = "\naccessory_battery_charge_ratio{id=\"SIM0001\"} 0.57\n"
      try await eventually("the readings are there", within: .seconds(60)) { file(box, "a.prom").contains(line) }
      try await simulator.stop()
      try await eventually("the readings are gone", within: .seconds(60)) {
        let text = file(box, "a.prom")
        return text.contains("\naccessory_connected{id=\"SIM0001\"} 0\n") && !text.contains(line)
      }
      // Whole at every moment: nothing else is left beside it.
      #expect(box.directory.names(in: "").filter { $0.contains(".prom") } == ["a.prom"])
      exporter.signal(SIGTERM)
      #expect(try await exporter.end().status == 0)
    }
  }

  @Test func metricsArePrintedOnce() async throws {
    try await Sandbox.with { box in
      let none = try await box.run("export", "metrics", "--once", "--socket", readings(box))
      #expect(none.status == EX_UNAVAILABLE && none.outputText == "", "\(none.errorText)")
      _ = try await box.simulate("--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "SIM0001 is attached at")
      let printed = try await box.run("export", "metrics", "--once")
      #expect(printed.status == 0, "\(printed.errorText)")
      #expect(printed.lines.contains("accessory_battery_charge_ratio{id=\"SIM0001\"} 0.57"))
      let written = try await box.run("export", "metrics", "--once", "--textfile", "b.prom", "--socket", readings(box))
      #expect(written.status == 0 && written.outputText == "", "\(written.errorText)")
      #expect(file(box, "b.prom").contains("\naccessory_battery_charge_ratio{id=\"SIM0001\"} 0.57\n"))
    }
  }

  #if THREAD_SANITIZER
    /// The main one, that for I/O, one that is kept for tasks, and the sanitizer's own.
    private static let threads = 4
  #else
    /// The main one, that for I/O, and one that is kept for tasks.
    private static let threads = 3
  #endif

  /// With accessories there and nothing happening no timer runs, after clients, too; and few threads are left.
  @Test func idleExportersRunNoTimers() async throws {
    try await Sandbox.with { box in
      _ = try await box.simulate()
      _ = try await box.serve()
      let (nut, host) = try await nut(box)
      let (metrics, address) = try await export(box, "metrics")
      try await wait(for: "ups.status", of: "SIM0001@\(host)")
      let port = try #require(address.split(whereSeparator: { ":/".contains($0) }).compactMap { UInt16($0) }.first)
      #expect(try await ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", port).hasPrefix("HTTP/1.1 200 "))
      for program in [nut, metrics] {
        let process = "/proc/\(program.pid)"
        // Threads that have nothing to do stay for a few seconds.
        try await eventually("the threads' end", within: .seconds(60)) {
          Directory.names(in: process + "/task").count <= Self.threads
        }
        try await eventually("no timer runs", within: .seconds(60)) {
          let timers = Directory.names(in: process + "/fdinfo").compactMap { name -> String? in
            let bytes = try? SmallFile.read(process + "/fdinfo/" + name, limit: 4_096)
            return bytes.map { String(decoding: $0, as: UTF8.self) }.flatMap { $0.contains("it_value") ? $0 : nil }
          }
          return !timers.isEmpty && timers.allSatisfy { $0.contains("it_value: (0, 0)") }
        }
      }
      #expect(try await client("/bin/upsc", "-l", host).lines == ["SIM0001"])
    }
  }

  @Test(arguments: [
    (["nut", "--listen", "0.0.0.0:3493"], "name their network, like --allow"),
    (["nut", "--listen", "no"], "a port, or a host and a port"), (["metrics"], "choose where the metrics go"),
    (["metrics", "--once", "--listen", "0"], "leave out --listen and --interval"),
    (["metrics", "--listen", "0", "--interval", "5"], "--interval is for --textfile"),
    (["metrics", "--textfile", "a", "--interval", "10ms"], "at least 1s"),
  ])
  func wrongUseOfExportIsAnError(_ arguments: [String], _ message: String) async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(["export"] + arguments)
      #expect(ended.status == EX_USAGE)
      #expect(ended.errorText.contains(message), "\(ended.errorText)")
    }
  }
}
