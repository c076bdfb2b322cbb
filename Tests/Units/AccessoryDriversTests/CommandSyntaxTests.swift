// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import FamilyAF1
import TestSupport
import Testing

@testable import AccessoryDrivers

/// Commands as they are typed.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct CommandSyntaxTests {
  private static let commands = [
    CommandDescription(
      "turn", "Turns",
      [
        .init("ports", .choices(["A", "B"])), .init("speed", .whole(-100...100), unit: "%"),
        .init("how", .choice(["fast", "slow"]), defaultValue: .text("slow")),
        .init("brake", .flag, defaultValue: .flag(false)),
      ]),
    CommandDescription(
      "say", "Says",
      [.init("text", .text(5), defaultValue: .text("")), .init("raw", .bytes(2), defaultValue: .bytes([]))]),
  ]

  private func read(_ text: String) throws(AccessoryError) -> [CommandCall] {
    try CommandCall.read(text.split(separator: " ").map(String.init), of: Self.commands)
  }

  @Test func oneOrMoreCommandsAreRead() throws {
    let calls = try read("turn speed=-50 ports=b,A + say text=a=b + turn ports=A speed=1 how=FAST brake=yes")
    #expect(calls.map(\.command.name) == ["turn", "say", "turn"])
    #expect(calls[0].words("ports") == ["B", "A"] && calls[0].whole("speed") == -50)
    #expect(calls[0].text("how") == "slow" && !calls[0].flag("brake"))
    #expect(calls[1].text("text") == "a=b" && calls[1].bytes("raw") == [])
    #expect(calls[2].text("how") == "fast" && calls[2].flag("brake"))
    #expect(try read("say raw=00fF")[0].bytes("raw") == [0, 0xFF])
    #expect(try read("say text=")[0].text("text") == "")
  }

  @Test(arguments: [
    ("", "a command was expected"), ("+", "a command was expected"),
    ("turn ports=A speed=1 +", "a command was expected"),
    ("tur", "is not a command: did you mean turn?"), ("zzz", "--list shows all"),
    ("turn 5", "5 is not an argument: write turn ports=A,B"),
    ("turn seed=5", "has no argument seed: did you mean speed?"), ("turn zz=5", "has no argument zz: write turn"),
    ("turn ports=A", "turn needs speed"),
    ("turn ports=A speed=101", "speed must be a whole number from -100 to 100, not 101"),
    ("turn ports=A speed=1.5", "not 1.5"), ("turn ports= speed=1", "one or more of A,B"),
    ("turn ports=A,A speed=1", "one or more of A,B"),
    ("turn ports=A,,B speed=1", "one or more of A,B"), ("turn ports=C speed=1", "one or more of A,B"),
    ("turn ports=A speed=1 speed=1", "speed is given twice"), ("turn ports=A speed=1 how=x", "one of fast, slow"),
    ("turn ports=A speed=1 brake=on", "yes or no"), ("say text=sixsix", "at most 5 bytes"),
    ("say raw=0", "hexadecimal"),
    ("say raw=+1", "hexadecimal"), ("say raw=000000", "at most 2 bytes"),
  ]) func mistakesInACommandAreNamed(text: String, expectation: String) {
    let error = #expect(throws: AccessoryError.self) { try read(text) }
    #expect(error?.kind == .misconfigured)
    #expect(error?.description.contains(expectation) == true, "\(error?.description ?? "")")
  }

  /// What is shown can be typed: each name is there once, and every default value is one that could be typed.
  @Test(arguments: DriverLibrary.builtIn.drivers.map(\.name))
  func everyDriversCommandsCanBeTypedAsShown(driver: String) throws {
    let commands = try #require(DriverLibrary.builtIn.driver(named: driver)).commands
    #expect(Set(commands.map(\.name)).count == commands.count)
    for command in commands {
      #expect(!command.summary.isEmpty && !command.name.contains { "+= ".contains($0) })
      #expect(Set(command.arguments.map(\.name)).count == command.arguments.count)
      #expect(command.form.hasPrefix(command.name))
      for argument in command.arguments {
        switch (argument.kind, argument.defaultValue) {
        case (.whole(let range), .whole(let value)?): #expect(range.contains(value))
        case (.choice(let words), .text(let word)?): #expect(words.contains(word))
        case (.flag, .flag?), (.bytes, .bytes?), (.text, .text?), (_, nil): break
        default: Issue.record("\(command.name) \(argument.name)")
        }
      }
    }
  }

  @Test func namedCommandsOfAF1ArePerformed() async throws {
    let scripted = ScriptedAccessory { request in
      switch request.command {
      case .echo: .reply(request.payload)
      case .battery: .reply([2])
      case AF1Command(rawValue: 0x41): .reply([1] + request.payload)
      default: .silence
      }
    }
    let transport = scripted.inMemory(label: "gadget")
    let accessory = try await Driver.af1.open(AccessorySession(transport), profile: nil, clock: ManualClock())
    let calls = try CommandCall.read(
      ["echo", "payload=0102", "+", "battery", "+", "command", "number=65", "payload=ff"], of: Driver.af1.commands)
    let replies = try await accessory.perform(calls, isAnswered: true)
    #expect(replies.map(\.values) == [[.bytes([1, 2])], [.bytes([2])], [.bytes([1, 0xFF])]])
    #expect(try await accessory.commands() == Driver.af1.commands)
    #expect(try await accessory.perform("echo", ["payload": "0102"]).values.first == .bytes([1, 2]))
    await accessory.close()
  }
}
