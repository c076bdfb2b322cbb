// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import FamilyHIDPower
import FamilyHIDPowerSimulator
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// UPSs on USB: the kernel's HID driver and hidraw, and `bridge-cli`.
  @Suite struct UPSTests {
    private let place: UPSPlace

    init() throws { place = try UPSPlace() }

    @Test(arguments: ["cyberpower", "cyberpower-501", "apc", "eaton", "plain"])
    func aUPSIsFoundAndReadByItsClass(model: String) async throws {
      let simulator = try await place.plugIn("--model", model, "--percent", "60", "--runtime", "40m")
      let battery = try await place.json("battery", "LABUPS")
      #expect(battery.contains("\"percent\":60"), "\(battery)")
      #expect(battery.contains("\"time_to_empty_s\":1440"), "\(battery)")
      let values = try await place.json("values", "LABUPS")
      #expect(values.contains("on_battery"), "\(values)")
      let status = try await place.start(["battery", "/dev/hidraw0"]).end()
      #expect(status.outputText.hasPrefix("60 %"), "\(status.outputText)\(status.errorText)")
      #expect(status.outputText.contains(#/\nSupply +on line\n/#), "\(status.outputText)")
      try await place.unplug(simulator)
    }

    @Test func aPowerCutIsNewsAtOnce() async throws {
      let simulator = try await place.plugIn("--percent", "60")
      let watch = try place.start(["battery", "LABUPS", "--watch"])
      try await watch.line(containing: "60 %")
      simulator.signal(SIGUSR1)
      try await watch.line(containing: "discharging")
      simulator.signal(SIGUSR1)
      try await watch.line(from: 2) { $0.contains("charging") && !$0.contains("discharging") }
      try await place.unplug(simulator)
      // It goes on, and waits for the plug.
      watch.signal(SIGINT)
      _ = try await watch.end()
    }

    @Test func aUPSThatRefusesEachReportOnceIsReadWhole() async throws {
      let simulator = try await place.plugIn("--refuses-first", "--percent", "33")
      #expect(try await place.json("battery", "LABUPS").contains("\"percent\":33"))
      try await place.unplug(simulator)
    }

    /// The kernel's driver leaves it alone, so it has no node of hidraw, and somebody must say that it is a UPS.
    @Test func aUPSWhoseDescriptorIsTooLongForTheKernelIsAskedByItsUSBNode() async throws {
      try #require(Kernel.isReady)
      let simulator = try place.start(
        ["simulate", "ups", "--serial", "LABUPS", "--long-descriptor", "--model", "eaton", "--percent", "60"])
      try await simulator.line(containing: "LABUPS is plugged in at")
      try await eventually("doctor to see it", within: .seconds(60)) {
        try await place.start(["doctor", "LABUPS"]).end().outputText.contains("its report descriptor has 4703 bytes")
      }
      #expect(!exists("/dev/hidraw0"))
      #expect(try await place.json("battery", "LABUPS", "--driver", "hid-power").contains("\"percent\":60"))
      let values = try await place.json("values", "LABUPS", "--driver", "hid-power")
      #expect(values.contains("\"input_voltage\""), "\(values)")
      simulator.signal(SIGINT)
      _ = try await simulator.end()
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
      let device = try await PowerDevice.open(try await HIDTransport.open(path: node))
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
      try place.profile(
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
        let simulator = try place.start(["simulate", "ups", "--serial", name, "--silent-after", "10s"])
        try await simulator.line(containing: "\(name) is plugged in at")
        simulators.append(simulator)
      }
      let service = try place.start(["serve"])
      let start = MonotonicTime.now
      // What the service said until then is in the expectation below.
      try? await eventually("recoveries", within: .seconds(250)) {
        let said = service.transcript.value.errorText
        return names.allSatisfy { UPSPlace.count("\($0) answers again", said) >= 3 }
      }
      let said = service.transcript.value.errorText + service.transcript.value.outputText
      let resets = names.map { UPSPlace.count("\($0) was reset on its bus", said) }
      print("lab: \(resets.reduce(0, +)) resets brought 8 UPSs back 3 times each in \(MonotonicTime.now - start)")
      #expect(resets.allSatisfy { $0 >= 3 }, "\(resets) \(said.suffix(4_000))")
      try await place.end(service)
      for simulator in simulators { try await place.end(simulator) }
    }

    /// A service that only listens to a UPS, which tells its charge each twenty seconds in two reports: how often its threads are woken.
    @Test func aReportCostsTwoWakeUps() async throws {
      try place.profile(
        """
        name: quiet-ups
        match: {hid: 0084:0004, serial: LABUPS}
        driver: hid-power
        poll: off
        """)
      let simulator = try await place.plugIn("--model", "cyberpower", "--percent", "90", "--runtime", "2000s")
      let service = try place.start(["serve"])
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
      try await place.end(service)
      try await place.unplug(simulator)
    }

    // MARK: - Text in HID reports

    @Test func aUPSWithTextInItsReportsIsReadWhenSomebodySaysWhatItIs() async throws {
      try #require(Kernel.isReady)
      let simulator = try place.start(["simulate", "--profile", "megatec", "--hid-text", "--serial", "LABTEXT"])
      try await simulator.line(containing: "LABTEXT is plugged in at")
      try await eventually("a node of hidraw", within: .seconds(60)) {
        exists("/dev/hidraw0") && exists("/sys/class/hidraw/hidraw0/device/report_descriptor")
      }
      let asked = try await place.start(["battery", "hid-text:/dev/hidraw0"]).end()
      #expect(asked.status != 0, "its protocol isn't known: \(asked.outputText)")
      let values = try await place.json("values", "hid-text:/dev/hidraw0", "--driver", "megatec")
      #expect(values.contains("\"input_voltage\""), "\(values)")
      try place.profile(
        """
        name: my-ups
        match: {usb: {vendor: 0x0665, product: 0x5161}}
        driver: megatec
        transport: {prefer: hid-text}
        """)
      let named = try await place.json("values", "LABTEXT")
      #expect(named.contains("\"input_voltage\""), "\(named)")
      try await place.unplug(simulator)
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
