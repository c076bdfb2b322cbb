// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Testing

@testable import AccessoryFleet

/// Commands that arrive from a broker, and their answers.
struct CallTests {
  static let volume = CommandDescription(
    "set-volume", "Sets the volume",
    [.init("volume", .whole(0...100), unit: "%"), .init("ramp", .flag, defaultValue: .flag(false))])
  static let beep = CommandDescription("beep", "Beeps")
  static let light = CommandDescription("light", "Sets the light", [.init("color", .choice(["red", "Green"]))])
  static let move = CommandDescription(
    "move", "Moves",
    [
      .init("x", .whole(-5...5)), .init("y", .whole(-5...5)), .init("data", .bytes(2), defaultValue: .bytes([])),
    ])

  private func call(_ text: String, _ command: CommandDescription) throws -> FleetCall {
    try FleetCall(Array(text.utf8), for: command)
  }

  /// A message is empty, an object with arguments, or the one argument.
  @Test
  func aCallIsEmptyAnObjectOrOneArgument() throws {
    #expect(try call("", Self.beep) == FleetCall())
    #expect(try call(" \n", Self.beep) == FleetCall())
    #expect(try call("{}", Self.beep) == FleetCall())
    #expect(try call("{\"id\":\"7\"}", Self.beep) == FleetCall(id: "7"))
    #expect(try call("50", Self.volume) == FleetCall(["volume": "50"]))
    #expect(
      try call("{\"arguments\":{\"volume\":50,\"ramp\":true}}", Self.volume)
        == FleetCall(["volume": "50", "ramp": "yes"]))
    #expect(try call("{\"arguments\":{\"volume\":50.0}}", Self.volume) == FleetCall(["volume": "50"]))
    #expect(
      try call("{\"arguments\":{\"volume\":\"50\"},\"id\":\"a\"}", Self.volume) == FleetCall(["volume": "50"], id: "a"))
    #expect(try call("green", Self.light) == FleetCall(["color": "green"]))
    let own = FleetCall(["x": "1", "y": "-1"], id: "q")
    #expect(try FleetCall(own.bytes, for: Self.move) == own)
  }

  /// Arguments that the command doesn't take are refused before anybody is asked.
  @Test(
    arguments: [
      ("101", volume), ("-1", volume), ("5.5", volume), ("loud", volume), ("", volume), ("{}", volume),
      ("{\"arguments\":{\"volume\":5,\"x\":1}}", volume), ("{\"arguments\":{\"volume\":5,\"ramp\":\"maybe\"}}", volume),
      ("{\"arguments\":{\"volume\":null}}", volume), ("{\"arguments\":{\"volume\":[5]}}", volume),
      ("{\"arguments\":[5]}", volume), ("{\"volume\":5}", volume), ("{\"arguments\":{\"volume\":1e999}}", volume),
      ("{\"arguments\":{\"volume\":99999999999999999999}}", volume), ("{", volume), ("\u{0}", volume),
      ("now", beep), ("{\"arguments\":{\"x\":1}}", beep), ("blue", light), ("1", move),
      ("{\"arguments\":{\"x\":1}}", move), ("{\"arguments\":{\"x\":1,\"y\":1,\"data\":\"010203\"}}", move),
      ("{\"arguments\":{\"x\":1,\"y\":1,\"data\":\"zz\"}}", move),
      ("{\"id\":\"" + String(repeating: "i", count: 65) + "\"}", beep),
      ("{\"id\":5}", beep),
    ] as [(String, CommandDescription)])
  func wrongArgumentsOfACallAreMisconfigured(text: String, command: CommandDescription) {
    let error = #expect(throws: AccessoryError.self) { try FleetCall(Array(text.utf8), for: command) }
    #expect(error?.kind == .misconfigured)
  }

  /// Long messages and text that isn't UTF-8 are refused.
  @Test
  func hostileCallsAreRefused() {
    #expect(throws: AccessoryError.self) {
      try FleetCall([UInt8](repeating: UInt8(ascii: "5"), count: FleetLimits.callBytes + 1), for: Self.volume)
    }
    #expect(throws: AccessoryError.self) { try FleetCall([0xFF, 0xFE], for: Self.light) }
    let many = (0...FleetLimits.arguments).map { "\"a\($0)\":1" }.joined(separator: ",")
    #expect(throws: AccessoryError.self) { try call("{\"arguments\":{\(many)}}", Self.volume) }
  }

  /// A message that is refused still tells its id.
  @Test
  func aRefusedCallStillTellsItsID() {
    #expect(FleetCall.id(of: Array("{\"id\":\"7\",\"arguments\":{\"x\":1}}".utf8)) == "7")
    #expect(FleetCall.id(of: Array("50".utf8)) == nil)
    #expect(FleetCall.id(of: Array("{\"id\":7}".utf8)) == nil)
    #expect(FleetCall.id(of: []) == nil)
  }

  /// An answer is read as it was written.
  @Test
  func answers() throws {
    let values: [NamedValue] = [
      .init("a", unit: "°", .whole(90)), .init("b", .number(1.5)), .init("c", .text("x")), .init("d", .flag(true)),
      .init("e", .bytes([1, 255])), .init("f", .list([.whole(1), .nothing])), .init("g", .nothing),
    ]
    let answer = FleetResult(.success([.init("tacho", values)]), id: "7", at: 5)
    #expect(try FleetResult(answer.bytes) == answer)
    let error = AccessoryError(.refused, code: .refusal(3), "SIM0001 refused it")
    let failure = FleetResult(.failure(error), id: nil, at: 5)
    #expect(try FleetResult(failure.bytes) == failure)
    #expect(try JSON(failure.bytes).fields?["error"]?.fields?["exit_status"] == .int(76))
  }

  /// A service's answer is published with the names and units of its values.
  @Test
  func aResultNamesValuesAndUnits() throws {
    var command = Self.beep
    command.results = [.init("tacho", unit: "°")]
    let reply = Bridge.Perform.Reply(
      device: Device(id: "a", path: "/dev/a", source: .udev),
      replies: [CommandReply(command, [.whole(90)])])
    let result = FleetResult(reply, to: command, id: "1", at: 2)
    #expect(result.outcome == .success([.init("beep", [.init("tacho", unit: "°", .whole(90))])]))
  }

  /// An answer of another form is refused.
  @Test(arguments: [
    "", "{}", "{\"time\":1}", "{\"time\":1,\"replies\":{}}", "{\"time\":1,\"replies\":[1]}",
    "{\"time\":1,\"replies\":[{\"command\":\"a\"}]}", "{\"time\":1,\"error\":5}", "{\"time\":1,\"error\":{}}",
    "{\"time\":1,\"replies\":[{\"command\":\"a\",\"values\":[{\"name\":\"n\",\"value\":1e999}]}]}",
    "{\"time\":1,\"replies\":[{\"command\":\"a\",\"values\":[{\"name\":\"n\",\"value\":{\"hex\":\"z\"}}]}]}",
  ])
  func hostileResultsAreRefused(text: String) {
    #expect(throws: FleetDocumentError.self) { try FleetResult(Array(text.utf8)) }
  }
}
