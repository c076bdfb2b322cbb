// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import FamilyEV3
import TestSupport
import Testing

/// Parameters in all their forms, and batches up to the firmware's limits.
@Suite struct EV3BatchTests {
  private func decoded(_ wire: String) throws -> EV3Parameter {
    var offset = 0
    let bytes = hex(wire)
    let parameter = try EV3Parameter(decoding: bytes.span.bytes, at: &offset)
    #expect(offset == bytes.count)
    var again: [UInt8] = []
    parameter.encode(into: &again)
    #expect(again == bytes, "each form is written as it was read")
    return parameter
  }

  @Test func numbersAreEncodedInTheirShortestForm() throws {
    let numbers: [(Int32, String)] = [
      (0, "00"), (31, "1F"), (-1, "3F"), (-32, "20"), (32, "81 20"), (-33, "81 DF"), (127, "81 7F"), (-127, "81 81"),
      (128, "82 80 00"), (-128, "82 80 FF"), (32_767, "82 FF 7F"), (-32_767, "82 01 80"), (32_768, "83 00 80 00 00"),
      (-32_768, "83 00 80 FF FF"), (.max, "83 FF FF FF 7F"), (.min, "83 00 00 00 80"),
    ]
    for (number, wire) in numbers {
      var bytes: [UInt8] = []
      EV3Parameter.constant(number).encode(into: &bytes)
      #expect(bytes == hex(wire))
      #expect(try decoded(wire).value == .constant(number))
    }
  }

  @Test func everyFormOfAParameterIsRead() throws {
    for (wire, number) in [("81 05", 5), ("82 05 00", 5), ("83 05 00 00 00", 5), ("81 80", -128)] as [(String, Int32)] {
      #expect(try decoded(wire).value == .constant(number))
    }
    for (wire, offset) in [
      ("60", 0), ("7F", 31), ("E1 1F", 31), ("E1 FF", 255), ("E2 FC 03", 1_020), ("E3 01 00 00 00", 1),
    ] {
      #expect(try decoded(wire).value == .global(offset))
    }
    for (wire, offset) in [("40", 0), ("5F", 31), ("C1 20", 32), ("C2 00 01", 256), ("C3 00 00 01 00", 65_536)] {
      #expect(try decoded(wire).value == .local(offset))
    }
    #expect(try decoded("84 68 69 00").value == .text([0x68, 0x69]))
    #expect(try decoded("80 68 69 00").value == .text([0x68, 0x69]))
    #expect(try decoded("84 00").value == .text([]))
  }

