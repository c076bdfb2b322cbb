// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import TestSupport
import Testing

@testable import BridgeService

/// Which commands are permitted to those who may only read, and how often.
@Suite struct CommandRulesTests {
  private static let commands = [
    CommandDescription("beep", "Beeps"),
    CommandDescription(
      "set", "Sets all there is",
      [
        .init("level", .whole(-10...100)),
        .init("color", .choice(["red", "green", "blue"]), defaultValue: .text("red")),
        .init("ports", .choices(["A", "B", "C"]), defaultValue: .list([.text("A")])),
        .init("note", .text(20), defaultValue: .text("")), .init("raw", .bytes(4), defaultValue: .bytes([])),
        .init("loud", .flag, defaultValue: .flag(false)),
      ]),
    CommandDescription("cut", "Cuts", [.init("seconds", .whole(1...9), defaultValue: .whole(9))], isWrite: true),
  ]
  private static let subject = CommandRules.Subject(id: "S1@3", serial: "S1", profile: "lamp", driver: "framed")

  /// Why a call isn't permitted; nil when it is.
  private func refusal(
    _ permissions: [CommandPermission], _ name: String, _ arguments: [String: String] = [:],
    of subject: CommandRules.Subject = subject
  ) throws -> String? {
    let call = try CommandCall(name, arguments, of: Self.commands)
    do throws(AccessoryError) {
      let granted = try CommandRules(permissions, file: "f.yaml").permissions(
        for: [(call, Array(arguments.keys))], of: subject, label: "S1")
      #expect(granted.count == 1)
      return nil
    } catch {
      #expect(error.kind == .permissionDenied && error.message.contains("f.yaml") && error.message.hasPrefix("S1: "))
      return error.message
    }
  }

  @Test func withoutAnEntryNothingIsPermitted() throws {
    #expect(try refusal([], "beep")?.contains("f.yaml has no entry for it") == true)
    let others: [CommandPermission] = [
      .init(.accessory("S1"), "set"), .init(.accessory("S2"), "beep"), .init(.accessory("lamp"), "beep"),
      .init(.profile("S1"), "beep"), .init(.profile("framed"), "beep"), .init(.driver("lamp"), "beep"),
      .init(.accessory("S"), "beep"), .init(.accessory("s1"), "beep"), .init(.accessory("S1"), "Beep"),
    ]
    #expect(try refusal(others, "beep") != nil)
    #expect(CommandRules(others).listed(Self.commands, of: Self.subject).isEmpty)
    // What isn't known of an accessory is no name.
    let bare = CommandRules.Subject(id: "X")
    #expect(try refusal([.init(.profile(""), "beep"), .init(.driver(""), "beep")], "beep", of: bare) != nil)
  }

  @Test(arguments: [
    CommandPermission.Subject.accessory("S1@3"), .accessory("S1"), .profile("lamp"), .driver("framed"),
  ])
  func anEntryMayNameAccessoryProfileOrDriver(subject: CommandPermission.Subject) throws {
    #expect(try refusal([.init(subject, "beep")], "beep") == nil)
    #expect(CommandRules([.init(subject, "beep")]).listed(Self.commands, of: Self.subject).map(\.name) == ["beep"])
  }

