// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Foundation
import Glibc
import TestSupport
import Testing

extension UdevMock {
  /// `bridge-cli` in the testbed: it sees the same /sys and /dev.
  @Suite struct CommandTests {
    let bed: Testbed
    private let runtime: TemporaryDirectory

    init() throws {
      bed = try Testbed()
      runtime = try TemporaryDirectory()
    }

    private func start(_ arguments: [String], prefix: [String] = []) throws -> Program {
      let tests = linkTarget("/proc/self/exe") ?? ""
      let command = "/" + tests.split(separator: "/").dropLast().joined(separator: "/") + "/bridge-cli"
      var variables = [
        "XDG_RUNTIME_DIR": runtime.path, "TERM": "xterm", "PATH": "/usr/bin:/bin",
        "ACCESSORY_BRIDGE_PROFILES": runtime.path + "/profiles",
      ]
      variables.merge(ThisProcess.variables("LD_PRELOAD", "UMOCKDEV_DIR")) { $1 }
      return try Program(prefix + [command] + arguments, environment: variables, directory: runtime.path)
    }

    private func run(_ arguments: String...) async throws -> Program.Transcript { try await start(arguments).end() }

    /// What stands under these names and numbers in a JSON document.
    private func value(_ line: String?, _ path: [any Sendable]) throws -> Any? {
      var value: Any? = try JSONSerialization.jsonObject(with: Data((line ?? "").utf8))
      for step in path {
        if let name = step as? String { value = (value as? [String: Any])?[name] }
        if let index = step as? Int {
          let array = value as? [Any] ?? []
          value = array.indices.contains(index) ? array[index] : nil
        }
      }
      return value
    }

    private func text(_ line: String?, _ path: any Sendable...) throws -> String? { try value(line, path) as? String }
    private func number(_ line: String?, _ path: any Sendable...) throws -> Int? { try value(line, path) as? Int }

