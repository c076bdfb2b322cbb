// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import FamilyAF1
import FamilyBluno
import FamilyEV3
import FamilyHM10
import FamilyHM1X
import FamilyMAVLink
import TestSupport
import Testing

/// What a family's reader says of bytes: a line for each find, "> title | summary" or "< …", with "noise N" between.
private struct Talk {
  var tracer: FrameTracer
  var time = Duration.zero
  var entries: [TraceEntry] = []

  init(_ driver: Driver) { tracer = FrameTracer(silence: .milliseconds(50), reader: driver.frames?()) }

  /// Bytes in hexadecimal, with blanks between them.
  mutating func host(_ hex: String) { pass(.toDevice, Talk.bytes(hex)) }
  mutating func device(_ hex: String) { pass(.fromDevice, Talk.bytes(hex)) }
  mutating func hostSays(_ text: String) { pass(.toDevice, Array(text.utf8)) }
  mutating func deviceSays(_ text: String) { pass(.fromDevice, Array(text.utf8)) }

  mutating func pass(_ direction: ByteDirection, _ bytes: [UInt8]) {
    time += .milliseconds(1)
    entries += tracer.add(TraceRecord(time: time, direction: direction, bytes: bytes))
  }

  /// The line is silent for a while.
  mutating func pause() {
    time += .seconds(1)
    entries += tracer.timePassed(time)
  }

  mutating func lines() -> [String] {
    entries += tracer.finish()
    defer { entries = [] }
    return entries.map { entry in
      let arrow = entry.direction == .fromDevice ? "<" : ">"
      return switch entry.content {
      case .frame(let words): "\(arrow) \(words.title)" + (words.summary.isEmpty ? "" : " | \(words.summary)")
      case .noise(let count): "\(arrow) noise \(count)"
      case .lost(let count): "lost \(count)"
      case .bytes(let bytes): "\(arrow) bytes \(bytes.count)"
      case .note(let text): "- \(text)"
      }
    }
  }

  /// The words of the last frame.
  var last: FrameWords? {
    entries.compactMap { if case .frame(let words) = $0.content { words } else { nil } }.last
  }

  func field(_ name: String) -> PlainValue? { last?.fields.first { $0.name == name }?.value }

  static func bytes(_ hex: String) -> [UInt8] { hex.split(separator: " ").compactMap { UInt8($0, radix: 16) } }
}

@Suite struct AF1WordsTests {
  @Test func messagesOfAF1AreToldInWords() {
    var talk = Talk(.af1)
    talk.host("0F F0 11 00 17 2A 04 00 09 5F 78 56 34 12 D2 87 6D AF")
    #expect(talk.field("nonce") == .text("12345678"))
    talk.device("0F F0 12 00 17 2A 08 00 84 D4 01 EE FF C0 00 10 01 00 9B D3 FB F2")
    #expect(talk.field("largest_payload_bytes") == .whole(4096) && talk.field("boot_id") == .text("c0ffee01"))
    talk.host("0F F0 11 03 01 00 00 00 26 00")
    talk.device("0F F0 12 03 01 00 05 00 33 31 02 39 80 0E 02 74 44 79 A0")
    #expect(talk.field("percent") == .whole(57) && talk.field("millivolts") == .whole(3712))
    #expect(talk.field("voltage_mv") == .whole(3712))
    #expect(talk.field("level") == .text("normal") && talk.field("charge") == .text("discharging"))
    talk.device("0F F0 16 55 09 00 01 00 22 A6 03 37 BE 0B 4B")
    #expect(talk.last?.isRefusal == true && talk.last?.kind == "refusal")
    #expect(
      talk.lines() == [
        "> request HELLO #10775 | nonce 12345678",
        "< reply HELLO #10775 | boot id c0ffee01, payloads up to 4096 bytes, window 1", "> request BATTERY #1",
        "< reply BATTERY #1 | normal, 57 %, 3712 mV, discharging", "< refusal 55 #9 | unknown command",
      ])
  }
}

