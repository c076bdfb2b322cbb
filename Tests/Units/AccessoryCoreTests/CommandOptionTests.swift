// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryCore

/// Options of commands as values.
struct CommandOptionTests {
  private enum Colour: String, OptionWord {
    case red, green
  }

  private struct Part: CommandSettings {
    var count: UInt8 = 3
    var note: String?
    static let options: [CommandOption<Self>] = [
      .whole("count", "number", "How many.", \.count, 1...9), .text("note", "text", "A note.", \.note, 0...4),
    ]
  }

  private struct Lamp: CommandSettings {
    var part = Part()
    var colour = Colour.red
    var isOff = true
    var time = Duration.seconds(1)
    var level = 0.5
    static let options: [CommandOption<Self>] =
      Part.options.map { $0.of(\.part) } + [
        .word("colour", "Its colour.", \.colour), .flag("on", "It is on.", \.isOff, to: false),
        .time("time", "How long.", \.time, atLeast: .milliseconds(10)).rare,
        .number("level", "volts", "How bright.", \.level, 0...2, unit: "volts"),
      ]
  }

  private func option(_ name: String) throws -> CommandOption<Lamp> {
    try #require(Lamp.options.first { $0.name == name })
  }

  @Test func anOptionSetsItsPropertyAndNoOther() throws {
    var lamp = Lamp()
    try option("count").set(&lamp, .whole(7))
    try option("note").set(&lamp, .text("hi"))
    try option("on").set(&lamp, .flag)
    try option("time").set(&lamp, .time(.seconds(2)))
    #expect(lamp.part.count == 7 && lamp.part.note == "hi" && !lamp.isOff && lamp.time == .seconds(2))
    #expect(lamp.colour == .red && lamp.level == 0.5)
    try option("colour").set(&lamp, .text("green"))
    #expect(lamp.colour == .green)
    // A value of another type, and a word that there isn't, set nothing.
    try option("colour").set(&lamp, .text("blue"))
    try option("count").set(&lamp, .text("9"))
    #expect(lamp.colour == .green && lamp.part.count == 7)
  }

  @Test func theStandardIsWhatTheSettingsBeginWith() throws {
    if case .whole(1...9, standard: 3) = try option("count").form {} else { Issue.record("count") }
    if case .word(_, standard: "red") = try option("colour").form {} else { Issue.record("colour") }
    if case .text(_, _, standard: nil) = try option("note").form {} else { Issue.record("note") }
    #expect(try option("time").isRare && !option("level").isRare)
  }

  @Test(
    arguments: [
      ("count", .whole(0), "--count must be 1 to 9"), ("count", .whole(9), nil),
      ("note", .text("12345"), "--note must have at most 4 bytes"), ("note", .text(""), nil),
      ("time", .time(.milliseconds(9)), "--time must be at least 10ms"), ("time", .time(.milliseconds(10)), nil),
      ("level", .number(2.5), "--level must be 0 to 2 volts"),
      ("level", .number(-.infinity), "--level must be 0 to 2 volts"),
      ("level", .number(.nan), "--level must be 0 to 2 volts"),
    ] as [(String, OptionValue, String?)])
  func whatIsNotAllowedIsSaid(name: String, value: OptionValue, problem: String?) throws {
    #expect(try option(name).form.problem(with: value, of: "--" + name) == problem)
  }
}
