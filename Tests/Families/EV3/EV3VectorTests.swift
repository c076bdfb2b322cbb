// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyEV3
import TestSupport
import Testing

/// Messages byte by byte, as published: LEGO's c_com.h, the documentation of ev3_dc, and what LEGO's SDK for iOS sends.
/// Each is read and written again, and where there is a command for it, is what that makes.
@Suite struct EV3VectorTests {
  struct Direct: Sendable, CustomTestStringConvertible {
    var name: String
    /// The whole message; `xx` stands for any byte.
    var wire: String
    var globals = 0
    var locals = 0
    var instructions: [String]
    var hasReply = true
    var testDescription: String { name }
  }

  static let direct = [
    Direct(name: "nothing", wire: "06 00 2A 00 00 00 00 01", instructions: ["NOP"]),
    Direct(
      name: "battery", wire: "0E 00 2A 00 00 09 00 81 01 60 81 02 64 81 12 68", globals: 9,
      instructions: ["UI_READ GET_VBATT @0", "UI_READ GET_IBATT @4", "UI_READ GET_LBATT @8"]),
    Direct(
      name: "tone", wire: "0E 00 2A 00 00 00 00 94 01 01 82 B8 01 82 E8 03",
      instructions: ["SOUND TONE 1 440 1000"]),
    Direct(
      name: "tone without reply", wire: "0F 00 2A 00 80 00 00 94 01 81 64 82 75 05 82 E8 03",
      instructions: ["SOUND TONE 100 1397 1000"], hasReply: false),
    Direct(name: "light", wire: "08 00 2A 00 00 00 00 82 1B 05", instructions: ["UI_WRITE LED 5"]),
    Direct(
      name: "name", wire: "0D 00 2B 00 00 00 00 D4 08 84 48 75 67 6F 00",
      instructions: ["COM_SET SET_BRICKNAME 'Hugo'"]),
    Direct(
      name: "name without reply", wire: "0E 00 2A 00 80 00 00 D4 08 84 6D 79 45 56 33 00",
      instructions: ["COM_SET SET_BRICKNAME 'myEV3'"], hasReply: false),
    Direct(
      name: "sound file",
      wire: """
        1E 00 2A 00 00 00 00 94 02 81 64 84 2E 2F 75 69 2F 44 6F 77 6E 6C 6F 61 64 53 75 63 63 65 73 00
        """, instructions: ["SOUND PLAY 100 './ui/DownloadSucces'"]),
    Direct(
      name: "four sensors",
      wire: """
        1D 00 2A 00 00 08 00 99 05 00 00 60 61 99 05 00 01 62 63 99 05 00 02 64 65 99 05 00 03 66 67
        """, globals: 8,
      instructions: [
        "INPUT_DEVICE GET_TYPEMODE 0 0 @0 @1", "INPUT_DEVICE GET_TYPEMODE 0 1 @2 @3",
        "INPUT_DEVICE GET_TYPEMODE 0 2 @4 @5", "INPUT_DEVICE GET_TYPEMODE 0 3 @6 @7",
      ]),
    Direct(
      name: "touch", wire: "0D 00 2A 00 00 04 00 99 1D 00 00 10 00 01 60", globals: 4,
      instructions: ["INPUT_DEVICE READY_SI 0 0 16 0 1 @0"]),
    Direct(
      name: "eight values", wire: "15 00 2A 00 00 20 00 99 1C 00 02 81 21 01 08 60 64 68 6C 70 74 78 7C", globals: 32,
      instructions: ["INPUT_DEVICE READY_RAW 0 2 33 1 8 @0 @4 @8 @12 @16 @20 @24 @28"]),
    Direct(name: "reset", wire: "08 00 2A 00 00 00 00 A2 00 02", instructions: ["OUTPUT_RESET 0 2"]),
    Direct(
      name: "timed motor", wire: "15 00 2C 00 80 00 00 AF 00 02 0A 81 64 83 FF FF FF 7F 00 00 A6 00 02",
      instructions: ["OUTPUT_TIME_SPEED 0 2 10 100 2147483647 0 0", "OUTPUT_START 0 2"], hasReply: false),
    Direct(
      name: "stop", wire: "09 00 2E 00 80 00 00 A3 00 02 00", instructions: ["OUTPUT_STOP 0 2 0"], hasReply: false),
    Direct(
      name: "steps", wire: "11 00 2D 00 00 00 00 AE 00 02 05 0F 81 3C 0F 01 AA 00 02",
      instructions: ["OUTPUT_STEP_SPEED 0 2 5 15 60 15 1", "OUTPUT_READY 0 2"]),
    Direct(
      name: "busy", wire: "09 00 2E 00 00 01 00 A9 00 02 60", globals: 1, instructions: ["OUTPUT_TEST 0 2 @0"]),
    Direct(
      name: "power", wire: "0C 00 xx xx 80 00 00 A4 00 01 14 A6 00 01",
      instructions: ["OUTPUT_POWER 0 1 20", "OUTPUT_START 0 1"], hasReply: false),
    Direct(
      name: "float", wire: "09 00 xx xx 80 00 00 A3 00 01 00", instructions: ["OUTPUT_STOP 0 1 0"], hasReply: false),
    Direct(
      name: "sensor", wire: "0B 00 xx xx 00 01 00 9A 00 00 00 00 60", globals: 1,
      instructions: ["INPUT_READ 0 0 0 0 @0"]),
    Direct(
      name: "constant", wire: "0C 00 xx xx 00 04 00 3A 83 01 00 00 00 60", globals: 4,
      instructions: ["MOVE32_32 1 @0"]),
    Direct(
      name: "program",
      wire: """
        24 00 xx xx 80 00 20 C0 08 01 80 2E 2E 2F 61 70 70 73 2F 74 73 74 2F 74 73 74 2E 72 62 66 00 40 44 03 01 40 44 00
        """, locals: 8,
      instructions: ["FILE LOAD_IMAGE 1 '../apps/tst/tst.rbf' $0 $4", "PROGRAM_START 1 $0 $4 0"], hasReply: false),
    Direct(
      name: "program stop", wire: "07 00 xx xx 80 00 00 02 01", instructions: ["PROGRAM_STOP 1"], hasReply: false),
    Direct(
      name: "folders", wire: "0B 00 2A 00 00 02 00 C0 0D 84 2F 00 60", globals: 2,
      instructions: ["FILE GET_FOLDERS '/' @0"]),
    Direct(
      name: "beep", wire: "0F 00 00 00 80 00 00 94 01 81 01 82 0B 02 82 F4 01",
      instructions: ["SOUND TONE 1 523 500"], hasReply: false),
    // What LEGO's SDK for iOS makes.
    Direct(
      name: "iOS battery", wire: "09 00 02 00 00 08 00 81 12 E1 00", globals: 8,
      instructions: ["UI_READ GET_LBATT @0"]),
    Direct(
      name: "iOS firmware", wire: "0B 00 02 00 00 10 00 81 0A 81 10 E1 00", globals: 16,
      instructions: ["UI_READ GET_FW_VERS 16 @0"]),
    Direct(
      name: "iOS speed", wire: "11 00 02 00 80 00 00 A5 81 00 81 03 81 CE A6 81 00 81 03",
      instructions: ["OUTPUT_SPEED 0 3 -50", "OUTPUT_START 0 3"], hasReply: false),
    Direct(
      name: "iOS timed motor",
      wire: """
        1D 00 02 00 80 00 00 AF 81 00 81 01 81 64 83 00 00 00 00 83 E8 03 00 00 83 00 00 00 00 81 00
        """, instructions: ["OUTPUT_TIME_SPEED 0 1 100 0 1000 0 0"], hasReply: false),
    Direct(
      name: "iOS tone", wire: "0F 00 02 00 80 00 00 94 01 81 32 82 B8 01 82 F4 01",
      instructions: ["SOUND TONE 50 440 500"], hasReply: false),
    Direct(
      name: "iOS batch",
      wire: """
        2D 00 02 00 80 00 00 94 02 81 64 84 2E 2E 2F 70 72 6A 73 2F 61 63 68 74 65 6E 2F 43 6F 6E 6E 65 63 74 00 \
        A4 81 00 81 03 81 CE A6 81 00 81 03
        """,
      instructions: ["SOUND PLAY 100 '../prjs/achten/Connect'", "OUTPUT_POWER 0 3 -50", "OUTPUT_START 0 3"],
      hasReply: false),
    Direct(
      name: "iOS stop", wire: "0C 00 02 00 80 00 00 A3 81 00 81 01 81 00", instructions: ["OUTPUT_STOP 0 1 0"],
      hasReply: false),
    Direct(
      name: "iOS button", wire: "0B 00 02 00 00 01 00 83 09 81 01 E1 00", globals: 1,
      instructions: ["UI_BUTTON PRESSED 1 @0"]),
    Direct(
      name: "iOS light", wire: "09 00 02 00 80 00 00 82 1B 81 05", instructions: ["UI_WRITE LED 5"], hasReply: false),
    Direct(
      name: "iOS device name", wire: "0F 00 02 00 00 7F 00 99 15 81 00 81 00 81 7F E1 00", globals: 127,
      instructions: ["INPUT_DEVICE GET_NAME 0 0 127 @0"]),
    Direct(
      name: "iOS raw", wire: "13 00 02 00 00 04 00 99 1C 81 00 81 00 81 00 81 00 81 01 E1 00", globals: 4,
      instructions: ["INPUT_DEVICE READY_RAW 0 0 0 0 1 @0"]),
    // The same, short.
    Direct(
      name: "short battery", wire: "08 00 2A 00 00 01 00 81 12 60", globals: 1, instructions: ["UI_READ GET_LBATT @0"]),
    Direct(
      name: "short firmware", wire: "09 00 2A 00 00 10 00 81 0A 10 60", globals: 16,
      instructions: ["UI_READ GET_FW_VERS 16 @0"]),
    Direct(
      name: "short name", wire: "0A 00 2A 00 00 20 00 D3 0D 81 20 60", globals: 32,
      instructions: ["COM_GET GET_BRICKNAME 32 @0"]),
    Direct(name: "error", wire: "06 00 cc cc 00 00 00 00", instructions: ["ERROR"]),
  ]