@Suite struct EV3WordsTests {
  /// G2: the battery's voltage, current and percent in one message, and what comes back.
  @Test func theBatteryIsReadByWhatWasAsked() {
    var talk = Talk(.ev3)
    talk.host("0E 00 2A 00 00 09 00 81 01 60 81 02 64 81 12 68")
    #expect(talk.field("globals_bytes") == .whole(9) && talk.last?.number == 42)
    talk.device("0C 00 2A 00 02 7C 03 F1 40 40 07 3B 3E 64")
    #expect(talk.field("percent") == .whole(100) && talk.field("millivolts") == .whole(7532))
    #expect(talk.field("milliamperes") == .whole(-183) && talk.field("current_ma") == .whole(-183))
    #expect(
      talk.lines() == [
        "> request direct #42 | UI_READ GET_VBATT GV0; UI_READ GET_IBATT GV4; UI_READ GET_LBATT GV8",
        "< reply direct #42 | GET_VBATT 7.5317 V, GET_IBATT 0.1826 A, GET_LBATT 100 %",
      ])
    // The same reply once more answers nothing.
    talk.device("0C 00 2A 00 02 7C 03 F1 40 40 07 3B 3E 64")
    #expect(talk.lines() == ["< reply direct #42 | 9 bytes ||..@@.;>d|"])
  }

  @Test(arguments: [
    ("0E 00 2A 00 00 00 00 94 01 01 82 B8 01 82 E8 03", "> request direct #42 | SOUND TONE 1 440 1000"),
    (
      "0F 00 2A 00 80 00 00 94 01 81 64 82 75 05 82 E8 03",
      "> request direct #42 | SOUND TONE 100 1397 1000 (no reply)"
    ),
    ("0D 00 2B 00 00 00 00 D4 08 84 48 75 67 6F 00", "> request direct #43 | COM_SET SET_BRICKNAME \"Hugo\""),
    (
      "11 00 02 00 80 00 00 A5 81 00 81 03 81 CE A6 81 00 81 03",
      "> request direct #2 | OUTPUT_SPEED 0 3 -50; OUTPUT_START 0 3 (no reply)"
    ),
    ("03 00 2A 00 04", "< refusal direct #42 | the brick can't run it"),
    (
      "1C 00 2A 00 01 92 E8 03 00 00 2E 2E 2F 61 70 70 73 2F 74 73 74 2F 74 73 74 2E 72 62 66 00",
      "> request BEGIN_DOWNLOAD #42 | \"../apps/tst/tst.rbf\", 1000 bytes"
    ),
    (
      "14 00 2A 00 03 99 08 0A 00 00 00 00 73 65 74 74 69 6E 67 73 2F 0A",
      "< reply LIST_FILES #42 | end of file, 10 bytes in all, handle 0, 10 bytes |settings/.|"
    ),
    ("07 00 2B 00 01 9A 00 F4 03", "> request CONTINUE_LIST_FILES #43 | handle 0, up to 1012 bytes"),
    ("06 00 2C 00 05 98 01 00", "< refusal CLOSE_FILEHANDLE #44 | unknown handle, handle 0"),
    ("05 00 2C 00 00 00 00", "> request direct #44 | (no instruction)"),
    ("06 00 2C 00 00 00 00 F5", "> request direct #44 | unreadable: there is no instruction 0xf5, at 0 of the code"),
    ("05 00 2C 00 0F 01 02", "> message type 0f #44 | 2 bytes |..|"),
  ])
  func messagesOfAnEV3AreToldInWords(hex: String, line: String) {
    var talk = Talk(.ev3)
    if line.hasPrefix("<") { talk.device(hex) } else { talk.host(hex) }
    #expect(talk.lines() == [line])
  }

  /// G8, the compact name, and a text that is none.
  @Test func resultsHaveTheirKinds() {
    var talk = Talk(.ev3)
    talk.host("1D 00 2A 00 00 08 00 99 05 00 00 60 61 99 05 00 01 62 63 99 05 00 02 64 65 99 05 00 03 66 67")
    talk.device("0B 00 2A 00 02 10 00 1D 00 21 00 7E 00")
    #expect(
      talk.field("input_device_get_typemode")
        == .list([16, 0, 29, 0, 33, 0, 126, 0].map { PlainValue.whole($0) }))
    talk.host("09 00 2B 00 00 10 00 81 0A 10 60")
    talk.device("13 00 2B 00 02 56 31 2E 30 39 48 00 00 00 00 00 00 00 00 00 00")
    #expect(talk.field("ui_read_get_fw_vers") == .text("V1.09H"))
    talk.host("09 00 2C 00 00 10 00 81 0A 10 60")
    talk.device("13 00 2C 00 02 1B 5B 32 4A 39 48 00 00 00 00 00 00 00 00 00 00")
    #expect(talk.last?.summary.contains("1b5b324a") == true)
    // A sensor that isn't there.
    talk.host("0D 00 2D 00 00 04 00 99 1D 00 00 10 00 01 60")
    talk.device("07 00 2D 00 02 00 00 C0 7F")
    #expect(talk.last?.summary == "READY_SI -" && talk.field("input_device_ready_si") == .nothing)
    // Results beyond the reply.
    talk.host("0D 00 2E 00 00 04 00 99 1D 00 00 10 00 01 60")
    talk.device("04 00 2E 00 02 01")
    #expect(talk.last?.summary == "1 byte |.|")
  }

  /// On USB a report is filled up behind its message.
  @Test(arguments: [64, 1024], [UInt8(0), 0xA5]) func whatFillsAReportIsNothing(size: Int, filling: UInt8) {
    var talk = Talk(.ev3)
    let message = Talk.bytes("04 00 2A 00 02 64")
    talk.pass(.fromDevice, message + [UInt8](repeating: filling, count: size - message.count))
    talk.pass(.fromDevice, message)
    #expect(talk.lines() == [String](repeating: "< reply direct #42 | 1 byte |d|", count: 2))
  }

  /// In the middle of a message, or of noise, it finds the next one after a pause.
  @Test func itFindsMessagesAgain() {
    var talk = Talk(.ev3)
    talk.device("FF 30 01 02 03")
    talk.pause()
    talk.device("04 00 2A 00 02 64")
    #expect(talk.lines() == ["< message | too long: 12543 bytes", "< noise 5", "< reply direct #42 | 1 byte |d|"])
    talk = Talk(.ev3)
    talk.device("20 00 01 02 03")
    talk.pause()
    talk.device("04 00 2A 00 02 64")
    #expect(talk.lines() == ["< noise 5", "< reply direct #42 | 1 byte |d|"])
    // A message that is only slow goes on.
    talk = Talk(.ev3)
    talk.device("04 00 2A")
    talk.pause()
    talk.device("00 02 64")
    #expect(talk.lines() == ["< reply direct #42 | 1 byte |d|"])
  }
}