    @Test func listShowsEveryAccessoryAsTableAndJSON() async throws {
      try bed.plug(.board)
      try bed.plug(.gadget(3))
      try bed.plug(MockUSB(port: "1-5", address: 3, interfaces: [.bulk(0, (8, 6, 0x50), driver: "usb-storage")]))
      let table = try await run("list")
      #expect(table.status == 0)
      #expect(table.lines.count == 3)
      let board = try #require(table.lines.first { $0.hasPrefix("A1 ") })
      for word in ["Uno", "2341:0043", "tty,usb", "/dev/ttyACM0", "udev"] { #expect(board.contains(word)) }
      #expect(table.lines.contains { $0.hasPrefix("G3 ") && $0.contains("/dev/bus/usb/001/023") })
      #expect(try await run("list", "--all").lines.count == 4)
      let json = try await run("list", "--json").lines.first
      #expect(try text(json, "devices", 1, "id") == "A1")
      #expect(try text(json, "devices", 1, "terminal") == "/dev/ttyACM0")
      #expect(try text(json, "devices", 1, "ways", 1) == "usb")
      #expect(try text(json, "devices", 1, "links", 0) == "/dev/serial/by-id/usb-Arduino_Uno_A1-if00")
      #expect(try number(json, "devices", 1, "usb", "vendor_id") == 0x2341)
      #expect(try number(json, "devices", 1, "usb", "speed_mbps") == 480)
      #expect(try text(json, "devices", 1, "usb", "interfaces", 0, "driver") == "cdc_acm")
      #expect(try number(json, "devices", 1, "usb", "interfaces", 1, "endpoints", 0, "address") == 0x83)
      #expect(try text(json, "devices", 1, "usb", "interfaces", 1, "endpoints", 0, "transfer") == "bulk")
    }

    @Test(arguments: [
      "A1", "usb:2341:0043", "usb:2341:43:A1", "usb-Arduino_Uno_A1-if00", "serial/by-id/usb-Arduino_Uno_A1-if00",
      "/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0", "ttyACM0",
    ])
    func infoFindsADeviceByEachName(_ name: String) async throws {
      try bed.plug(.board)
      try bed.plug(.gadget(3))
      let info = try await run("info", name, "--passive")
      #expect(info.status == 0, "\(info.errorText)")
      for words in [
        "/dev/ttyACM0", "2341:0043  Arduino LLC  Uno", "480 Mbit/s", "driver cdc_acm", "endpoint 83 IN, bulk",
      ] {
        #expect(info.outputText.contains(words), "\(words)")
      }
    }

    @Test func infoUsesTheTransportThatIsAskedFor() async throws {
      try bed.plug(.board)
      try bed.plug(.gadget(3))
      let usb = try await run("info", "A1", "--transport", "usb", "--passive", "--json").lines.first
      #expect(try text(usb, "device", "path") == "/dev/bus/usb/001/005")
      let none = try await run("info", "G3", "--transport", "tty", "--passive")
      #expect(none.status == EX_CONFIG)
      #expect(none.errorText.contains("G3 (/dev/bus/usb/001/023) can't be opened with --transport tty; it has usb"))
    }

    /// A profile's wish counts unless the user names a way or a node.
    @Test func infoUsesTheTransportThatAProfilePrefers() async throws {
      try bed.plug(.board)
      #expect(mkdir(runtime.path + "/profiles", 0o700) == 0)
      let profile = "name: x\nmatch: {usb: {vendor: 2341}, by_id: usb-Arduino_*}\ntransport: {prefer: usb}\n"
      try runtime.write(Array(profile.utf8), to: "profiles/x.yaml")
      let expectations: [([String], String)] = [
        (["A1"], "/dev/bus/usb/001/005"), ([], "/dev/bus/usb/001/005"), (["ttyACM0"], "/dev/ttyACM0"),
        (["/dev/serial/by-path/pci-0000:00:14.0-usb-0:2:1.0"], "/dev/ttyACM0"),
        (["A1", "--transport", "tty"], "/dev/ttyACM0"),
      ]
      for (arguments, path) in expectations {
        let info = try await start(["info", "--passive", "--json"] + arguments).end()
        #expect(try text(info.lines.first, "device", "path") == path, "\(arguments)")
      }
      try runtime.write(Array("name: x\nmatch: {usb: {vendor: 2341}, by_id: usb-Other_*}".utf8), to: "profiles/x.yaml")
      let info = try await run("info", "A1", "--passive", "--json").lines.first
      #expect(try text(info, "device", "path") == "/dev/ttyACM0", "it fits no more")
    }

    @Test func aNameOfSeveralDevicesIsExplained() async throws {
      try bed.plug(.twoPorts)
      let info = try await run("info", "usb:0403:6010", "--passive")
      #expect(info.status == EX_USAGE)
      #expect(info.errorText.contains("matches 2 accessories, write more of the name: FT1-if00, FT1-if01"))
      let one = try await run("info", "FT1-if01", "--passive", "--json").lines.first
      #expect(try text(one, "device", "path") == "/dev/ttyUSB1")
      let wrong = try await run("info", "usb:what", "--passive")
      #expect(wrong.status == EX_USAGE)
      #expect(wrong.errorText.contains("usb:VENDOR:PRODUCT"))
    }

    @Test func watchTellsWhatComesAndGoes() async throws {
      let watch = try start(["watch", "--json"])
      // It is there when it tells of the first.
      try bed.plug(.gadget(1))
      let first = try await watch.lines(1)
      #expect(try text(first[0], "event") == "connected")
      try bed.plug(.gadget(2))
      bed.unplug(.gadget(1))
      let all = try await watch.lines(3)
      var seen: Set<String> = []
      for line in all { seen.insert("\(try text(line, "event") ?? "?") \(try text(line, "device", "id") ?? "?")") }
      #expect(seen == ["connected G1", "connected G2", "disconnected G1"])
      watch.signal(SIGINT)
      #expect(try await watch.end().status == 0)
    }

    @Test func whatADeviceSaysIsShownHarmless() async throws {
      var device = MockUSB.gadget(1)
      device.strings = ["product": Array("\u{1B}[2J\r\n\u{202E}x".utf8), "serial": Array("a\u{7}b".utf8)]
      try bed.plug(device)
      for arguments in [["list"], ["list", "--json"], ["info", "--passive"], ["doctor"]] {
        let output = try await start(arguments).end().outputText
        #expect(
          !output.unicodeScalars.contains {
            $0 != "\n" && ($0.properties.generalCategory == .control || $0 == "\u{202E}")
          })
      }
    }

    // MARK: - Batteries that the kernel knows

