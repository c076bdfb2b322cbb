// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryFamilies
import AccessoryIO
import FamilyAF1
import Testing

@testable import AccessoryDrivers

/// Profiles from their texts, and what is said of texts that are none.
@Suite struct ProfileReaderTests {
  static let whole = """
    name: my-gadget.2
    description: "The one on the desk: \\u00fc \\" \\\\"
    match:
      - usb: {vendor: 0x2341, product: 0043, interface_class: ff}
        name: Uno*
        manufacturer: Arduino (www.arduino.cc)
      - {model: M-1, serial: "7*3", by_id: usb-Arduino_*-if00}
      - driver: framed
    transport:
      prefer: usb
      tty:
        baud: 57600
        data_bits: 7
        parity: even
        stop_bits: 2
        flow: software
        dtr: off
        rts: on
        rs485: {rts: low, rts_after: low, before: 1ms, after: 2ms, receive: true}
        low_latency: false
        settle: 1.5s
      usb:
        interface: 1
        alternate: 2
        endpoints: {in: 0x81, out: 0x02}
        shape: padded
    driver: framed
    protocols: [com.example.gadget, com.example.other]
    pacing: {gap: 20ms}
    poll: {readings: 90s}
    sleep: true
    writes: allowed
    policies:
      reconnect: {enabled: false, tries: forever, interval: 500ms, backoff: 1.5, longest: 1m}
      retry: {tries: 5, interval: 2s, backoff: 2}
      max_attached: 4
      idle_close: 10m
    """

  private func read(_ text: String) throws(ProfileProblems) -> Profile {
    try ProfileReader.read(Array(text.utf8), file: "f.yaml")
  }

  private func problems(_ text: String) -> [ProfileProblem] {
    do throws(ProfileProblems) {
      _ = try read(text)
      return []
    } catch {
      return error.problems
    }
  }