@Suite struct HM10WordsTests {
  @Test func commandsAndRepliesAreRead() {
    var talk = Talk(.hm10)
    talk.hostSays("AT+BATT?")
    talk.deviceSays("OK+BATT:057")
    #expect(talk.field("percent") == .whole(57))
    talk.hostSays("AT+BATT?")
    talk.deviceSays("OK+Get:100")
    talk.pause()
    #expect(talk.field("percent") == .whole(100))
    talk.hostSays("AT+ROLE?")
    talk.deviceSays("OK+Get:0")
    talk.pause()
    talk.hostSays("AT+POWE2")
    talk.deviceSays("OK+Set:2")
    talk.pause()
    talk.hostSays("AT+VERR?")
    talk.deviceSays("HMSoft V540")
    talk.pause()
    talk.hostSays("AT+ADDR?")
    talk.deviceSays("OK+ADDR:0017EA090909")
    talk.pause()
    #expect(
      talk.lines() == [
        "> request AT+BATT? | its battery?", "< reply OK+BATT:057 | battery 57 %", "> request AT+BATT? | its battery?",
        "< reply OK+Get:100 | battery 100 %", "> request AT+ROLE? | role?", "< reply OK+Get:0 | role 0 (peripheral)",
        "> request AT+POWE2 | set power to 2 (0 dBm)", "< reply OK+Set:2 | power 2 (0 dBm)",
        "> request AT+VERR? | its version?", "< reply | \"HMSoft V540\"", "> request AT+ADDR? | its address?",
        "< reply OK+ADDR:0017EA090909 | address 00:17:EA:09:09:09",
      ])
  }

  /// However it is cut, the real log of a scan; a stranger's name that says that there is a connection makes none.
  @Test(arguments: [1, 3, 1000]) func aScansRecordingIsToldInWords(piece: Int) {
    var talk = Talk(.hm10)
    talk.hostSays("AT+DISC?")
    let log =
      "OK+DISCSOK+DIS0:A6D73C040381OK+RSSI:-066OK+NAME:OK+CONN\u{1B}[2J\r\nOK+DIS0:D43639A63BC4OK+RSSI:-062OK+DISCE"
    var rest = Array(log.utf8)[...]
    while !rest.isEmpty {
      talk.pass(.fromDevice, Array(rest.prefix(piece)))
      rest = rest.dropFirst(piece)
    }
    talk.pause()
    talk.hostSays("AT")
    talk.deviceSays("OK")
    #expect(
      talk.lines() == [
        "> request AT+DISC? | scan for devices", "< event OK+DISCS | the scan begins",
        "< event OK+DIS0:A6D73C040381 | found A6:D7:3C:04:03:81", "< reply OK+RSSI:-066 | signal -66 dBm",
        "< reply OK+NAME:OK+CONN\\u{1b}[2J | name \"OK+CONN\\u{1b}[2J\"",
        "< event OK+DIS0:D43639A63BC4 | found D4:36:39:A6:3B:C4", "< reply OK+RSSI:-062 | signal -62 dBm",
        "< event OK+DISCE | the scan is over", "> request AT | is anybody there?", "< reply OK | done",
      ])
  }

  /// While it is connected the line is another device's, both ways.
  @Test func aConnectionsBytesAreToldAsData() {
    var talk = Talk(.hm10)
    talk.hostSays("AT+CON0017EA090909")
    talk.deviceSays("OK+CONNA")
    talk.pause()
    talk.deviceSays("OK+CONN")
    talk.pause()
    talk.hostSays("AT+BATT?")
    talk.pause()
    talk.deviceSays("OK+Get:100 is what it says")
    talk.hostSays("AT")
    talk.pause()
    talk.deviceSays("OK+LOST")
    talk.pause()
    talk.hostSays("AT+CONN7")
    talk.deviceSays("OK+CONNE")
    #expect(
      talk.lines() == [
        "> request AT+CON0017EA090909 | connect to 00:17:EA:09:09:09", "< event OK+CONNA | connecting",
        "< event OK+CONN | connected", "> data | 8 bytes \"AT+BATT?\"",
        "< data | 26 bytes \"OK+Get:100 is what it says\"",
        "> request AT | is anybody there?", "< event OK+LOST | the connection is lost", "> request AT+CONN7",
        "< refusal OK+CONNE | it doesn't connect",
      ])
  }

  @Test func aCloneIsRead() {
    var talk = Talk(.hm10)
    talk.hostSays("AT\r\n")
    talk.deviceSays("OK\r\n")
    talk.pause()
    talk.hostSays("AT+NAME?\r\n")
    talk.deviceSays("+NAME=BT05\r\nOK\r\n")
    talk.pause()
    #expect(
      talk.lines() == [
        "> request AT | is anybody there?", "< reply OK | done", "> request AT+NAME? | its name?",
        "< reply +NAME=BT05 | NAME \"BT05\"", "< reply OK | done",
      ])
  }
}

