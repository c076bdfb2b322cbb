// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

extension Plain {
  /// What NUT's programs say of a simulated UPS, and what they do with what `export nut` says of it.
  @Suite struct NUTTests {
    private let place: UPSPlace

    init() throws { place = try UPSPlace() }

    /// The variables of a text in the form of `upsc`.
    private func variables(_ text: String) -> [String: String] {
      Dictionary(
        text.split(separator: "\n").compactMap { line -> (String, String)? in
          let parts = line.split(separator: ":", maxSplits: 1)
          guard parts.count == 2, parts[0].contains(".") else { return nil }
          return (String(parts[0]), parts[1].split(separator: " ").joined(separator: " "))
        }
      ) { first, _ in first }
    }

    /// A service and an exporter for NUT; the third is where `upsc` and `upsmon` find the UPS.
    private func serveNUT() async throws -> (service: Program, exporter: Program, ups: String) {
      let service = try place.start(["serve"])
      try await eventually("the readings' socket", within: .seconds(60)) {
        exists("\(place.directory.path)/accessory-bridge/readings.socket")
      }
      let exporter = try place.start(["export", "nut", "--listen", "0", "--ups", "LABUPS"])
      let line = try await exporter.line(containing: " is open")
      return (service, exporter, "LABUPS@" + line.dropFirst("nut:".count).dropLast(" is open".count))
    }

    private func tool(_ words: String...) async throws -> Program.Transcript {
      try await Program(words, environment: ["PATH": "/usr/bin:/bin"], directory: place.directory.path).end()
    }

    /// What NUT's driver says of a UPS, and what it reads of ours by `export nut`: each variable that both have is the same. It takes the
    /// UPS away from the kernel's driver, so one comes after the other.
    @Test(arguments: [("cyberpower", "0764"), ("cyberpower-501", "0764"), ("apc", "051d"), ("eaton", "0463")])
    func nutSaysTheSame(model: String, vendor: String) async throws {
      let simulator = try await place.plugIn("--model", model, "--percent", "60", "--runtime", "40m")
      let (service, exporter, ups) = try await serveNUT()
      var ours: [String: String] = [:]
      try await eventually("our variables", within: .seconds(60)) {
        ours = variables(try await tool("/bin/upsc", ups).outputText)
        return ours["battery.charge"] != nil && ours["ups.load"] ?? ours["battery.runtime"] != nil
      }
      try await place.end(exporter, service)
      let nut = try Program(
        [
          "/lib/nut/usbhid-ups", "-s", "ups", "-x", "port=auto", "-x", "vendorid=\(vendor)", "-d", "1", "-u", "root",
        ],
        environment: [
          "PATH": "/usr/bin:/bin", "NUT_STATEPATH": place.directory.path, "NUT_ALTPIDPATH": place.directory.path,
        ],
        directory: place.directory.path)
      let said = try await nut.end()
      let theirs = variables(said.outputText)
      // What the programs are, and how they work, differs.
      let common = Set(ours.keys).intersection(theirs.keys).filter { !$0.hasPrefix("driver.") }.sorted()
      print("lab: \(model): what both say: variable, ours, NUT's")
      for name in common { print("lab: \(name): \(ours[name] ?? "") | \(theirs[name] ?? "")") }
      print("lab: only ours: \(Set(ours.keys).subtracting(theirs.keys).sorted().joined(separator: " "))")
      print("lab: only NUT's: \(Set(theirs.keys).subtracting(ours.keys).sorted().joined(separator: " "))")
      for name in ["battery.charge", "battery.runtime", "ups.status"] {
        #expect(common.contains(name), "\(name) \(said.outputText)\(said.errorText)")
      }
      for name in common {
        guard let mine = Double(ours[name] ?? ""), let other = Double(theirs[name] ?? "") else { continue }
        #expect(abs(mine - other) <= 0.02 * max(1, abs(other)), "\(name): \(mine), and \(other) by NUT")
      }
      try await place.unplug(simulator)
    }