    @Test func aLaptopAnswersWithItsOwnBattery() async throws {
      for (path, kind) in [("PNP0C0A:00/power_supply/BAT0", "Battery"), ("ACPI0003:00/power_supply/AC", "Mains")] {
        try bed.add(
          "P: /devices/LNXSYSTM:00/\(path)\nE: SUBSYSTEM=power_supply\nA: type=\(kind)\\n\nA: online=1\\n\n"
            + "A: capacity=63\\n\nA: status=Discharging\\n\nA: voltage_now=11400000\\n\n")
      }
      let battery = try await run("battery")
      #expect(battery.status == 0, "\(battery.errorText)")
      #expect(battery.outputText.hasPrefix("63 %  normal  11.400 V  discharging"), "\(battery.outputText)")
      let list = try await run("list")
      #expect(list.lines.count == 2)
      #expect(list.lines.last?.contains("  power_supply:BAT0  ") == true, "\(list.outputText)")
      #expect(try await run("values", "AC").outputText.contains("online"))
      let charger = try await run("battery", "AC")
      #expect(charger.status != 0)
      #expect(charger.errorText.contains("is a charger, and has no battery"), "\(charger.errorText)")
      // Another accessory is what is meant as soon as there is one.
      try bed.plug(.gadget(3))
      #expect(try await run("battery").errorText.contains("/dev/bus/usb/001/023"))
      #expect(try await run("battery", "BAT0").status == 0)
      #expect(try await run("doctor", "BAT0").status == 0)
    }