  /// The instruction as text: "@" is a global and "$" a local variable.
  static func text(_ instruction: EV3Instruction) -> String {
    let parameters = instruction.parameters.map { parameter in
      switch parameter.value {
      case .constant(let number): " \(number)"
      case .text(let bytes): " '\(String(decoding: bytes, as: UTF8.self))'"
      case .global(let offset): " @\(offset)"
      case .local(let offset): " $\(offset)"
      }
    }
    return instruction.operation.name + parameters.joined()
  }

  /// The bytes of a wire with `xx` and `cc` as AB.
  static func bytes(_ wire: String) -> [UInt8] {
    hex(wire.split(separator: " ").map { ["xx", "cc"].contains($0) ? "AB" : String($0) }.joined(separator: " "))
  }

  static func message(_ wire: [UInt8]) throws -> EV3Message {
    var codec = EV3Limits.codec
    var batch = FrameBatch<LengthPrefix>()
    codec.decode(wire.span.bytes, into: &batch)
    try #require(batch.count == 1 && batch.outcome(at: 0) == .whole && !codec.hasUnfinishedFrame)
    return try EV3Message(decoding: batch.payloadBytes(at: 0))
  }

  @Test(arguments: direct) func directCommandsAreReadAndWrittenUnchanged(vector: Direct) throws {
    let wire = Self.bytes(vector.wire.replacing("\n", with: " "))
    let message = try Self.message(wire)
    #expect(message.type == (vector.hasReply ? .directCommand : .directCommandNoReply))
    let command = try EV3DirectCommand(decoding: message.body)
    #expect(command.globalByteCount == vector.globals)
    #expect(command.localByteCount == vector.locals)
    let instructions = try command.instructions()
    #expect(instructions.map(Self.text) == vector.instructions)
    // And back: each parameter in the form that it had.
    let again = try EV3DirectCommand(globalByteCount: vector.globals, localByteCount: vector.locals, instructions)
    #expect(try again.message(message.number, wantsReply: vector.hasReply).encoded() == wire)
  }

