// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryFamilies
import AccessoryIO
import TestSupport
import Testing

@testable import AccessoryDrivers

/// What udev reads in the rules.
@Suite struct UdevRulesTests {
  private func rules(_ rules: DeviceRule..., name: String = "x") throws -> RulesFile {
    try RulesFile(UdevRules().text(for: [Profile(name: name, rules: rules)]))
  }

  private let simulated = [
    "idVendor": "1209", "idProduct": "0001", "bDeviceClass": "00", "manufacturer": "Accessory Bridge",
    "product": "Simulated accessory", "serial": "SIM0001",
  ]

  /// What is installed is what the command prints for its own profiles.
  @Test func theFileIsWhatIsGenerated() throws {
    let root = ProjectFolder.path
    let path = "\(root)/udev/70-accessory-bridge.rules"
    let file = String(decoding: try SmallFile.read(path, limit: 1 << 20), as: UTF8.self)
    let message = "bridge-cli profile udev-rules --built-in > udev/70-accessory-bridge.rules"
    #expect(file == UdevRules().text(for: ProfileStore.builtIn.profiles), "\(message)")
  }

  /// Every line, and every key in it, is one of those that belong there.
  @Test func theRulesHaveNoOtherLines() throws {
    let text = UdevRules().text(for: ProfileStore.builtIn.profiles)
    let file = try RulesFile(text)
    #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
    let marks = file.lines.filter { $0.last?.key == "ENV{ID_ACCESSORY_BRIDGE}" && $0.last?.operation == "=" }
    #expect(
      marks.count == 12, "five of USB, each as a terminal and as a device, and UPSs by their reports, and as a device")
    let others = file.lines.filter { !marks.contains($0) }.map { line in
      line.map { "\($0.key)\($0.operation)\($0.value)" }.joined(separator: " ")
    }
    #expect(
      others == [
        "SUBSYSTEM!=tty|usb|hidraw GOTO=accessory_bridge_end",
        "SUBSYSTEM==usb ENV{DEVTYPE}!=usb_device GOTO=accessory_bridge_end",
        "ACTION==remove ENV{PRODUCT}==1209/1/* TAG+=systemd",
        "ACTION==remove ENV{PRODUCT}==1209/2/* TAG+=systemd",
        "ACTION==remove ENV{PRODUCT}==1209/3/* TAG+=systemd",
        "ACTION==remove ENV{PRODUCT}==403/6001/* TAG+=systemd",
        "ACTION==remove ENV{PRODUCT}==694/5/* TAG+=systemd",
        "ACTION==unbind|remove IMPORT{db}=ID_ACCESSORY_BRIDGE",
        "ACTION==unbind|remove GOTO=accessory_bridge_known",
        "SUBSYSTEM==hidraw ACTION==add SUBSYSTEMS==usb ENV{ID_ACCESSORY_BRIDGE}==1 "
          + "RUN+=/bin/sh -c 'echo change > /sys%p/../../../../uevent'",
        "LABEL=accessory_bridge_known",
        "ENV{ID_ACCESSORY_BRIDGE}!=1 GOTO=accessory_bridge_end",
        "TAG+=systemd ENV{SYSTEMD_WANTS}+=accessory-bridge.service",
        "ENV{ID_MM_DEVICE_IGNORE}=1 ENV{ID_MM_PORT_IGNORE}=1",
        "TAG+=uaccess GROUP=accessory-bridge MODE=0660",
        "LABEL=accessory_bridge_end",
      ])
  }

  @Test func optionsOfTheRulesAreChecked() throws {
    var rules = UdevRules()
    (rules.group, rules.mode, rules.unit) = ("plugdev", 0o600, nil)
    let text = rules.text(for: [.af1])
    #expect(text.contains(#"TAG+="uaccess", GROUP="plugdev", MODE="0600""#))
    #expect(!text.contains("systemd") && !text.contains("SYSTEMD_WANTS"))
    rules.program = "/usr/bin/bridge-cli"
    let run = #"ACTION=="add", RUN+="/usr/bin/bridge-cli attach --udev""#
    #expect(rules.text(for: [.af1]).split(separator: "\n").contains { $0 == run })
    for path in ["bridge-cli", "/a b", "/a\"", "/$x", "/%k", ""] {
      rules.program = path
      #expect(!UdevRules.isPath(path) && !rules.text(for: [.af1]).contains("RUN"))
    }
    (rules.group, rules.unit) = ("a\"\nb", "x\", RUN+=\"/bin/sh")
    #expect(rules.text(for: [.af1]).contains(#"ENV{SYSTEMD_WANTS}+="x___RUN____bin_sh""#))
    #expect(rules.text(for: [.af1]).contains(#"GROUP="a__b""#))
    #expect(UdevRules.isName("a-b_c@d.service") && !UdevRules.isName("") && !UdevRules.isName("a b"))
    #expect(!UdevRules.isName(String(repeating: "a", count: 256)))
  }

  // MARK: - What fits

  @Test func simulatedAccessoriesAreKnown() throws {
    let file = try RulesFile(UdevRules().text(for: ProfileStore.builtIn.profiles))
    #expect(file.marks("usb", attributes: simulated) && file.marks("tty", attributes: simulated))
    let changes: [([String: String], Bool)] = [
      (["idProduct": "0002", "product": "Another name"], true), (["idProduct": "0003"], false),
      (["idProduct": "0004"], false), (["manufacturer": "Acme"], false),
      (["idVendor": "0403", "idProduct": "6001"], true),
      (["idVendor": "0403", "idProduct": "6001", "product": "FT232R USB UART"], false),
      (["bDeviceClass": "09"], false),
    ]
    for (change, isKnown) in changes {
      let attributes = simulated.merging(change) { $1 }
      #expect(file.marks("usb", attributes: attributes) == isKnown, "\(change)")
      #expect(file.marks("tty", attributes: attributes) == isKnown, "\(change)")
    }
    #expect(file.marks("usb", attributes: simulated.merging(["idProduct": "0003"]) { $1 }, interfaces: ":030000:"))
    var nameless = simulated
    nameless["manufacturer"] = nil
    #expect(!file.marks("usb", attributes: nameless))
  }

  @Test func everyPartOfARuleIsMatchedByUdev() throws {
    let all = try rules(
      DeviceRule(
        name: "Sim*", manufacturer: "Accessory Bridge", serialNumber: "SIM*1", usbVendor: 0x1209, usbProduct: 1,
        interfaceClass: 0xFF))
    #expect(all.marks("usb", attributes: simulated) && all.marks("tty", attributes: simulated))
    #expect(!all.marks("usb", attributes: simulated, interfaces: ":020201:0a0000:"))
    for (key, value) in [
      ("product", "sim"), ("manufacturer", "Accessory Bridges"), ("serial", "SIM0002"), ("idVendor", "120a"),
      ("idProduct", "0010"),
    ] {
      #expect(!all.marks("usb", attributes: simulated.merging([key: value]) { $1 }))
    }
    let second = try rules(DeviceRule(serialNumber: "A1", usbVendor: 0x2341, interfaceClass: 0x0A))
    let attributes = ["idVendor": "2341", "bDeviceClass": "ef", "serial": "A1"]
    #expect(second.marks("tty", attributes: attributes, interfaces: ":020201:0a0000:"))
    let named = try rules(DeviceRule(byID: "usb-Acme_*-if00"))
    #expect(named.marks("tty", attributes: ["bDeviceClass": "00"], links: ["serial/by-id/usb-Acme_1-if00"]))
    #expect(!named.marks("tty", attributes: ["bDeviceClass": "00"], links: ["serial/by-path/usb-Acme_1-if00"]))
    #expect(!named.marks("usb", attributes: ["bDeviceClass": "00"]), "a device without a terminal has no such name")
    let placed = try rules(DeviceRule(path: "/dev/serial/by-path/pci-1"))
    #expect(placed.marks("tty", attributes: ["bDeviceClass": "00"], links: ["serial/by-path/pci-1"]))
    #expect(!placed.marks("tty", attributes: ["bDeviceClass": "00"], links: ["serial/by-path/pci-2"]))
    #expect(!placed.marks("usb", attributes: ["bDeviceClass": "00"]), "a path is a terminal's")
    let anything = try rules(DeviceRule(serialNumber: "**", usbVendor: 0x2341))
    #expect(anything.marks("usb", attributes: attributes))
    #expect(!anything.marks("usb", attributes: attributes.filter { $0.key != "serial" }))
  }

  /// Text in HID reports passes by the node of hidraw, and a reset by that of usbfs.
  @Test(arguments: [TransportKind.hidText, .hidraw]) func aProfileForReportsGivesBothNodes(_ way: TransportKind) throws
  {
    var profile = Profile(name: "ups", rules: [DeviceRule(usbVendor: 0x0665, usbProduct: 0x5161)])
    let attributes = ["idVendor": "0665", "idProduct": "5161", "bDeviceClass": "00"]
    let without = try RulesFile(UdevRules().text(for: [profile]))
    #expect(without.marks("usb", attributes: attributes) && !without.marks("hidraw", attributes: attributes))
    profile.transport.preferredTransport = way
    let file = try RulesFile(UdevRules().text(for: [profile]))
    #expect(file.marks("usb", attributes: attributes) && file.marks("hidraw", attributes: attributes))
    #expect(!file.marks("hidraw", attributes: attributes.merging(["idProduct": "5162"]) { $1 }))
  }

  /// Simulators need no udev; strangers' devices are not ours; an empty text is none.
  @Test(
    arguments: [
      DeviceRule(driver: "framed"), DeviceRule(driver: "framed", usbVendor: 0x1209), DeviceRule(model: "M"),
      DeviceRule(), DeviceRule(interfaceClass: 0xFF), DeviceRule(usbVendor: 0x0403, usbProduct: 0x6001),
      DeviceRule(name: "", usbVendor: 0x1209), DeviceRule(byID: ""), DeviceRule(name: "*"),
    ])
  func aBroadOrForeignProfileGetsNoRule(rule: DeviceRule) throws {
    let profile = Profile(name: "x", rules: [rule])
    #expect(!UdevRules.know(profile))
    let text = UdevRules().text(for: [profile])
    #expect(text == UdevRules().text(for: []) && !text.contains("# x"))
  }

  // MARK: - Hostile profiles

  /// Made of what means something to udev, to fnmatch and to a shell.
  private static let alphabet = Array("ab*?[]|!^-{}\\\"$%`,=+/ ü\n\r\t\0\u{1B}\u{7F}")

  private func text(_ generator: inout some RandomNumberGenerator, _ count: ClosedRange<Int>) -> String {
    String((0..<Int.random(in: count, using: &generator)).map { _ in Self.alphabet.randomElement(using: &generator)! })
  }

  /// Whatever is in a profile, what udev reads has the same keys, and fits what the profile fits.
  @Test func nothingIsInjectedAndNothingIsLost() throws {
    var generator = SeededGenerator(seed: 20_260_801)
    var fitting = 0
    for _ in 0..<3_000 {
      let pattern = TextPattern(text(&generator, 1...9))
      let rule = DeviceRule(
        name: pattern, manufacturer: TextPattern(text(&generator, 1...3)), usbVendor: 0x2341, byID: pattern)
      let profile = Profile(name: text(&generator, 1...5), rules: [rule])
      let file = try RulesFile(UdevRules().text(for: [profile]))
      let keys = file.lines.first { $0.last?.key == "ENV{ID_ACCESSORY_BRIDGE}" && $0.last?.operation == "=" }
      #expect(
        keys?.map(\.key) == [
          "SUBSYSTEM", "SUBSYSTEMS", "ATTRS{bDeviceClass}", "ATTRS{idVendor}", "ATTRS{product}", "ATTRS{manufacturer}",
          "SYMLINK", "ENV{ID_ACCESSORY_BRIDGE}",
        ])
      #expect(file.lines.count == 12)
      let value = keys?.first { $0.key == "ATTRS{product}" }?.value ?? ""
      // Something that fits, with stars filled in, and something close to it. No device says a control character.
      for _ in 0..<4 {
        var candidate = String(pattern.text.flatMap { $0 == "*" ? text(&generator, 0...2) : String($0) })
        if Bool.random(using: &generator), !candidate.isEmpty {
          candidate.remove(at: candidate.indices.randomElement(using: &generator)!)
        }
        guard !candidate.utf8.contains(0), !candidate.isEmpty else { continue }
        if pattern.fits(candidate) {
          fitting += 1
          #expect(RulesFile.fits(value, candidate), "\(pattern.text.debugDescription) \(candidate.debugDescription)")
        } else if !pattern.text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "|") }) {
          #expect(!RulesFile.fits(value, candidate), "\(pattern.text.debugDescription) \(candidate.debugDescription)")
        }
      }
    }
    #expect(fitting > 1_000)
  }

  @Test func aLongPatternOfAFileFitsALine() throws {
    let text = String(repeating: "\\", count: 256)
    let long = TextPattern(text)
    let rules = try rules(DeviceRule(name: long, manufacturer: long, serialNumber: long, usbVendor: 1, byID: long))
    func marks(_ name: String) -> Bool {
      rules.marks(
        "tty",
        attributes: [
          "bDeviceClass": "00", "idVendor": "0001", "product": name, "manufacturer": text, "serial": text,
        ], links: ["serial/by-id/" + text])
    }
    #expect(marks(text) && !marks(String(text.dropLast())) && !marks(text + "x"))
  }

  /// What would reorder or hide the text around it, where somebody reads the rules, stands for any character.
  @Test(arguments: ["\u{202E}", "\u{2066}", "\u{200B}", "\u{FEFF}", "\u{2028}", "\u{85}", "\u{E0041}", "\u{3164}"])
  func invisibleCharactersNeverAppearInTheRules(character: String) throws {
    let rule = DeviceRule(name: TextPattern("a\(character)b ü"), usbVendor: 0x2341)
    let text = UdevRules().text(for: [Profile(name: "x\(character)", rules: [rule])])
    #expect(text.unicodeScalars.allSatisfy { $0 != character.unicodeScalars.first })
    let file = try RulesFile(text)
    func marks(_ name: String) -> Bool {
      file.marks("usb", attributes: ["bDeviceClass": "00", "idVendor": "2341", "product": name])
    }
    #expect(marks("a\(character)b ü") && !marks("ab ü") && !marks("a\(character)b u"))
  }
}