    /// Starts `upsmon`, which would shut the machine down by writing a file.
    private func monitor(_ ups: String) throws -> Program {
      try place.directory.write(
        Array(
          """
          RUN_AS_USER root
          MONITOR \(ups) 1 user password primary
          MINSUPPLIES 1
          SHUTDOWNCMD "touch \(place.directory.path)/shutdown"
          POLLFREQ 1
          POLLFREQALERT 1
          DEADTIME 5
          NOCOMMWARNTIME 5
          FINALDELAY 0
          HOSTSYNC 1
          POWERDOWNFLAG \(place.directory.path)/killpower

          """.utf8), to: "upsmon.conf")
      return try Program(
        ["/lib/nut/upsmon", "-DDDD", "-p"],
        environment: ["PATH": "/usr/bin:/bin", "NUT_CONFPATH": place.directory.path], directory: place.directory.path,
        limit: .seconds(300))
    }

    /// Waits until `upsmon` has said this once more than `count` times.
    private func says(_ text: String, _ monitor: Program, after count: Int = 0) async throws {
      _ = try await monitor.transcript.wait { state in
        state.status != nil || UPSPlace.count(text, state.errorText + state.outputText) > count
      }
      #expect(monitor.transcript.value.status == nil)
    }

    /// A service, an exporter for NUT, and an `upsmon` that has found the UPS on line power.
    private func serveUpsmon() async throws -> (service: Program, exporter: Program, monitor: Program) {
      let (service, exporter, ups) = try await serveNUT()
      try await eventually("upsc", within: .seconds(60)) {
        try await tool("/bin/upsc", ups).outputText.contains("ups.status: OL")
      }
      let monitor = try monitor(ups)
      try await says("parse_status: [OL", monitor)
      return (service, exporter, monitor)
    }

    /// The power is cut, and the battery runs low: `upsmon` has the machine shut down by what we serve.
    @Test func aPowerCutEndsInUpsmonsShutdown() async throws {
      let simulator = try await place.plugIn("--percent", "22", "--runtime", "200s")
      let (service, exporter, monitor) = try await serveUpsmon()
      let cut = MonotonicTime.now
      simulator.signal(SIGUSR1)
      try await says("parse_status: [OB", monitor)
      let onBattery = MonotonicTime.now
      try await simulator.line(containing: "battery 19 %")
      let low = MonotonicTime.now
      try await eventually("SHUTDOWNCMD", within: .seconds(60)) { exists("\(place.directory.path)/shutdown") }
      let down = MonotonicTime.now
      #expect(onBattery - cut < .seconds(5).patient)
      print(
        "lab: power cut to on battery at upsmon \(onBattery - cut), to battery low \(low - cut);",
        "battery low to SHUTDOWNCMD \(down - low)")
      monitor.signal(SIGTERM)
      _ = try await monitor.end()
      try await place.end(exporter, service)
      try await place.unplug(simulator)
    }

    /// `upsmon` says so when the UPS is pulled, and has it back within ten seconds of the plug.
    @Test func aPulledUPSIsMissedAndComesBack() async throws {
      var simulator = try await place.plugIn("--percent", "60")
      let (service, exporter, monitor) = try await serveUpsmon()
      let pulled = MonotonicTime.now
      try await place.unplug(simulator)
      try await says("is unavailable", monitor)
      let missed = MonotonicTime.now
      let before = UPSPlace.count("parse_status: [OL", monitor.transcript.value.errorText)
      simulator = try place.start(["simulate", "ups", "--serial", "LABUPS", "--percent", "60"])
      try await simulator.line(containing: "LABUPS is plugged in at")
      let plugged = MonotonicTime.now
      try await says("parse_status: [OL", monitor, after: before)
      let back = MonotonicTime.now - plugged
      print("lab: unplug to NOCOMM at upsmon \(missed - pulled); plug to its status at upsmon \(back)")
      #expect(back < .seconds(10).patient)
      monitor.signal(SIGTERM)
      _ = try await monitor.end()
      try await place.end(exporter, service)
      try await place.unplug(simulator)
    }
  }
}