  // MARK: - What commands make

  private func made(
    _ number: UInt16 = 0x2A, hasReply: Bool = true, style: EV3Batch.Style = .compact,
    _ add: (inout EV3Batch) throws -> Void
  ) throws -> [UInt8] {
    var batch = EV3Batch(style: style)
    try add(&batch)
    return try batch.command().message(number, wantsReply: hasReply).encoded()
  }

  private func wire(_ name: String) throws -> [UInt8] {
    let vector = try #require(Self.direct.first { $0.name == name })
    return hex(
      vector.wire.replacing("\n", with: " ").split(separator: " ").map {
        ["xx", "cc"].contains($0) ? "00" : String($0)
      }
      .joined(separator: " "))
  }

  @Test func madeCommandsAreTheBytesOfTheirVectors() throws {
    #expect(try made { try $0.add(.nothing) } == wire("nothing"))
    #expect(
      try made {
        try $0.add(.batteryVoltage)
        try $0.add(.batteryCurrent)
        try $0.add(.batteryPercent)
      } == wire("battery"))
    #expect(try made { try $0.add(.tone(volume: 1, frequency: 440, duration: .milliseconds(1_000))) } == wire("tone"))
    #expect(
      try made(hasReply: false) { try $0.add(.tone(volume: 100, frequency: 1_397, duration: .milliseconds(1_000))) }
        == wire("tone without reply"))
    #expect(try made { try $0.add(.setLED(.redFlash)) } == wire("light"))
    #expect(try made(0x2B) { try $0.add(.setBrickName("Hugo")) } == wire("name"))
    #expect(try made(hasReply: false) { try $0.add(.setBrickName("myEV3")) } == wire("name without reply"))
    #expect(try made { try $0.add(.playSound("./ui/DownloadSucces", volume: 100)) } == wire("sound file"))
    #expect(
      try made { for port in EV3Port.allCases.prefix(4) { try $0.add(.typeAndMode(port)) } } == wire("four sensors"))
    #expect(try made { try $0.add(.readySI(.one, type: 16, mode: 0)) } == wire("touch"))
    #expect(try made { try $0.add(.readyRaw(.three, type: 33, mode: 1, count: 8)) } == wire("eight values"))
    #expect(try made { try $0.add(.resetMotors(.b)) } == wire("reset"))
    #expect(
      try made(0x2C, hasReply: false) {
        try $0.add(.run(speed: 10, up: .milliseconds(100), constant: .milliseconds(2_147_483_647), motors: .b))
        try $0.add(.startMotors(.b))
      } == wire("timed motor"))
    #expect(try made(0x2E, hasReply: false) { try $0.add(.stopMotors(.b)) } == wire("stop"))
    #expect(
      try made(0x2D) {
        try $0.add(.step(speed: 5, up: 15, constant: 60, down: 15, brake: true, motors: .b))
        try $0.add(.motorsReady(.b))
      } == wire("steps"))
    #expect(try made(0x2E) { try $0.add(.areBusy(.b)) } == wire("busy"))
    #expect(
      try made(0, hasReply: false) {
        try $0.add(.setPower(20, of: .a))
        try $0.add(.startMotors(.a))
      } == wire("power"))
    #expect(try made(0, hasReply: false) { try $0.add(.stopMotors(.a)) } == wire("float"))
    #expect(try made(0) { try $0.add(.percentValue(.one, type: 0, mode: 0)) } == wire("sensor"))
    #expect(try made(0, hasReply: false) { try $0.add(.stopProgram()) } == wire("program stop"))
    #expect(try made { try $0.add(.batteryPercent) } == wire("short battery"))
    #expect(try made { try $0.add(.firmwareVersion) } == wire("short firmware"))
    #expect(try made { try $0.add(.brickName) } == wire("short name"))
    #expect(try made(0) { try $0.add(.error) } == wire("error"))
  }

  /// A program's path is written as a text is; LEGO's example has the older byte for that.
  @Test func aProgramsPathIsWrittenAsATextIs() throws {
    var expected = try wire("program")
    expected[10] = 0x84
    #expect(try made(0, hasReply: false) { try $0.add(.startProgram("../apps/tst/tst.rbf")) } == expected)
  }

  @Test func commandsAreEncodedAsByTheSDKForIOS() throws {
    func full(_ hasReply: Bool = false, _ add: (inout EV3Batch) throws -> Void) throws -> [UInt8] {
      try made(2, hasReply: hasReply, style: .full, add)
    }
    #expect(
      try full {
        try $0.add(.setSpeed(-50, of: [.a, .b]))
        try $0.add(.startMotors([.a, .b]))
      } == wire("iOS speed"))
    #expect(
      try full { try $0.add(.run(speed: 100, constant: .milliseconds(1_000), motors: .a)) } == wire("iOS timed motor"))
    #expect(
      try full { try $0.add(.tone(volume: 50, frequency: 440, duration: .milliseconds(500))) } == wire("iOS tone"))
    #expect(
      try full {
        try $0.add(.playSound("../prjs/achten/Connect", volume: 100))
        try $0.add(.setPower(-50, of: [.a, .b]))
        try $0.add(.startMotors([.a, .b]))
      } == wire("iOS batch"))
    #expect(try full { try $0.add(.stopMotors(.a)) } == wire("iOS stop"))
    #expect(try full(true) { try $0.add(.isPressed(.up)) } == wire("iOS button"))
    #expect(try full { try $0.add(.setLED(.redFlash)) } == wire("iOS light"))
    #expect(try full(true) { try $0.add(.firmwareVersion) } == wire("iOS firmware"))
    #expect(try full(true) { try $0.add(.readyRaw(.one, type: 0, mode: 0)) } == wire("iOS raw"))
    // It asks for eight bytes where one comes back.
    var battery = try full(true) { try $0.add(.batteryPercent) }
    battery[5] = 8
    #expect(try battery == wire("iOS battery"))
  }
}