  @Test(arguments: ["", "81", "82 01", "83 01 02 03", "84 68", "E1", "C3 00"])
  func aTruncatedParameterIsRefused(wire: String) {
    let bytes = wire.isEmpty ? [] : hex(wire)
    #expect(throws: EV3MessageError.self) {
      var offset = 0
      _ = try EV3Parameter(decoding: bytes.span.bytes, at: &offset)
    }
  }

  @Test(arguments: ["85 00", "A1 00", "91 00", "89 00", "C0 00", "C4 00", "E7 00"])
  func anUnknownFormOfAParameterIsRefused(wire: String) {
    let bytes = hex(wire)
    let error = #expect(throws: EV3MessageError.self) {
      var offset = 0
      _ = try EV3Parameter(decoding: bytes.span.bytes, at: &offset)
    }
    #expect(error == .unknownParameter(bytes[0], offset: 0))
  }

  @Test func wrongInstructionsAreRefused() throws {
    func error(_ wire: String) throws -> EV3MessageError? {
      let command = try EV3DirectCommand(code: hex(wire))
      return #expect(throws: EV3MessageError.self) { try command.instructions() }
    }
    #expect(try error("01 FF") == .unknownInstruction(0xFF, nil, offset: 1))
    #expect(try error("81 1C") == .unknownInstruction(0x81, 28, offset: 0))
    #expect(try error("81 60") == .unknownInstruction(0x81, nil, offset: 0), "a sub-command is a number")
    #expect(try error("81 12") == .codeEnds(offset: 2))
    #expect(try error("99 1D 00 00 00 00 60 60") == .wrongParameters("INPUT_DEVICE READY_SI"), "how many is a number")
  }

  // MARK: - Places

  /// Each result lies at a multiple of its size, in the order of the commands.
  @Test func resultsAreAlignedToTheirSize() throws {
    var batch = EV3Batch()
    let percent = try batch.add(.batteryPercent)
    let volts = try batch.add(.batteryVoltage)
    let name = try batch.add(.brickName)
    let horizontal = try batch.add(.horizontalButtons)
    let pressed = try batch.add(.isPressed(.up))
    let count = try batch.add(.motorCount(1))
    let texts = batch.instructions.map(EV3VectorTests.text)
    #expect(
      texts == [
        "UI_READ GET_LBATT @0", "UI_READ GET_VBATT @4", "COM_GET GET_BRICKNAME 32 @8", "UI_BUTTON GET_HORZ @40",
        "UI_BUTTON PRESSED 1 @42", "OUTPUT_GET_COUNT 0 1 @44",
      ])
    #expect(batch.globalByteCount == 48)
    var globals = [UInt8](repeating: 0, count: 48)
    globals[0] = 57
    globals.replaceSubrange(4..<8, with: [0, 0, 0xE0, 0x40])
    globals.replaceSubrange(8..<12, with: Array("Hugo".utf8))
    globals.replaceSubrange(40..<42, with: [0xFF, 0xFF])
    globals[42] = 1
    globals.replaceSubrange(44..<48, with: [0x2E, 0xFB, 0xFF, 0xFF])
    let reply = try EV3BatchReply(decoding: globals, of: batch)
    #expect(reply[percent] == 57)
    #expect(reply[volts] == 7)
    #expect(reply[name] == "Hugo")
    #expect(reply[horizontal] == -1)
    #expect(reply[pressed])
    #expect(reply[count] == -1_234)
  }

  /// LEGO's SDK for iOS crashes from 256 bytes on.
  @Test func resultsFillTheFirmwaresLimit() throws {
    var batch = EV3Batch()
    for _ in 0..<31 { try batch.add(.brickName) }
    var last = try batch.add(.batteryPercent)
    while batch.globalByteCount < 1_021 { last = try batch.add(.batteryPercent) }
    let error = #expect(throws: EV3MessageError.self) { try batch.add(.batteryPercent) }
    #expect(error == .tooManyResults(byteCount: 1_022, limit: 1_021))
    #expect(batch.globalByteCount == 1_021, "what doesn't fit changes nothing")
    let globals = [UInt8](repeating: 0, count: 1_020) + [99]
    // As long as a reply can be, and through the codec.
    let wire = try EV3Message(number: 1, type: .directReply, body: globals).encoded()
    let reply = try EV3BatchReply(decoding: EV3VectorTests.message(wire).body, of: batch)
    #expect(reply[last] == 99)
  }

  @Test func sizesOfCommandsAreChecked() throws {
    #expect(throws: EV3MessageError.tooManyResults(byteCount: 1_022, limit: 1_021)) {
      try EV3DirectCommand(globalByteCount: 1_022, code: [1])
    }
    #expect(try EV3DirectCommand(globalByteCount: 1_021, code: [1]).body.prefix(2) == [0xFD, 0x03])
    #expect(throws: EV3MessageError.tooManyLocals(byteCount: 64, limit: 63)) {
      try EV3DirectCommand(localByteCount: 64, code: [1])
    }
    #expect(try EV3DirectCommand(globalByteCount: 1, localByteCount: 63, code: [1]).body.prefix(2) == [1, 0xFC])
    let longest = try EV3DirectCommand(code: [UInt8](repeating: 1, count: 1_017))
    #expect(try longest.message(1, wantsReply: true).encoded().count == 1_024)
    #expect(throws: EV3MessageError.messageTooLong(byteCount: 1_023, limit: 1_022)) {
      try EV3DirectCommand(code: [UInt8](repeating: 1, count: 1_018))
    }
    var batch = EV3Batch()
    for _ in 0..<1_017 { try batch.add(.nothing) }
    #expect(batch.byteCount == 1_022)
    #expect(throws: EV3MessageError.messageTooLong(byteCount: 1_023, limit: 1_022)) { try batch.add(.nothing) }
    let command = EV3SystemCommand.continueDownload(handle: 0, data: [UInt8](repeating: 0, count: 1_017))
    #expect(try command.message(1).encoded().count == 1_024)
    let more = EV3SystemCommand.continueDownload(handle: 0, data: [UInt8](repeating: 0, count: 1_018))
    #expect(throws: EV3MessageError.messageTooLong(byteCount: 1_023, limit: 1_022)) { try more.body() }
  }

  @Test func argumentsOfCommandsAreChecked() throws {
    func error<Reply>(_ command: EV3Command<Reply>) -> EV3MessageError? {
      #expect(throws: EV3MessageError.self) {
        var batch = EV3Batch()
        try batch.add(command)
      }
    }
    #expect(error(.setSpeed(101, of: .a)) == .outOfRange(argument: "speed", value: 101, range: -100...100))
    #expect(error(.startMotors([])) == .outOfRange(argument: "ports", value: 0, range: 1...15))
    #expect(error(.startMotors(EV3Motors(rawValue: 16))) == .outOfRange(argument: "ports", value: 16, range: 1...15))
    #expect(error(.motorCount(4)) == .outOfRange(argument: "port", value: 4, range: 0...3))
    #expect(error(.readySI(.one, count: 9)) == .outOfRange(argument: "values", value: 9, range: 1...8))
    #expect(error(.readySI(.one, count: -1)) == .outOfRange(argument: "values", value: -1, range: 1...8))
    #expect(error(.setBrickName("a\0b")) == .textContainsZero)
    #expect(error(.setBrickName(String(repeating: "a", count: 25))) == .textTooLong(byteCount: 25, limit: 24))
    #expect(
      error(.tone(volume: 1, frequency: 249, duration: .milliseconds(1)))
        == .outOfRange(argument: "frequency", value: 249, range: 250...10_000))
  }

  // MARK: - Defects of LEGO's SDK for iOS

  /// There, the button that is asked for is always "up".
  @Test func everyButtonCanBeAskedFor() throws {
    for button in EV3Button.allCases {
      var batch = EV3Batch()
      try batch.add(.isPressed(button))
      #expect(batch.instructions.map(EV3VectorTests.text) == ["UI_BUTTON PRESSED \(button.rawValue) @0"])
    }
  }

  /// There, the parts of a movement are mixed up.
  @Test func thePartsOfAMovementAreInOrder() throws {
    var batch = EV3Batch()
    try batch.add(.step(speed: 1, up: 2, constant: 3, down: 4, motors: .a))
    try batch.add(.step(power: 1, up: 2, constant: 3, down: 4, motors: .a))
    try batch.add(.run(speed: 1, up: .milliseconds(2), constant: .milliseconds(3), down: .milliseconds(4), motors: .a))
    try batch.add(.run(power: 1, up: .milliseconds(2), constant: .milliseconds(3), down: .milliseconds(4), motors: .a))
    #expect(
      batch.instructions.map(EV3VectorTests.text) == [
        "OUTPUT_STEP_SPEED 0 1 1 2 3 4 0", "OUTPUT_STEP_POWER 0 1 1 2 3 4 0", "OUTPUT_TIME_SPEED 0 1 1 2 3 4 0",
        "OUTPUT_TIME_POWER 0 1 1 2 3 4 0",
      ])
  }

  /// There, the layer is missing.
  @Test func waitingForMotorsNamesTheLayer() throws {
    var batch = EV3Batch()
    try batch.add(.motorsReady([.a, .c], layer: 2))
    #expect(batch.instructions.map(EV3VectorTests.text) == ["OUTPUT_READY 2 5"])
    #expect(batch.isWaiting)
  }

  /// There, what was sent is sent again with the next command.
  @Test func aBatchIsSentAsItIs() throws {
    var batch = EV3Batch()
    try batch.add(.setLED(.red))
    let first = try batch.command()
    #expect(try batch.command() == first)
    try batch.add(.nothing)
    #expect(try batch.command().code == first.code + [1])
  }

  /// There, raw is 0x11 and SI 0x12.
  @Test func formatsOfValuesHaveTheFirmwaresNumbers() throws {
    var batch = EV3Batch()
    for format in EV3Format.allCases { try batch.add(.values(.one, format)) }
    #expect(
      batch.instructions.map(EV3VectorTests.text) == [
        "INPUT_READEXT 0 0 0 -1 16 1 @0", "INPUT_READEXT 0 0 0 -1 18 1 @4", "INPUT_READEXT 0 0 0 -1 19 1 @8",
      ])
  }
}