@Suite struct BlunoWordsTests {
  @Test func messagesForARobotAreToldInWords() {
    var talk = Talk(.bluno)
    for text in ["1", "f", "<128>", "s", "hello", "1234\n"] {
      talk.hostSays(text)
      talk.pause()
    }
    // A key that is held, and the end of it.
    talk.hostSays("ff")
    talk.hostSays("s")
    talk.pause()
    talk.deviceSays("all is well\nand more")
    #expect(
      talk.lines() == [
        "> task 1 | Remote, if it has the usual tasks", "> key up", "> speed 128", "> key stop", "> text | \"hello\"",
        "> task 1234", "> key up", "> key up", "> key stop", "< text | \"all is well\"", "< text | \"and more\"",
      ])
  }

  @Test func commandsOfABlunosRadioAreToldInWords() {
    var talk = Talk(.bluno)
    talk.hostSays("+++")
    talk.deviceSays("Enter AT Mode\r\n")
    talk.hostSays("AT+NAME=?\r\n")
    talk.deviceSays("Bluno\r\n")
    #expect(talk.field("parameter") == .text("NAME") && talk.field("value") == .text("Bluno"))
    talk.hostSays("AT+TXPOWER=4\r\n")
    talk.deviceSays("OK\r\n")
    talk.hostSays("AT+EXIT\r\n")
    talk.deviceSays("OK\r\n")
    talk.deviceSays("OK\r\n")
    #expect(
      talk.lines() == [
        "> request +++ | enter AT mode", "< reply Enter AT Mode | in AT mode", "> request AT+NAME=? | name?",
        "< reply Bluno | name \"Bluno\"", "> request AT+TXPOWER=4 | set power to \"4\"", "< reply OK | done",
        "> request AT+EXIT | leave AT mode", "< reply OK | done", "< text | \"OK\"",
      ])
  }
}

