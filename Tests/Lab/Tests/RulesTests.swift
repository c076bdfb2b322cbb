// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

extension Plain {
  /// udev goes by the rules that are made from profiles.
  @Suite struct RulesTests {
    private let directory: TemporaryDirectory
    private static let path = "/etc/udev/rules.d/70-accessory-bridge.rules"

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ words: String...) async throws -> Program.Transcript {
      let environment = ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]
      return try await Program(words, environment: environment, directory: directory.path).end()
    }

    /// Puts the rules in force; the group is the one that everybody has.
    private func use(_ profiles: [Profile], run program: String? = nil) async throws {
      var rules = UdevRules()
      rules.group = "daemon"
      if program != nil { (rules.unit, rules.program) = (nil, program) }
      try directory.write(Array(rules.text(for: profiles).utf8), to: "rules", mode: 0o644)
      #expect(try await run("cp", "rules", Self.path).status == 0)
      #expect(try await run("udevadm", "control", "--reload").status == 0)
    }

    private func properties(_ node: String) async throws -> Lines {
      try await run("udevadm", "info", "--query=property", "--name=\(node)").lines
    }

    private func isOurs(_ node: String) -> Bool {
      var file = stat()
      return stat(node, &file) == 0 && file.st_mode & 0o777 == 0o660
        && file.st_gid == getgrnam("daemon")?.pointee.gr_gid
    }

    /// The nodes are the group's, systemd is told of all that happens to them, and others are let alone.
    @Test func ourNodesBelongToTheGroup() async throws {
      try await use(ProfileStore.builtIn.profiles)
      // 252 has no 'udevadm verify'; a test of any device shows what is thought of the rules.
      let judged = try await run("udevadm", "test", "/sys/class/mem/null")
      #expect(judged.status == 0 && judged.errorText.contains("70-accessory-bridge.rules"), "\(judged.errorText)")
      #expect(!judged.errorText.contains("70-accessory-bridge.rules:"), "\(judged.errorText)")

      let monitor = try Program(
        ["udevadm", "monitor", "--udev", "--property"], environment: ["PATH": "/usr/bin:/bin"],
        directory: directory.path)
      try await monitor.line(containing: "UDEV - the event which udev sends out")
      for kind in SimulatedUSBIdentity.Kind.allCases {
        let start = monitor.transcript.value.lines.count
        let plugged = try await PluggedIn(kind)
        let properties = try await properties(plugged.node)
        for wanted in ["ID_ACCESSORY_BRIDGE=1", "ID_MM_DEVICE_IGNORE=1", "SYSTEMD_WANTS=accessory-bridge.service"] {
          #expect(properties.contains(wanted), "\(kind) \(properties)")
        }
        #expect(isOurs(plugged.node), "\(kind)")
        let usb = try await run("udevadm", "info", "--query=name", "--path=\(plugged.path)").lines.first ?? ""
        #expect(isOurs("/dev/" + usb), "\(kind)")
        // The rules of an event that is looked at when the device is gone find nothing of it.
        #expect(try await run("udevadm", "settle").status == 0)
        try await plugged.stop()
        // Told last, and its properties up to an empty line: only then is the next one its own device.
        let end = "remove   \(plugged.path.dropFirst("/sys".utf8.count)) (usb)"
        try await monitor.transcript.wait { state in
          let told = state.lines.dropFirst(start).drop { !$0.contains(end) }
          return state.status != nil || told.contains("")
        }
      }
      monitor.signal(SIGTERM)
      let events = try await monitor.end().outputText.split(separator: "\n\n", omittingEmptySubsequences: true)
      let parting = events.filter { event in
        let isNode = event.contains("\nDEVTYPE=usb_device\n") || event.contains("\nSUBSYSTEM=tty\n")
        return isNode && (event.contains("\nACTION=remove\n") || event.contains("\nACTION=unbind\n"))
      }
      #expect(parting.count == 4 * 2 + 2, "four devices, two terminals")
      for event in parting {
        let tags = event.split(separator: "\n").first { $0.hasPrefix("CURRENT_TAGS=") }
        #expect(tags?.contains(":systemd:") == true, "\(event)")
      }
    }

    /// A text that would end the quotes, begin an alternative, or name another property, if it could.
    @Test func aHostileProfileInjectsNoRules() async throws {
      let text = #"A" ENV{X}="1\", b|c [d]? $k %k {e"#
      try await use([
        Profile(name: "a\nENV{INJECTED}=\"1\"", rules: [DeviceRule(name: TextPattern(text), usbVendor: 0x1209)]),
        Profile(name: "b", rules: [DeviceRule(name: "x\", ENV{INJECTED}=\"1", usbVendor: 0x1209)]),
      ])
      for (product, isKnown) in [(text, true), (text + "f", false), ("A", false), ("b", false)] {
        let plugged = try await PluggedIn(.modem, usb: { $0.product = product })
        let properties = try await properties(plugged.node)
        #expect(properties.contains("ID_ACCESSORY_BRIDGE=1") == isKnown, "\(product)")
        #expect(!properties.contains { $0.hasPrefix("INJECTED") || $0.hasPrefix("X=") })
        #expect(isOurs(plugged.node) == isKnown)
        try await plugged.stop()
      }
      _ = unlink(Self.path)
      #expect(try await run("udevadm", "control", "--reload").status == 0)
    }

    /// Where there is no systemd, udev runs a command for each that comes; the service that it starts has them all.
    @Test func udevStartsTheServiceWithoutSystemd() async throws {
      try await use(ProfileStore.builtIn.profiles, run: Program.bridgeCLI)
      var plugged: [PluggedIn] = []
      for (serial, kind) in [("RUN1", SimulatedUSBIdentity.Kind.modem), ("RUN2", .bulk)] {
        plugged.append(try await PluggedIn(kind) { $0.device.identity.serialNumber = serial })
      }
      let socket = InstalledService.socket
      var attached: Set<String> = []
      let end = MonotonicTime.now + Duration.seconds(60).patient
      while attached != ["RUN1", "RUN2"], MonotonicTime.now < end {
        if Kernel.exists(socket) { attached = (try? await InstalledService.attached()) ?? [] }
        await IOThread.shared.sleep(for: .milliseconds(200))
      }
      let described = await InstalledService.description()
      #expect(attached == ["RUN1", "RUN2"], "\(described)")
      for one in plugged { try await one.stop() }
      let descriptor = try UnixSocket.create(blocking: true)
      try UnixSocket.connect(descriptor, to: socket)
      let process = try UnixSocket.peer(of: descriptor).process
      Socket.close(descriptor)
      #expect(process > 1 && kill(process, SIGTERM) == 0)
      try await eventually("the service to end", within: .seconds(60)) { !Kernel.exists(socket) }
      _ = unlink(Self.path)
      #expect(try await run("udevadm", "control", "--reload").status == 0)
    }
  }
}
