// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// `trace` of each family's simulator shows what passes in the family's words, live and from its recording.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct TraceWordsTests {
  struct Family: Sendable, CustomTestStringConvertible {
    let kind: String
    /// What the protocol is called.
    let name: String
    var arguments: [String] = []
    /// What is requested through the service, so that something passes; without it, what `trace` asks does.
    var request: [String] = []
    /// What is shown, in this order.
    let lines: [String]
    /// A frame that a program reads: its kind, a field, and what that is.
    let field: (kind: String, name: String, value: JSON)

    var testDescription: String { kind }
  }

  static let families = [
    Family(
      kind: "framed", name: "AF1", arguments: ["--percent", "57"],
      lines: ["request HELLO", "reply BATTERY #"], field: ("reply", "percent", 57)),
    Family(
      kind: "ev3", name: "EV3", arguments: ["--link", "./ev3", "--percent", "57"],
      lines: ["UI_READ GET_VBATT GV0; UI_READ GET_IBATT GV4; UI_READ GET_LBATT GV8", "GET_LBATT 57 %"],
      field: ("reply", "percent", 57)),
    Family(
      kind: "hm10", name: "HM-10", arguments: ["--percent", "57", "--battery-form", "new"],
      lines: ["request AT+BATT?  its battery?", "reply OK+Get:057  battery 57 %"], field: ("reply", "percent", 57)),
    Family(
      kind: "bluno", name: "Bluno", request: ["task", "task=Remote"], lines: ["task 1  Remote"],
      field: ("request", "task", 1)),
    Family(
      kind: "hm1x", name: "HM-1X", request: ["drive", "steering=-255", "acceleration=186"],
      lines: ["control  steering -255, acceleration 186"], field: ("request", "steering", -255)),
    Family(
      kind: "mavlink", name: "MAVLink", arguments: ["--percent", "57"],
      lines: ["BATTERY_STATUS 1/1 #", "battery 0, 57 %", "REQUEST_MESSAGE AUTOPILOT_VERSION"],
      field: ("message", "percent", 57)),
  ]

  @Test(arguments: families) func eachFamilyIsTracedInItsOwnWords(family: Family) async throws {
    try await Sandbox.with { box in
      let program = try box.start(["simulate", family.kind] + family.arguments, limit: Sandbox.longLife)
      let line = try await program.line(containing: " is plugged in at ")
      let path = String((line.split(separator: " is plugged in at ").last ?? "").prefix { $0 != "," })
      if !family.request.isEmpty {
        try await box.serve().errors(containing: " is attached at")
      }
      let options = family.request.isEmpty ? ["--ask"] : []
      let trace = try box.start(["trace", path, "--record", "session.trace", "--full"] + options)
      if !family.request.isEmpty {
        // A trace doesn't say when it does: ask again until it shows.
        while !trace.transcript.value.outputText.contains(family.lines[0]) {
          #expect(try await box.run(["request", path] + family.request).status == 0)
          try #require(trace.transcript.value.status == nil)
        }
      }
      for line in family.lines { _ = try await trace.line(containing: line) }
      trace.signal(SIGINT)
      let live = try await trace.end()
      #expect(live.status == 0, "\(live.errorText)")
      let again = try await box.run("trace", "session.trace", "--full")
      #expect(again.outputText == live.outputText)
      let documents = try await box.run("trace", "session.trace", "--json").lines.map { try JSON($0) }
      #expect(documents.allSatisfy { $0["schema"] == "accessory-bridge/2" })
      let found = documents.filter {
        $0["protocol"] == .string(family.name) && $0["kind"] == .string(family.field.kind)
          && $0["fields"]?[family.field.name] == family.field.value
      }
      #expect(!found.isEmpty, "\(again.outputText)")
      #expect(found.allSatisfy { $0["outcome"] == "whole" && $0["frame"]?["hex"]?.text?.isEmpty == false })
    }
  }

  /// What version 0.1 recorded says nothing of its driver; who knows it says so.
  @Test func anOldRecordingReadsAsItsDriver() async throws {
    try await Sandbox.with { box in
      let old = OldVersion.folder + "/recordings/"
      let brick = try await box.run("trace", old + "ev3.trace", "--driver", "ev3")
      #expect(brick.status == 0 && brick.lines[0].contains("request direct #11131  UI_READ GET_VBATT GV0"))
      #expect(brick.lines[1].contains("GET_VBATT 6.941 V"))
      let module = try await box.run("trace", old + "hm10.trace", "--driver", "hm10")
      #expect(module.lines[0].contains("request AT+BATT?") && module.lines[1].contains("battery 100 %"))
      let car = try await box.run("trace", old + "hm1x.trace", "--driver", "hm1x")
      #expect(car.lines[0].contains("control  steering 10, acceleration 20"))
    }
  }

  /// A recording of a driver that isn't there shows its bytes, and says why.
  @Test func aRecordingOfAnUnknownDriverShowsBytes() async throws {
    try await Sandbox.with { box in
      let text =
        "#accessory-bridge-recording 1 silence 0.050000000 frames gadget\n0.000000001 < 4869\n"
        + "#accessory-bridge-recording 1 silence 0.050000000 frames ev3\n0.000000001 < 04002a000264\n"
      try box.directory.write(Array(text.utf8), to: "other.trace")
      let ended = try await box.run("trace", "other.trace")
      #expect(ended.status == 0 && ended.lines.count == 2)
      #expect(ended.lines[0].contains("|Hi|") && ended.lines[1].contains("reply direct #42"))
      #expect(
        ended.errorText.contains(
          "other.trace was recorded with the driver gadget, whose frames this version can't decode"))
    }
  }

  /// The console's frames are the family's, too, and what was sent says what they mean.
  @Test func theConsoleShowsFramesInWords() async throws {
    try await Sandbox.with { box in
      let module = try await box.simulate(kind: "hm10", "--percent", "57", "--battery-form", "new")
      let console = try await box.run(
        ["console", module.path, "--driver", "hm10", "--show", "frames", "--eol", "none", "--linger", "1s"],
        prefix: ["/bin/sh", "-c", #"printf 'AT+BATT?' | "$0" "$@""#])
      #expect(console.status == 0, "\(console.errorText)")
      #expect(console.outputText.contains("reply OK+Get:057  battery 57 %"), "\(console.outputText)")
      #expect(!console.outputText.contains("request"))
      try await module.stop()
    }
  }
}