@Suite struct HM1XWordsTests {
  @Test func controlFramesAreToldWithTheirFields() {
    var talk = Talk(.hm1x)
    talk.host("00 00 00 3A 0D 7F 7F 3A 32 00 01 3A 3A 3A 3A 3A")
    #expect(talk.field("steering") == .whole(58) && talk.field("acceleration") == .whole(-186))
    #expect(talk.field("headlights") == .flag(true))
    talk.host("FF")
    talk.deviceSays("hi\n")
    #expect(
      talk.lines() == [
        "> control | steering 0, acceleration 0", "> control | steering -255, acceleration 255",
        "> control | steering 0, acceleration -1, headlights, brake lights",
        "> control | steering 58, acceleration -186, headlights, brake lights", "< text | \"hi\"", "> noise 1",
      ])
  }
}

@Suite struct DescribedWordsTests {
  @Test func aWrongCheckIsToldWithBothValues() throws {
    var talk = Talk(try #require(DriverLibrary.builtIn.driver(named: "jbd")))
    talk.device("DD 04 00 04 0F 66 0F 63 FF 15 77 DD 04 00 04 0F 66 0F 64 FF 15 77")
    #expect(talk.last?.bytes == Talk.bytes("DD 04 00 04 0F 66 0F 64 FF 15 77"))
    #expect(talk.last?.outcome == .payloadDamaged && talk.last?.mismatch?.calculated == [0xFF, 0x14])
    #expect(
      talk.lines() == [
        "< reply cells | battery.cells 3.942, 3.939 V", "< frame | the check is ff15, calculated ff14", "< noise 11",
      ])
  }
}

@Suite struct MAVLinkWordsTests {
  @Test func messagesOfMAVLinkAreToldInWords() {
    var talk = Talk(.mavlink)
    talk.device("FD 09 00 00 07 01 01 00 00 00 00 00 00 00 02 03 51 03 03 A1 20")
    #expect(talk.field("armed") == .flag(false) && talk.field("version") == .whole(2))
    talk.device(
      "FD 29 00 00 07 01 01 93 00 00 4D 03 00 00 FF FF FF FF FF 0A 64 0F 65 0F 63 0F 64 0F FF FF FF FF FF FF FF FF "
        + "FF FF FF FF D2 04 00 01 01 57 58 02 00 00 01 4C F9")
    #expect(talk.field("cells_mv") == .list([.whole(3_940), .whole(3_941), .whole(3_939), .whole(3_940)]))
    talk.device("FD 10 00 00 0D 01 01 FD 00 00 06 41 72 64 75 50 69 6C 6F 74 20 52 65 61 64 79 8F 5B")
    talk.device("FE 0C BC 01 01 02 60 F6 B6 19 C8 60 05 00 06 41 01 00 95 0D")
    // The request and its answers are another implementation's.
    talk.host(
      "FD 20 00 00 00 01 BF 4C 00 00 00 00 14 43 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
        + "00 02 01 01 79 30")
    #expect(talk.field("command") == .whole(512) && talk.last?.kind == "request")
    talk.device("FD 0A 00 00 05 01 01 4D 00 00 00 02 00 00 00 00 00 00 01 BF 99 11")
    #expect(talk.last?.kind == "reply" && talk.last?.isRefusal == false)
    talk.device("FD 0A 00 00 06 01 01 4D 00 00 00 02 03 00 00 00 00 00 01 BF 8F F7")
    #expect(talk.last?.kind == "refusal" && talk.last?.isRefusal == true)
    // A message that nobody knows.
    talk.device("FD 02 00 00 09 01 01 60 EA 00 01 02 12 34")
    talk.pause()
    #expect(
      talk.lines() == [
        "< HEARTBEAT 1/1 #7 | quadrotor, ArduPilot, standby",
        "< BATTERY_STATUS 1/1 #7 | battery 0, 87 %, 15760 mV, -12340 mA, ok",
        "< STATUSTEXT 1/1 #13 | info, \"ArduPilot Ready\"", "< SYSTEM_TIME 1/1 #188 | 12 bytes |`....`...A..|",
        "> COMMAND_LONG 1/191 #0 | REQUEST_MESSAGE AUTOPILOT_VERSION, for 1/1",
        "< COMMAND_ACK 1/1 #5 | REQUEST_MESSAGE accepted", "< COMMAND_ACK 1/1 #6 | REQUEST_MESSAGE unsupported",
        "< message 60000 1/1 #9 | is unknown, so it can't be checked", "< noise 14",
      ])
  }
}

