// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryFamilies
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// What is published of a simulated accessory of each kind: the JSON of the commands, without and with a service, the replies on
/// the control socket, the metrics and NUT's variables. `Tests/Data/Goldens` has it, byte for byte; times, ages, paths and process
/// numbers are replaced. What documents of a kind have in common stands once for all, in `forms.txt`: see `GoldenText`. MQTT's documents
/// have their own, in `AccessoryFleetTests/Snapshots`.
///
/// A change that is meant is written with `ACCESSORY_BRIDGE_GOLDENS=renew`; the differences then belong to the commit's message.
/// `Tests/Tools/goldens forms` then moves what is new in most documents to `forms.txt`.
@Suite("What is published stays as it was", .timeLimit(.minutes(Patience.minutes(10)))) struct GoldenTests {
  @Test(arguments: GoldenKind.all) func everyDocumentIsAsBefore(_ kind: GoldenKind) async throws {
    let answers = try await Self.published(by: kind)
    let forms = GoldenForms(lines: try Page("Tests/Data/Goldens/forms.txt").lines)
    let text = GoldenText(forms: forms)
    let now = text.lines(of: answers)
    // Nothing of an answer is left out.
    let again = text.answers(in: now)
    #expect(again.count == answers.count)
    for (one, other) in zip(again, answers) { #expect(one == other) }
    let path = "Tests/Data/Goldens/\(kind.name).txt"
    if getenv("ACCESSORY_BRIDGE_GOLDENS").map({ String(cString: $0) }) == "renew" {
      try Page.write(now.joined(separator: "\n") + "\n", to: path)
    }
    let expected = try Page(path).lines.dropLast()
    let differences = zip(expected, now).enumerated().filter { $0.element.0 != $0.element.1 }.prefix(20).map {
      "\(path):\($0.offset + 1)\n- \($0.element.0)\n+ \($0.element.1)"
    }
    #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    #expect(expected.count == now.count)
  }

  private static func published(by kind: GoldenKind) async throws -> [(question: String, answer: String)] {
    var golden = Golden()
    try await Sandbox.with { box in
      let simulator = try box.start(["simulate"] + kind.words, limit: Sandbox.longLife)
      try await simulator.line(containing: " is plugged in at ")
      var alone: [[String]: Program.Transcript] = [:]
      for command in Self.commands + [["request", "--list", "--json"]] {
        let answer = try await box.run(command)
        golden.add(command, answer, box)
        alone[command] = answer
      }
      let service = try await box.serve()
      try await service.errors(containing: " is attached at")
      for command in Self.commands + Self.serviceCommands {
        let answer = try await box.run(command)
        golden.add(command, answer, box)
        // What an accessory is asked is the same by both ways; a list tells who holds it.
        guard command != ["list", "--json"], let alone = alone[command] else { continue }
        try Sandbox.expectSame(answer, alone, "\(kind.name): \(command)")
      }
      var readings: [String: AccessoryControl.JSON] = [:]
      for method in ["List", "Info", "Status", "Battery", "Values"] {
        let client = try RawClient(box.socket)
        try await client.send(#"{"method":"accessorybridge.Bridge.\#(method)"}"#)
        let reply = try await client.messages(1)
        golden.add(method, reply.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(), box)
        readings[method] = try reply.first.flatMap { try AccessoryControl.JSON($0.bytes).fields?["parameters"] }
      }
      golden.add(headline, try Self.headline(readings), box)
      let exporter = try box.start(["export", "nut", "--listen", "0"], limit: Sandbox.longLife)
      let host = try await exporter.line(containing: " is open").dropFirst("nut:".count).dropLast(" is open".count)
      let known = ["PATH": "/usr/bin:/bin"]
      var name = ""
      try await eventually("a UPS") {
        let listed = try await Program(["/bin/upsc", "-l", "\(host)"], environment: known, directory: "/").end()
        name = listed.lines.first ?? ""
        return listed.lines.count == 1
      }
      // The exporter may have been told of the battery before it has asked the accessory who it is.
      let serial = try await box.run("info", "--json").json()["identity"]?["serial"]?.text ?? ""
      var variables = ""
      try await eventually("variables of \(name)") {
        let now = try await Program(["/bin/upsc", "\(name)@\(host)"], environment: known, directory: "/").end()
        variables = now.outputText
        return now.status == 0 && (serial.isEmpty || variables.contains(serial))
      }
      golden.add("upsc \(name)", variables, box)
    }
    return golden.answers
  }

  /// The question under which a golden has the headline, and the headline that programs make of these replies: labels alone.
  static let headline = "headline"

  private static func headline(_ replies: [String: AccessoryControl.JSON]) throws -> String {
    func part<Value: Decodable>(_ method: String, _ name: String, as _: Value.Type) throws -> Value? {
      guard let field = replies[method]?.fields?[name], field != .null else { return nil }
      return try field.decoded()
    }
    let headline = Headline(
      status: try part("Status", "status", as: AccessoryStatus.self),
      battery: try part("Battery", "battery", as: BatteryReading.self),
      values: try part("Values", "values", as: [AccessoryValue].self) ?? [])
    return headline.parts.map(\.label).joined(separator: ", ")
  }

  /// Commands that read, of an accessory that is the only one.
  private static let commands = [
    ["list", "--json"], ["status", "--json"], ["battery", "--json"], ["values", "--json"], ["info", "--json"],
  ]

  private static let serviceCommands = [["export", "metrics", "--once"]]
}

/// A simulator, and the name of its golden.
struct GoldenKind: Sendable, CustomTestStringConvertible {
  let name: String
  /// The words of `simulate`.
  let words: [String]

  var testDescription: String { name }

  static let all =
    [
      ["framed", "--serial", "GOLDEN1", "--seed", "1"], ["ev3"], ["hm10", "--address", "0017EA090001"],
      ["bluno", "--address", "0017EA930001"], ["hm1x"], ["mavlink"],
    ].map { GoldenKind(name: $0[0], words: $0) }
    + DescriptionLibrary.builtIn.names.map {
      GoldenKind(name: $0, words: ["--profile", $0, "--serial", "GOLDEN1", "--seed", "1"] + (others[$0] ?? []))
    }

  /// It is asked for some of its values, and tells others once a second: a command would sometimes be there when it does.
  private static let others = ["abc-bms": ["--period", "60m"]]
}