  /// The narrowest entry counts, also where it permits less.
  @Test func theAccessorysOwnEntryGoesFirst() throws {
    let wide = CommandPermission(.driver("framed"), "set", arguments: ["level": .any])
    let narrow = CommandPermission(.profile("lamp"), "set", arguments: ["level": .range(0...10)])
    let none = CommandPermission(.accessory("S1"), "set")
    #expect(try refusal([wide], "set", ["level": "90"]) == nil)
    #expect(try refusal([wide, narrow], "set", ["level": "90"])?.contains("level may be 0 to 10, not 90") == true)
    #expect(
      try refusal([wide, narrow, none], "set", ["level": "5"])?.contains("does not name the argument level") == true)
  }

  /// An argument that the entry doesn't name can't be given, whatever it is.
  @Test func otherArgumentsCantBeGiven() throws {
    let entry = CommandPermission(.accessory("S1"), "set", arguments: ["level": .any])
    #expect(try refusal([entry], "set", ["level": "1"]) == nil)
    for (name, value) in [("color", "red"), ("ports", "A"), ("note", ""), ("raw", ""), ("loud", "no")] {
      #expect(try refusal([entry], "set", ["level": "1", name: value])?.contains("the argument \(name)") == true)
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let argument: String
    let limit: CommandPermission.Limit
    let permitted, refused: [String]
    var testDescription: String { "\(argument): \(limit.text)" }
  }

  @Test(arguments: [
    Case(argument: "level", limit: .range(0...50), permitted: ["0", "50", "+7"], refused: ["-1", "51", "100"]),
    Case(argument: "level", limit: .range(.min...50), permitted: ["-10", "50"], refused: ["51"]),
    Case(argument: "level", limit: .range(5 ... .max), permitted: ["5", "100"], refused: ["4", "-10"]),
    Case(argument: "level", limit: .any, permitted: ["-10", "100"], refused: []),
    Case(argument: "level", limit: .words(["5", "-1", "x"]), permitted: ["5", "+5", "-1"], refused: ["4"]),
    // A limit of another kind than the argument's permits nothing.
    Case(argument: "color", limit: .range(0...9), permitted: [], refused: ["red"]),
    Case(argument: "color", limit: .words(["red", "green"]), permitted: ["red", "GREEN"], refused: ["blue"]),
    Case(argument: "ports", limit: .words(["A", "B"]), permitted: ["A", "B,A", "b"], refused: ["C", "A,C", "A,B,C"]),
    Case(argument: "note", limit: .words(["hi", "x y"]), permitted: ["hi", "x y"], refused: ["Hi", "hi ", "", "x"]),
    Case(argument: "raw", limit: .words(["0A0b"]), permitted: ["0a0B"], refused: ["", "0A", "0A0B00"]),
    Case(argument: "loud", limit: .words(["no"]), permitted: ["no"], refused: ["yes"]),
    Case(argument: "loud", limit: .any, permitted: ["no", "yes"], refused: []),
  ])
  func argumentsArePermittedWithinTheirLimits(_ one: Case) throws {
    var entry = CommandPermission(.accessory("S1"), "set", arguments: ["level": .any])
    entry.arguments[one.argument] = one.limit
    for value in one.permitted + one.refused {
      let given = ["level": "7"].merging([one.argument: value]) { $1 }
      let refusal = try refusal([entry], "set", given)
      #expect((refusal == nil) == one.permitted.contains(value), "\(value): \(refusal ?? "permitted")")
    }
  }

  /// A default beyond the limit isn't permitted, either: the value must be given.
  @Test func defaultsBeyondTheirLimitAreRefused() throws {
    let entry = CommandPermission(.accessory("S1"), "cut", arguments: ["seconds": .range(1...3)], mayWrite: true)
    #expect(try refusal([entry], "cut")?.contains("seconds may be 1 to 3, not 9") == true)
    #expect(try refusal([entry], "cut", ["seconds": "3"]) == nil)
    let listed = try #require(CommandRules([entry]).listed(Self.commands, of: Self.subject).first)
    #expect(listed.arguments == [.init("seconds", .whole(1...3))] && listed.isWrite)
  }

  @Test func writesNeedTheirWord() throws {
    var entry = CommandPermission(.accessory("S1"), "cut")
    #expect(try refusal([entry], "cut")?.contains("write: true") == true)
    #expect(CommandRules([entry]).listed(Self.commands, of: Self.subject).isEmpty)
    entry.mayWrite = true
    #expect(try refusal([entry], "cut") == nil)
    // Its argument isn't named, and has a default, so nobody can give it.
    #expect(CommandRules([entry]).listed(Self.commands, of: Self.subject).first?.arguments == [])
  }

  /// What is listed is what is permitted.
  @Test func theListIsNarrowed() throws {
    let entry = CommandPermission(
      .accessory("S1"), "set",
      arguments: [
        "level": .range(.min...50), "color": .words(["GREEN", "blue"]), "ports": .words(["C", "A"]),
        "note": .words(["hi", "much longer than the command's limit"]), "raw": .any, "loud": .words(["no"]),
      ])
    let listed = CommandRules([entry]).listed(Self.commands, of: Self.subject)
    #expect(listed.map(\.name) == ["set"])
    #expect(
      listed.first?.arguments == [
        .init("level", .whole(-10...50)), .init("color", .choice(["green", "blue"])),
        .init("ports", .choices(["A", "C"]), defaultValue: .list([.text("A")])), .init("note", .choice(["hi"])),
        .init("raw", .bytes(4), defaultValue: .bytes([])), .init("loud", .choice(["no"]), defaultValue: .flag(false)),
      ])
    // Without its required argument, or with nothing left of it, it can't be performed.
    for limits: [String: CommandPermission.Limit] in [[:], ["level": .range(200...300)], ["level": .words(["x"])]] {
      let entry = CommandPermission(.accessory("S1"), "set", arguments: limits)
      #expect(CommandRules([entry]).listed(Self.commands, of: Self.subject).isEmpty)
    }
  }

  /// One that isn't permitted refuses them all.
  @Test func oneForbiddenCommandRefusesThemAll() throws {
    let rules = CommandRules([.init(.accessory("S1"), "beep")])
    let calls = try ["beep", "beep", "cut"].map { (try CommandCall($0, [:], of: Self.commands), [String]()) }
    #expect(throws: AccessoryError.self) { try rules.permissions(for: calls, of: Self.subject, label: "S1") }
    #expect(try rules.permissions(for: Array(calls.prefix(2)), of: Self.subject, label: "S1").count == 2)
  }

  // MARK: - Rates

  private static func at(_ second: Int) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000) }

  private static let beep = CommandPermission(.driver("d"), "beep", rate: .init(2, every: .seconds(5)))
  private static let set = CommandPermission(.driver("d"), "set", rate: .init(1, every: .seconds(60)))

  @Test func commandsAreCountedAgainstTheirRate() throws {
    var rates = CommandRates()
    func wait(_ second: Int, _ permissions: [CommandPermission] = [Self.beep], of id: String = "a") throws -> Duration?
    {
      try rates.take(permissions, of: id, now: Self.at(second))?.wait
    }
    #expect(try wait(100) == nil)
    #expect(try wait(103) == nil)
    // Refused ones don't count, and another accessory is another matter.
    for _ in 1...3 { #expect(try wait(104) == .seconds(1)) }
    #expect(try wait(104, of: "b") == nil)
    #expect(try wait(105) == nil)
    #expect(try wait(105) == .seconds(3))
    // All of a batch, or none.
    #expect(try wait(109, [Self.beep, Self.set]) == nil)
    #expect(try wait(114, [Self.beep, Self.set]) == .seconds(55))
    #expect(try wait(114, [Self.beep, Self.beep]) == nil)
    #expect(try wait(116, [Self.beep, Self.beep]) == .seconds(3))
    #expect(throws: AccessoryError.self) { try wait(300, [Self.beep, Self.beep, Self.beep]) }
    #expect(throws: AccessoryError.self) { try wait(300, [Self.set, Self.set]) }
  }

  /// A file that was read again may permit fewer: what was counted still counts.
  @Test func aLoweredRateCountsEarlierCommands() throws {
    var rates = CommandRates()
    var entry = CommandPermission(.driver("d"), "beep", rate: .init(3, every: .seconds(10)))
    for second in [1, 2, 3] { #expect(try rates.take([entry], of: "a", now: Self.at(second)) == nil) }
    entry.rate = .init(1, every: .seconds(20))
    #expect(try rates.take([entry], of: "a", now: Self.at(5))?.wait == .seconds(18))
    #expect(try rates.take([entry], of: "a", now: Self.at(23)) == nil)
  }

  /// However many accessories come and go, what is counted is bounded; what is over is forgotten.
  @Test func countedCommandsAreBounded() throws {
    var rates = CommandRates()
    for number in 0..<CommandRates.limit {
      #expect(try rates.take([Self.beep], of: "\(number)", now: Self.at(0)) == nil)
    }
    let error = #expect(throws: AccessoryError.self) { try rates.take([Self.beep], of: "more", now: Self.at(0)) }
    #expect(error?.kind == .busy)
    #expect(rates.count == CommandRates.limit)
    #expect(try rates.take([Self.beep], of: "more", now: Self.at(5)) == nil)
    #expect(rates.count == 1)
  }
}