/// Whatever passes, a reader goes on, keeps little, and says nothing that a terminal would act on.
@Suite struct HostileFrameTests {
  /// Pieces of the families' own frames, so that not all is refused at the first byte.
  private static let seeds: [[UInt8]] =
    [
      "0E 00 2A 00 00 09 00 81 01 60 81 02 64 81 12 68", "0C 00 2A 00 02 7C 03 F1 40 40 07 3B 3E 64",
      "15 00 2A 00 00 20 00 99 1C 00 02 81 21 01 08 60 64 68 6C 70 74 78 7C", "FF FF 2A 00 02",
      "0D 00 2A 00 00 FF FF 99 1D 00 00 10 00 83 FF FF FF 7F E3 FF FF FF FF", "00 00", "08 00 2A 00 03 9D 00 FF FF FF",
      "0F F0 12 03 01 00 05 00 33 31 02 39 80 0E 02 74 44 79 A0", "0F F0 12 01 01 00 FF FF", "3A 3A 3A 3A",
      "FD 09 00 00 07 01 01 00 00 00 00 00 00 00 02 03 51 03 03 A1 20",
      "FD 10 00 00 0D 01 01 FD 00 00 06 41 72 64 75 50 69 6C 6F 74 20 52 65 61 64 79 8F 5B", "FE 09", "FD FE FD FE",
    ].map(Talk.bytes)
    + [
      "OK+DISCS", "OK+CONN", "OK+LOST", "OK+DISA:A6D73C040381\u{0}\u{1}\u{FF}\r\n", "OK+NAME:\u{1B}]0;x\u{7}\r\n",
      "AT", "\r\n",
      "AT+NAME\u{1B}c", "+++", "AT+NAME=?\r\n", "<999999999", "\u{202E}evil", "OK+DISCE", "<->",
    ].map { Array($0.utf8) }

  @Test(arguments: ["framed", "ev3", "hm10", "bluno", "hm1x", "mavlink"])
  func randomBytesAreToldWithoutHarm(name: String) throws {
    let driver = try #require(DriverLibrary.builtIn.driver(named: name))
    for seed in 1...10 as ClosedRange<UInt64> {
      var chance = SeededGenerator(seed: seed)
      var talk = Talk(driver)
      var total = 0
      for _ in 0..<150 {
        var bytes = Self.seeds.randomElement(using: &chance) ?? []
        switch Int.random(in: 0..<6, using: &chance) {
        case 0:
          let count = Int.random(in: 1..<80, using: &chance)
          bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &chance) }
        case 1: bytes[Int.random(in: 0..<bytes.count, using: &chance)] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
        case 2: bytes = Array(bytes.prefix(Int.random(in: 1...bytes.count, using: &chance)))
        case 3: bytes += [UInt8](repeating: UInt8.random(in: 0...255, using: &chance), count: 1_024 - bytes.count)
        default: break
        }
        total += bytes.count
        talk.pass(Bool.random(using: &chance) ? .fromDevice : .toDevice, bytes)
        if Int.random(in: 0..<5, using: &chance) == 0 { talk.pause() }
      }
      talk.entries += talk.tracer.finish()
      #expect(talk.tracer.deadline == nil, "\(name), seed \(seed): something is left")
      for entry in talk.entries {
        switch entry.content {
        case .noise(let count): #expect(count > 0 && count <= total)
        case .frame(let words):
          let text = words.title + words.summary + words.kind
          let isHarmless = text.unicodeScalars.allSatisfy(SafeText.isHarmless)
          #expect(isHarmless, "\(name), seed \(seed): \(text.debugDescription)")
          #expect(text.utf8.count < 6_000)
          #expect(Set(words.fields.map(\.name)).count == words.fields.count, "\(words.fields)")
          for field in words.fields {
            if case .number(let number) = field.value { #expect(number.isFinite) }
          }
        case .lost, .bytes, .note: Issue.record("\(entry)")
        }
      }
    }
  }

  /// A flood of one byte makes no more lines than there could be frames.
  @Test(arguments: ["framed", "ev3", "hm10", "bluno", "hm1x", "mavlink"], [UInt8(0), 0x3A, 0x4F])
  func aFloodOfOneByteMakesFewLines(name: String, byte: UInt8) throws {
    var talk = Talk(try #require(DriverLibrary.builtIn.driver(named: name)))
    for direction in ByteDirection.allCases {
      for _ in 0..<4 { talk.pass(direction, [UInt8](repeating: byte, count: 2_048)) }
    }
    // Zeros with something behind them: what fills a report up is looked for once.
    talk.pass(.fromDevice, Talk.bytes("04 00 2A 00 02 64") + [UInt8](repeating: 0, count: 65_000) + [1])
    #expect(talk.lines().count <= 4 * 2_048 / 4 + 100)
  }
}