    /// It has no work without the line in its configuration, and so ends at once.
    @Test func theServiceHoldsThemOnlyWhereItsConfigurationSaysSo() async throws {
      try bed.add(
        "P: /devices/platform/x/power_supply/BAT0\nE: SUBSYSTEM=power_supply\nA: type=Battery\\n\nA: capacity=63\\n\n")
      try runtime.write(Array("commands: []\n".utf8), to: "without.yaml")
      let idle = try await run(
        "serve", "--config", runtime.path + "/without.yaml", "--exit-idle", "100ms", "--log-level", "info")
      #expect(idle.status == 0, "\(idle.errorText)")
      #expect(!(idle.errorText + idle.outputText).contains("BAT0"))
      try runtime.write(Array("power_supply: true\n".utf8), to: "with.yaml")
      let service = try start(["serve", "--config", runtime.path + "/with.yaml", "--json"])
      try await eventually("the service to hold the battery") {
        try await run("list", "--json").outputText.contains(#""state":"attached""#)
      }
      let battery = try await run("battery", "--json").lines.first
      #expect(try number(battery, "battery", "percent") == 63)
      #expect(try await run("battery", "BAT0").status == 0)
      service.signal(SIGTERM)
      #expect(try await service.end().status == 0)
    }

    @Test func aUPSBesideASerialPortIsListedAndFound() async throws {
      try bed.plug(.boardWithUPS)
      let table = try await run("list")
      #expect(table.lines.contains { $0.contains(" hidraw ") && $0.contains("/dev/hidraw2") }, "\(table.lines)")
      #expect(table.lines.contains { $0.contains("tty,usb") && $0.contains("/dev/ttyACM0") })
      let json = try await run("list", "--json").lines.first
      #expect(try text(json, "devices", 0, "id") == "A1-if02")
      #expect(try text(json, "devices", 1, "id") == "A1")
      // Each is reached: what fails is that umockdev's node is no UPS.
      for arguments in [["A1-if02"], ["A1", "--transport", "hidraw"], ["--transport", "hidraw"]] {
        let battery = try await start(["battery"] + arguments).end()
        #expect(battery.errorText.contains("/dev/hidraw2"), "\(arguments): \(battery.errorText)")
      }
      #expect(try await findings("A1", "--transport", "hidraw").text.contains("/dev/hidraw2"))
    }

    // MARK: - Doctor

    private func findings(_ arguments: String...) async throws -> (status: CInt?, text: String) {
      let doctor = try await start(["doctor"] + arguments).end()
      return (doctor.status, doctor.outputText)
    }

    @Test func doctorExplainsAKernelDriver() async throws {
      var report = MockUSB.gadget(1)
      report.interfaces = [
        .init(number: 0, function: (3, 0, 0), endpoints: [(0x81, 3, 64), (1, 3, 64)], driver: "usbhid"),
        .bulk(1, driver: "some_driver"),
      ]
      try bed.plug(report)
      let text = try await findings("G1").text
      #expect(text.contains("driver usbhid uses interface 0: it is detached while the device is open"))
      #expect(text.contains("echo 1-1.1:1.1 | sudo tee /sys/bus/usb/drivers/some_driver/unbind"))
      #expect(text.contains("udev isn't running"))
    }

    /// Eaton's 9PX has 4,703 bytes: usbhid leaves it alone.
    @Test(arguments: [4_096, 4_703]) func doctorExplainsAReportDescriptorThatIsTooLong(length: UInt16) async throws {
      var ups = MockUSB.gadget(1)
      ups.interfaces = [.init(number: 0, function: (3, 0, 0), endpoints: [(0x81, 3, 8)])]
      var bytes = ups.described
      // The HID descriptor stands between those of the interface and its endpoints.
      let interface = try #require(bytes.firstRange(of: [9, 4, 0, 0]))
      bytes.insert(
        contentsOf: [9, 0x21, 0x11, 1, 0, 1, 0x22, UInt8(length & 0xFF), UInt8(length >> 8)],
        at: interface.lowerBound + 9)
      ups.descriptors = bytes
      try bed.plug(ups)
      let text = try await findings("G1").text
      #expect(text.contains("its report descriptor has 4703 bytes") == (length > 4_096), "\(text)")
    }

    @Test func doctorWarnsOfAutosuspend() async throws {
      try bed.add(
        MockUSB.gadget(1).text.replacing(
          "A: busnum", with: "A: power/control=auto\\n\nA: power/autosuspend_delay_ms=2000\\n\nA: busnum"))
      let text = try await findings("G1").text
      #expect(text.contains("warning  autosuspend"))
      #expect(text.contains("after 2000 ms"))
      #expect(text.contains("echo on | sudo tee /sys/devices/pci0000:00/0000:00:14.0/usb1/1-1.1/power/control"))
      #expect(text.contains(#"ATTR{idVendor}=="1234", ATTR{idProduct}=="5678", ATTR{power/control}="on"'"#))
    }

    @Test func doctorWarnsOfBrltty() async throws {
      var board = MockUSB.board
      board.properties["BRLTTY_BRAILLE_DRIVER"] = "bm"
      try bed.plug(board)
      let text = try await findings("A1").text
      #expect(text.contains("warning  brltty"))
      #expect(text.contains("sudo systemctl mask --now brltty.service brltty-udev.service"))
    }

    /// A process of that name is enough; here it is another program's link.
    @Test func doctorWarnsOfModemManager() async throws {
      try bed.plug(.board)
      #expect(symlink("/usr/bin/sleep", runtime.path + "/ModemManager") == 0)
      let quiet = try await findings("A1", "--details").text
      #expect(quiet.contains("ok       ModemManager  it isn't running"))
      let impostor = try Program([runtime.path + "/ModemManager", "60"], environment: [:], directory: "/")
      try await eventually("the program to run") {
        try SmallFile.read("/proc/\(impostor.pid)/comm", limit: 64) == Array("ModemManager\n".utf8)
      }
      let text = try await findings("A1").text
      #expect(text.contains("warning  ModemManager"))
      #expect(text.contains(#"ENV{ID_MM_DEVICE_IGNORE}="1"' | sudo tee /etc/udev/rules.d/70-2341-0043-no-modem.rules"#))
      bed.set(MockUSB.board.devpath, property: "ID_MM_DEVICE_IGNORE", "1")
      #expect(try await findings("A1", "--details").text.contains("a udev rule tells it to ignore this device"))
      impostor.signal(SIGKILL)
      try await impostor.end()
    }

    /// As another user, at a node that is root's.
    @Test func doctorExplainsAMissingPermission() async throws {
      try bed.plug(.gadget(1))
      let terminal = try openPseudoTerminal()
      #expect(chmod(terminal.path, 0o600) == 0)
      try bed.link("/dev/bus/usb/001/021", to: terminal.path)
      #expect(chmod(runtime.path, 0o777) == 0)
      let prefix = ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
      let doctor = try await start(["doctor", "G1"], prefix: prefix).end()
      #expect(doctor.status == EX_NOPERM, "\(doctor.outputText)")
      #expect(
        doctor.outputText.contains(
          #"ATTR{idProduct}=="5678", MODE="0660", GROUP="plugdev", TAG+="uaccess"' | sudo tee "#
            + "/etc/udev/rules.d/70-1234-5678-access.rules && sudo udevadm control --reload"))
      // Nobody is told to join root's group.
      #expect(!doctor.outputText.contains("usermod -aG root"))
      let list = try await start(["list"], prefix: prefix).end()
      #expect(list.outputText.contains("  denied  "))
    }

    @Test func doctorReportsAMissingNode() async throws {
      try bed.plug(.gadget(1))
      let doctor = try await findings("G1")
      #expect(doctor.text.contains("problem  device        there is no /dev/bus/usb/001/021"))
      #expect(doctor.status == EX_NOINPUT)
    }
  }
}