  @Test func everyKeyOfAProfileIsRead() throws {
    let profile = try read(Self.whole)
    #expect(profile.name == "my-gadget.2")
    #expect(profile.description == "The one on the desk: ü \" \\")
    #expect(
      profile.rules == [
        DeviceRule(
          name: "Uno*", manufacturer: "Arduino (www.arduino.cc)", usbVendor: 0x2341, usbProduct: 0x0043,
          interfaceClass: 0xFF),
        DeviceRule(model: "M-1", serialNumber: "7*3", byID: "usb-Arduino_*-if00"), DeviceRule(driver: "framed"),
      ])
    #expect(profile.transport.preferredTransport == .usb)
    let terminal = profile.transport.terminal.configuration(path: "/dev/ttyX", label: "X")
    var expected = TerminalConfiguration(path: "/dev/ttyX", baudRate: 57_600, label: "X")
    expected.dataBits = 7
    expected.parity = .even
    expected.stopBits = 2
    expected.flowControl = .software
    expected.dtr = .off
    expected.rts = .on
    expected.lowLatency = false
    expected.settle = .milliseconds(1_500)
    var rs485 = TerminalConfiguration.RS485()
    rs485.rtsOnSend = false
    rs485.rtsAfterSend = false
    rs485.delayBeforeSend = .milliseconds(1)
    rs485.delayAfterSend = .milliseconds(2)
    rs485.receivesWhileSending = true
    expected.rs485 = rs485
    #expect(terminal == expected)
    var usb = USBTransportConfiguration(path: "/dev/bus/usb/001/002", label: "X")
    usb.interface = 1
    usb.alternateSetting = 2
    usb.inEndpoint = 0x81
    usb.outEndpoint = 0x02
    usb.shape = .paddedMessages
    #expect(profile.transport.usb.configuration(path: "/dev/bus/usb/001/002", label: "X") == usb)
    #expect(profile.driver == "framed")
    #expect(profile.protocolStrings == ["com.example.gadget", "com.example.other"])
    #expect(profile.pacing == .gap(.milliseconds(20)))
    #expect(profile.policies.maximumAttached == 4)
    #expect(profile.policies.idleClose == .seconds(600))
    let reconnect = profile.policies.reconnect
    #expect(!reconnect.isEnabled && reconnect.tries == nil && reconnect.interval == .milliseconds(500))
    #expect(reconnect.backoffThousandths == 1_500 && reconnect.longestInterval == .seconds(60))
    #expect(profile.policies.retry.tries == 5 && profile.policies.retry.backoffThousandths == 2_000)
  }

  @Test func whatIsDoneWithASilentDeviceIsRead() throws {
    func recovery(_ text: String) throws -> RecoveryPolicy? {
      let profile = try read("name: x\nmatch: {serial: A}\npolicies: {silent: \(text)}")
      #expect(try read(ProfileText.text(profile)) == profile)
      return profile.policies.recovery
    }
    #expect(try recovery("ignore") == nil)
    #expect(try recovery("reopen") == RecoveryPolicy())
    let whole = try #require(try recovery("{polls: 2, reset: allowed, interval: 10s, longest: 1h}"))
    #expect(whole.polls == 2 && whole.resetsBus)
    #expect(whole.interval == .seconds(10) && whole.longestInterval == .seconds(3_600))
    #expect(try recovery("{interval: 1h}")?.longestInterval == .seconds(3_600))
    for wrong in ["reset", "{polls: 0}", "{reset: true}", "{interval: 5s, longest: 1s}", "{tries: 3}"] {
      #expect(throws: ProfileProblems.self) { try recovery(wrong) }
    }
  }

  @Test func aShortProfileHasTheDefaults() throws {
    let profile = try read("name: x\nmatch: {serial: A}")
    #expect(profile == Profile(name: "x", rules: [DeviceRule(serialNumber: "A")]))
    #expect(profile.transport.terminal.configuration(path: "/p") == TerminalConfiguration(path: "/p"))
    #expect(profile.transport.usb.configuration(path: "/p") == USBTransportConfiguration(path: "/p"))
    #expect(profile.policies.reconnect.isEnabled && profile.policies.reconnect.tries == 3)
    #expect(profile.policies.reconnect.interval == .seconds(1))
    #expect(profile.policies.retry == profile.policies.reconnect)
    #expect(profile.policies.maximumAttached == nil && profile.policies.idleClose == nil)
  }

  @Test(
    arguments: [whole, "name: x\nmatch: {serial: \"A\\u202E*\"}\npacing: {window: 4}"]
      + ProfileStore.builtIn.profiles.map(ProfileText.text))
  func aWrittenProfileReadsAsTheSame(text: String) throws {
    let profile = try read(text)
    let written = ProfileText.text(profile)
    #expect(try read(written) == profile)
    #expect(ProfileText.text(try read(written)) == written)
    #expect(!written.unicodeScalars.contains("\u{202E}"), "what turns text around is written as an escape")
  }

  @Test func theBuiltInOnesCanBeRead() throws {
    let shipped = ProfileStore.builtIn.profiles
    #expect(Set(shipped.map(\.name)).count == shipped.count)
    #expect(shipped.map(\.name) == DriverLibrary.builtIn.drivers.flatMap { $0.profiles.map(\.name) })
    for driver in DriverLibrary.builtIn.drivers {
      #expect(driver.profiles.first?.name == driver.name)
      #expect(driver.profiles.allSatisfy { $0.driver == driver.name && $0.origin.isShipped })
    }
    let framed = try #require(ProfileStore.builtIn.profile(named: "framed"))
    #expect(framed.rules.first == DeviceRule(driver: "framed"))
    #expect(framed == .af1)
    #expect(framed.driver == AF1Accessory.driverName)
    #expect(framed.protocolStrings == ["com.accessorybridge.framed"])
    for profile in shipped {
      #expect(profile.rules.allSatisfy { $0.overreachProblem == nil })
      // Numbers that belong to nobody, or to a chip that is in everything, are not enough; LEGO has its own.
      for rule in profile.rules where rule.usbVendor != nil && rule.usbVendor != 0x0694 {
        #expect([rule.name, rule.manufacturer, rule.serialNumber].contains { $0.map(\.isExact) ?? false })
      }
    }
  }

  /// Each line after `name` and `match` with what is wrong, and where.
  @Test(
    arguments: [
      ("buad: 9600", 3, 1, "unknown key \"buad\""),
      ("polices: {}", 3, 1, "did you mean policies?"),
      ("baud: 9600", 3, 1, "it belongs in transport: tty"),
      ("transport: {tty: {buad: 9600}}", 3, 19, "did you mean baud?"),
      ("transport: {tty: {baud: fast}}", 3, 25, "whole number from 1 to 100000000, not \"fast\""),
      ("transport: {tty: {baud: +9}}", 3, 25, "whole number"),
      ("transport: {tty: {baud: 99999999999999999999}}", 3, 25, "whole number"),
      ("transport: {tty: {data_bits: 9}}", 3, 30, "from 5 to 8"),
      ("transport: {tty: {parity: evn}}", 3, 27, "none, odd, even, mark or space"),
      ("transport: {tty: {settle: 2}}", 3, 27, "a time with its unit, like 500ms or 2s"),
      ("transport: {tty: {settle: 2h}}", 3, 27, "from 0s to 1m"),
      ("transport: {tty: {low_latency: yes}}", 3, 32, "true or false"),
      ("transport: {tty: {rts: on, flow: hardware}}", 3, 24, "exclude each other"),
      ("transport: {tty: {rs485: {before: 1500us}}}", 3, 35, "whole number of milliseconds"),
      ("transport: {tty: {rs485: high}}", 3, 26, "rs485 must be keys with values (rts: …), not \"high\""),
      ("transport: {prefer: serial}", 3, 21, "tty, usb, hidraw, hid-text, ble or rfcomm"),
      ("transport: {usb: {endpoints: {in: 0x02}}}", 3, 35, "0x81 to 0x8f"),
      ("transport: {usb: {endpoints: {out: 0x81}}}", 3, 36, "0x01 to 0x0f"),
      ("transport: {usb: {shape: blocks}}", 3, 26, "stream, messages or padded"),
      ("transport: [a]", 3, 12, "not a list"),
      ("driver: frame", 3, 9, "framed"),
      ("protocols: com.example", 3, 12, "must be a list"),
      ("protocols: []", 3, 12, "1 to 32"),
      ("protocols: [a b]", 3, 13, "without spaces"),
      ("protocols: [a, a]", 3, 16, "twice"),
      ("pacing: often", 3, 9, "{gap: 20ms}"),
      ("pacing: {}", 3, 9, "{gap: 20ms}"),
      ("pacing: {window: 0}", 3, 18, "1 to 255"),
      ("policies: {reconnect: {tries: 0}}", 3, 31, "tries (or forever)"),
      ("policies: {reconnect: {backoff: 0.5}}", 3, 33, "from 1 to 10"),
      ("policies: {reconnect: {backoff: 1e9}}", 3, 33, "from 1 to 10"),
      ("policies: {reconnect: {interval: 0s}}", 3, 34, "from 10ms"),
      ("policies: {reconnect: {interval: 5s, longest: 1s}}", 3, 47, "shorter than interval"),
      ("policies: {retry: {attempts: 3}}", 3, 20, "known here: enabled, tries"),
      ("policies: {idle_close: 0s}", 3, 24, "idle_close (or never)"),
      ("description: \"a\\nb\"", 3, 14, "more than one line"),
      ("description:", 3, 13, "a description was expected, not nothing"),
    ] as [(String, Int, Int, String)])
  func mistakesInAProfileAreReportedWithTheirPlace(text: String, line: Int, column: Int, expectation: String) throws {
    let problems = problems("name: x\nmatch: {serial: A}\n\(text)\n")
    #expect(problems.count == 1)
    let problem = try #require(problems.first)
    #expect(problem.message.contains(expectation), "\(problem)")
    #expect(problem.line == line && problem.column == column, "\(problem)")
    #expect(problem.description == "f.yaml:\(line):\(column): \(problem.message)")
  }

  @Test(
    arguments: [
      ("match: {serial: A}", "a name is missing"),
      ("name: x", "match is missing"),
      ("name: X\nmatch: {serial: A}", "small letters"),
      ("name: ../x\nmatch: {serial: A}", "small letters"),
      ("name: .x\nmatch: {serial: A}", "small letters"),
      ("name: \(String(repeating: "x", count: 65))\nmatch: {serial: A}", "at most 64 bytes"),
      ("name: x\nmatch: []", "rules must have 1 to 64"),
      ("name: x\nmatch: {}", "matches too many"),
      ("name: x\nmatch: {sreial: A}", "did you mean serial?"),
      ("name: x\nmatch: {product: A}", "match: usb"),
      ("name: x\nmatch: {usb: {product: 1234}}", "add vendor"),
      ("name: x\nmatch: {usb: {vendor: 12345, product: 1}}", "up to 4 hexadecimal digits"),
      ("name: x\nmatch: {usb: {vendor: 12z4, product: 1}}", "up to 4 hexadecimal digits"),
      ("name: x\nmatch: {by_id: /dev/serial/by-id/usb-x}", "without the directory"),
      ("name: x\nmatch: {serial: \"\\e[31m\"}", "control characters"),
      ("just text", "a profile must be keys with values (name: …), not \"just text\""),
    ] as [(String, String)])
  func mistakesInNamesAndRules(text: String, expectation: String) throws {
    #expect(problems(text).contains { $0.message.contains(expectation) }, "\(problems(text))")
  }

  /// All that is wrong is said at once, in the order of the file, and not without end.
  @Test func allMistakesOfAProfileAreReportedInOrder() {
    let some = problems("name: X\nmatch: {serail: A}\ntransport: {tty: {baud: a, parity: b}}")
    #expect(some.map(\.line) == [1, 2, 3, 3])
    let many = problems("name: x\nmatch: {serial: A}\n" + (0..<100).map { "k\($0): 1\n" }.joined())
    #expect(many.count == 20)
  }

  @Test(
    arguments: [("baud", "baud", 0), ("buad", "baud", 1), ("", "tty", 3), ("setle", "settle", 1), ("abc", "cab", 2)])
  func theDistanceOfWordsCountsTheirDifferences(first: String, second: String, expectation: Int) {
    #expect(NearestWord.distance(first, second) == expectation)
    #expect(NearestWord.distance(second, first) == expectation)
  }

  @Test(
    arguments: [
      ("2s", 2_000_000), ("500ms", 500_000), ("1.5s", 1_500_000), ("0.25ms", 250), ("3us", 3), ("10m", 600_000_000),
      ("1h", 3_600_000_000), ("0s", 0),
    ] as [(String, Int64)])
  func timesAreReadAndWritten(text: String, microseconds: Int64) {
    #expect(TimeText.read(text) == .microseconds(microseconds))
    #expect(TimeText.read(TimeText.text(.microseconds(microseconds))) == .microseconds(microseconds))
  }

  @Test(arguments: [
    "", "2", "s", "-1s", "+1s", "1 s", "1,5s", "1.s", ".5s", "1.2.3s", "0.5us", "1001h", "٣s", "99999999999h",
    "2562047788.999999h",
    "9999999999.999999h", "153722867280.9m", "1000.000001h", "60000.5m", "3600000.1s",
  ])
  func whatIsNoTimeIsRefused(text: String) { #expect(TimeText.read(text) == nil) }

  /// Numbers far beyond what any key takes are mistakes like others, wherever they stand.
  @Test(arguments: [
    "99999999999999999999999999", "9223372036854775807", "18446744073709551616", "-9223372036854775808", "1e400",
    "2562047788.999999h", "9223372036854775807us", "9999999999.999999h", "9999999999.9999999999999999h",
    "0xffffffffffff",
    "nan", "inf", "0000000000000000000000000000000000000000001", "1.000000000000000000000000000000",
  ])
  func everyNumberIsChecked(number: String) {
    let places = [
      "transport: {tty: {baud: N}}", "transport: {tty: {data_bits: N}}", "transport: {tty: {stop_bits: N}}",
      "transport: {tty: {settle: N}}", "transport: {tty: {rs485: {before: N}}}",
      "transport: {tty: {rs485: {after: N}}}",
      "transport: {usb: {interface: N}}", "transport: {usb: {alternate: N}}", "transport: {usb: {endpoints: {in: N}}}",
      "transport: {usb: {endpoints: {out: N}}}", "pacing: {gap: N}", "pacing: {window: N}",
      "policies: {reconnect: {tries: N}}", "policies: {reconnect: {interval: N}}", "policies: {retry: {backoff: N}}",
      "policies: {retry: {longest: N}}", "policies: {max_attached: N}", "policies: {idle_close: N}",
      "match: {usb: {vendor: N}}", "match: {usb: {vendor: 1, product: N}}",
      "match: {usb: {vendor: 1, interface_class: N}}",
    ]
    for place in places {
      let text = place.replacing("N", with: number)
      let rest = place.hasPrefix("match") ? "name: x\n" : "name: x\nmatch: {serial: A}\n"
      // A number with zeros in front is one; all others are mistakes.
      if Int(number) == 1 { _ = problems(rest + text) } else { #expect(!problems(rest + text).isEmpty, "\(text)") }
    }
  }

  @Test func pausesBetweenTriesGrowUpToALimit() {
    var policy = RetryPolicy()
    #expect((0...4).map { policy.pause(beforeTry: $0) } == [nil, .seconds(1), .seconds(1), .seconds(1), nil])
    policy.tries = nil
    policy.backoffThousandths = 2_000
    policy.longestInterval = .seconds(5)
    #expect((1...5).map { policy.pause(beforeTry: $0) } == [1, 2, 4, 5, 5].map { .seconds($0) })
    #expect(policy.pause(beforeTry: .max) == .seconds(5))
    policy.isEnabled = false
    #expect(policy.pause(beforeTry: 1) == nil)
  }
}
