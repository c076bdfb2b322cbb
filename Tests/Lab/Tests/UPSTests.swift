// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import FamilyHIDPower
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// UPSs on USB: the kernel's HID driver and hidraw, `bridge-cli` and NUT's own driver on the same simulated device.
  @Suite struct UPSTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func start(_ arguments: [String]) throws -> Program {
      let tests = linkTarget("/proc/self/exe") ?? ""
      let command = "/" + tests.split(separator: "/").dropLast().joined(separator: "/") + "/bridge-cli"
      return try Program(
        [command] + arguments,
        environment: [
          "XDG_RUNTIME_DIR": directory.path, "XDG_CONFIG_HOME": directory.path, "PATH": "/usr/bin:/bin",
        ],
        directory: directory.path, limit: .seconds(900))
    }

    /// Writes a profile of the user.
    private func profile(_ text: String) throws {
      let folder = "\(directory.path)/accessory-bridge/profiles"
      mkdir("\(directory.path)/accessory-bridge", 0o700)
      mkdir(folder, 0o700)
      try directory.write(Array(text.utf8), to: "accessory-bridge/profiles/lab.yaml")
    }

    private func json(_ arguments: String...) async throws -> String {
      let transcript = try await start(arguments + ["--json"]).end()
      #expect(transcript.status == 0, "\(arguments) \(transcript.outputText)\(transcript.errorText)")
      return transcript.outputText
    }

    /// Plugs a UPS in, and waits until udev has seen its node.
    private func plugIn(_ options: String...) async throws -> Program {
      try #require(Kernel.isReady)
      let simulator = try start(["simulate", "ups", "--serial", "LABUPS"] + options)
      try await simulator.line(containing: "LABUPS is plugged in at")
      try await eventually("a node of hidraw", within: .seconds(60)) {
        exists("/dev/hidraw0") && exists("/sys/class/hidraw/hidraw0/device/report_descriptor")
      }
      return simulator
    }

    private func unplug(_ simulator: Program) async throws {
      simulator.signal(SIGINT)
      _ = try await simulator.end()
      try await Kernel.waitForNo("/dev/hidraw0")
    }

    @Test(arguments: ["cyberpower", "cyberpower-501", "apc", "eaton", "plain"])
    func aUPSIsFoundAndReadByItsClass(model: String) async throws {
      let simulator = try await plugIn("--model", model, "--percent", "60", "--runtime", "40m")
      let battery = try await json("battery", "LABUPS")
      #expect(battery.contains("\"percent\":60"), "\(battery)")
      #expect(battery.contains("\"time_to_empty_s\":1440"), "\(battery)")
      let values = try await json("values", "LABUPS")
      #expect(values.contains("on_battery"), "\(values)")
      let status = try await start(["battery", "/dev/hidraw0"]).end()
      #expect(status.outputText.hasPrefix("60 %"), "\(status.outputText)\(status.errorText)")
      try await unplug(simulator)
    }

    @Test func aPowerCutIsNewsAtOnce() async throws {
      let simulator = try await plugIn("--percent", "60")
      let watch = try start(["battery", "LABUPS", "--watch"])
      try await watch.line(containing: "60 %")
      simulator.signal(SIGUSR1)
      try await watch.line(containing: "discharging")
      simulator.signal(SIGUSR1)
      try await watch.line(from: 2) { $0.contains("charging") && !$0.contains("discharging") }
      try await unplug(simulator)
      // It goes on, and waits for the plug.
      watch.signal(SIGINT)
      _ = try await watch.end()
    }

    @Test func aUPSThatRefusesEachReportOnceIsReadWhole() async throws {
      let simulator = try await plugIn("--refuses-first", "--percent", "33")
      #expect(try await json("battery", "LABUPS").contains("\"percent\":33"))
      try await unplug(simulator)
    }

    /// The kernel's driver leaves it alone, so it has no node of hidraw, and somebody must say that it is a UPS.
    @Test func aUPSWhoseDescriptorIsTooLongForTheKernelIsAskedByItsUSBNode() async throws {
      try #require(Kernel.isReady)
      let simulator = try start(
        ["simulate", "ups", "--serial", "LABUPS", "--long-descriptor", "--model", "eaton", "--percent", "60"])
      try await simulator.line(containing: "LABUPS is plugged in at")
      try await eventually("doctor to see it", within: .seconds(60)) {
        try await start(["doctor", "LABUPS"]).end().outputText.contains("its report descriptor has 4703 bytes")
      }
      #expect(!exists("/dev/hidraw0"))
      #expect(try await json("battery", "LABUPS", "--driver", "hid-power").contains("\"percent\":60"))
      let values = try await json("values", "LABUPS", "--driver", "hid-power")
      #expect(values.contains("\"input_voltage\""), "\(values)")
      simulator.signal(SIGINT)
      _ = try await simulator.end()
    }

    // MARK: - Beside NUT

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
      let service = try start(["serve"])
      try await eventually("the readings' socket", within: .seconds(60)) {
        exists("\(directory.path)/accessory-bridge/readings.socket")
      }
      let exporter = try start(["export", "nut", "--listen", "0", "--ups", "LABUPS"])
      let line = try await exporter.line(containing: " is open")
      return (service, exporter, "LABUPS@" + line.dropFirst("nut:".count).dropLast(" is open".count))
    }

    private func end(_ programs: Program...) async throws {
      for program in programs {
        program.signal(SIGINT)
        _ = try await program.end()
      }
    }

    private func tool(_ words: String...) async throws -> Program.Transcript {
      try await Program(words, environment: ["PATH": "/usr/bin:/bin"], directory: directory.path).end()
    }

    /// What NUT's driver says of a UPS, and what it reads of ours by `export nut`: each variable that both have is the same. It takes the
    /// UPS away from the kernel's driver, so one comes after the other.
    @Test(arguments: [("cyberpower", "0764"), ("cyberpower-501", "0764"), ("apc", "051d"), ("eaton", "0463")])
    func nutSaysTheSame(model: String, vendor: String) async throws {
      let simulator = try await plugIn("--model", model, "--percent", "60", "--runtime", "40m")
      let (service, exporter, ups) = try await serveNUT()
      var ours: [String: String] = [:]
      try await eventually("our variables", within: .seconds(60)) {
        ours = variables(try await tool("/bin/upsc", ups).outputText)
        return ours["battery.charge"] != nil && ours["ups.load"] ?? ours["battery.runtime"] != nil
      }
      try await end(exporter, service)
      let nut = try Program(
        [
          "/lib/nut/usbhid-ups", "-s", "ups", "-x", "port=auto", "-x", "vendorid=\(vendor)", "-d", "1", "-u", "root",
        ], environment: ["PATH": "/usr/bin:/bin", "NUT_STATEPATH": directory.path, "NUT_ALTPIDPATH": directory.path],
        directory: directory.path)
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
      try await unplug(simulator)
    }

    /// Starts `upsmon`, which would shut the machine down by writing a file.
    private func monitor(_ ups: String) throws -> Program {
      try directory.write(
        Array(
          """
          RUN_AS_USER root
          MONITOR \(ups) 1 user password primary
          MINSUPPLIES 1
          SHUTDOWNCMD "touch \(directory.path)/shutdown"
          POLLFREQ 1
          POLLFREQALERT 1
          DEADTIME 5
          NOCOMMWARNTIME 5
          FINALDELAY 0
          HOSTSYNC 1
          POWERDOWNFLAG \(directory.path)/killpower

          """.utf8), to: "upsmon.conf")
      return try Program(
        ["/lib/nut/upsmon", "-DDDD", "-p"],
        environment: ["PATH": "/usr/bin:/bin", "NUT_CONFPATH": directory.path], directory: directory.path,
        limit: .seconds(300))
    }

    /// Waits until `upsmon` has said this once more than `count` times.
    private func says(_ text: String, _ monitor: Program, after count: Int = 0) async throws {
      _ = try await monitor.transcript.wait { state in
        state.status != nil || Self.count(text, state.errorText + state.outputText) > count
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

    private static func count(_ text: String, _ all: String) -> Int {
      all.split(separator: text, omittingEmptySubsequences: false).count - 1
    }

    /// The power is cut, and the battery runs low: `upsmon` has the machine shut down by what we serve.
    @Test func aPowerCutEndsInUpsmonsShutdown() async throws {
      let simulator = try await plugIn("--percent", "22", "--runtime", "200s")
      let (service, exporter, monitor) = try await serveUpsmon()
      let cut = MonotonicTime.now
      simulator.signal(SIGUSR1)
      try await says("parse_status: [OB", monitor)
      let onBattery = MonotonicTime.now
      try await simulator.line(containing: "battery 19 %")
      let low = MonotonicTime.now
      try await eventually("SHUTDOWNCMD", within: .seconds(60)) { exists("\(directory.path)/shutdown") }
      let down = MonotonicTime.now
      #expect(onBattery - cut < .seconds(5).patient)
      print(
        "lab: power cut to on battery at upsmon \(onBattery - cut), to battery low \(low - cut);",
        "battery low to SHUTDOWNCMD \(down - low)")
      monitor.signal(SIGTERM)
      _ = try await monitor.end()
      try await end(exporter, service)
      try await unplug(simulator)
    }

    /// `upsmon` says so when the UPS is pulled, and has it back within ten seconds of the plug.
    @Test func aPulledUPSIsMissedAndComesBack() async throws {
      var simulator = try await plugIn("--percent", "60")
      let (service, exporter, monitor) = try await serveUpsmon()
      let pulled = MonotonicTime.now
      try await unplug(simulator)
      try await says("is unavailable", monitor)
      let missed = MonotonicTime.now
      let before = Self.count("parse_status: [OL", monitor.transcript.value.errorText)
      simulator = try start(["simulate", "ups", "--serial", "LABUPS", "--percent", "60"])
      try await simulator.line(containing: "LABUPS is plugged in at")
      let plugged = MonotonicTime.now
      try await says("parse_status: [OL", monitor, after: before)
      let back = MonotonicTime.now - plugged
      print("lab: unplug to NOCOMM at upsmon \(missed - pulled); plug to its status at upsmon \(back)")
      #expect(back < .seconds(10).patient)
      monitor.signal(SIGTERM)
      _ = try await monitor.end()
      try await end(exporter, service)
      try await unplug(simulator)
    }

    // MARK: - Many times

    /// Plugged in, read and pulled again and again, four at a time. LAB_CYCLES says how often.
    @Test(.timeLimit(.minutes(Patience.minutes(20)))) func manyReplugsLeaveNothingBehind() async throws {
      try #require(Kernel.isReady)
      func cycles(_ count: Int) async throws {
        try await withThrowingTaskGroup { group in
          for lane in 0..<4 {
            group.addTask { for number in 0..<count { try await Self.cycle("L\(lane)C\(number)", lane) } }
          }
          try await group.waitForAll()
        }
      }
      try await cycles(3)
      let (descriptors, threads) = (ThisProcess.descriptors, ThisProcess.threadCount)
      let count = getenv("LAB_CYCLES").flatMap { Int(String(cString: $0)) } ?? 100
      let start = MonotonicTime.now
      try await cycles(count / 4)
      print(
        "lab: \(count / 4 * 4) replugs of a UPS in \(MonotonicTime.now - start); threads \(threads) before,",
        "\(ThisProcess.threadCount) after")
      try await ThisProcess.waitForNoDescriptors(except: descriptors)
      #expect(ThisProcess.threadCount <= threads + 8, "but for the dispatch pool's")
    }

    private static func cycle(_ serial: String, _ lane: Int) async throws {
      var configuration = UPSSimulator.Configuration()
      (configuration.serialNumber, configuration.model) = (serial, UPSModel.allCases[lane])
      configuration.state = UPSState(percent: Double(40 + lane))
      let simulator = UPSSimulator(configuration, io: Kernel.devices)
      let path = try await simulator.plugIn()
      var node = ""
      try await eventually("hidraw of \(serial)", within: .seconds(60)) {
        guard Kernel.text("\(path)/serial") == serial else { return false }
        let interface = "\(path)/\(path.split(separator: "/").last ?? ""):1.0"
        for name in Directory.names(in: interface) {
          if let found = Directory.names(in: "\(interface)/\(name)/hidraw").first { node = "/dev/\(found)" }
        }
        return !node.isEmpty && Kernel.exists(node)
      }
      let device = try await PowerDevice.open(AccessorySession(try await HIDTransport.open(path: node)))
      let percent = try await device.battery().percent
      #expect(percent == 40 + lane)
      await simulator.stop()
      // What was asked for just then isn't answered any more.
      var end: AccessoryError?
      while end == nil || end?.kind == .timedOut {
        do throws(AccessoryError) { _ = try await device.battery() } catch { end = error }
      }
      #expect(end?.kind == .disconnected, "\(end?.message ?? "")")
      await device.close()
    }

    /// Eight UPSs that go silent three times each, and come back by nothing but a reset on the bus.
    @Test(.timeLimit(.minutes(Patience.minutes(20)))) func silentUPSsAreBroughtBack() async throws {
      try #require(Kernel.isReady)
      try profile(
        """
        name: fast-ups
        match: {hid: 0084:0004, serial: "MUTE*"}
        driver: hid-power
        poll: {readings: 1s}
        policies: {silent: {polls: 1, reset: allowed, interval: 200ms, longest: 1s}}
        """)
      let names = (1...8).map { "MUTE\($0)" }
      var simulators: [Program] = []
      for name in names {
        let simulator = try start(["simulate", "ups", "--serial", name, "--silent-after", "10s"])
        try await simulator.line(containing: "\(name) is plugged in at")
        simulators.append(simulator)
      }
      let service = try start(["serve"])
      let start = MonotonicTime.now
      // What the service said until then is in the expectation below.
      try? await eventually("recoveries", within: .seconds(250)) {
        let said = service.transcript.value.errorText
        return names.allSatisfy { Self.count("\($0) answers again", said) >= 3 }
      }
      let said = service.transcript.value.errorText + service.transcript.value.outputText
      let resets = names.map { Self.count("\($0) was reset on its bus", said) }
      print("lab: \(resets.reduce(0, +)) resets brought 8 UPSs back 3 times each in \(MonotonicTime.now - start)")
      #expect(resets.allSatisfy { $0 >= 3 }, "\(resets) \(said.suffix(4_000))")
      try await end(service)
      for simulator in simulators { try await end(simulator) }
    }

    /// A service that only listens to a UPS, which tells its charge each twenty seconds in two reports: how often its threads are woken.
    @Test func aReportCostsTwoWakeUps() async throws {
      try profile(
        """
        name: quiet-ups
        match: {hid: 0084:0004, serial: LABUPS}
        driver: hid-power
        poll: off
        """)
      let simulator = try await plugIn("--model", "cyberpower", "--percent", "90", "--runtime", "2000s")
      let service = try start(["serve"])
      _ = try await service.transcript.wait { state in
        state.status != nil || (state.errorText + state.outputText).contains("LABUPS is attached")
      }
      simulator.signal(SIGUSR1)
      try await simulator.line(containing: "battery 88 %")
      let before = service.waits
      try await simulator.line(containing: "battery 85 %")
      let count = service.waits.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) }
      print("lab: \(count) wake-ups of the service's threads for 6 reports in 60 s")
      #expect(count <= 12)
      try await end(service)
      try await unplug(simulator)
    }

    // MARK: - Text in HID reports

    @Test func aUPSWithTextInItsReportsIsReadWhenSomebodySaysWhatItIs() async throws {
      try #require(Kernel.isReady)
      let simulator = try start(["simulate", "--profile", "megatec", "--hid-text", "--serial", "LABTEXT"])
      try await simulator.line(containing: "LABTEXT is plugged in at")
      try await eventually("a node of hidraw", within: .seconds(60)) {
        exists("/dev/hidraw0") && exists("/sys/class/hidraw/hidraw0/device/report_descriptor")
      }
      let asked = try await start(["battery", "hid-text:/dev/hidraw0"]).end()
      #expect(asked.status != 0, "its protocol isn't known: \(asked.outputText)")
      let values = try await json("values", "hid-text:/dev/hidraw0", "--driver", "megatec")
      #expect(values.contains("\"input_voltage\""), "\(values)")
      try profile(
        """
        name: my-ups
        match: {usb: {vendor: 0x0665, product: 0x5161}}
        driver: megatec
        transport: {prefer: hid-text}
        """)
      let named = try await json("values", "LABTEXT")
      #expect(named.contains("\"input_voltage\""), "\(named)")
      try await unplug(simulator)
    }
  }
}

extension Program {
  /// How often each of its threads has waited for something and was woken.
  fileprivate var waits: [String: Int] {
    Directory.names(in: "/proc/\(pid)/task").reduce(into: [:]) { waits, thread in
      let text = (try? SmallFile.read("/proc/\(pid)/task/\(thread)/status", limit: 8_192)) ?? []
      let line = String(decoding: text, as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix("voluntary_ctxt_switches:") }
      waits[thread] = Int(line?.split(separator: "\t").last ?? "") ?? 0
    }
  }
}
