// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// A service whose numbers make no sense: every command that asks it says so, and none of them crashes.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct HostileNumberTests {
  private static let device =
    #"{"id":"X1","path":"/dev/null","source":"named","serial":"X1","links":[],"ways":[],"initialized":true}"#
  private static let identity =
    #"{"manufacturer":"","name":"","model":"","serial":"","firmware":"","hardware":""}"#
  private static let list = #"{"accessories":[{"device":\#(device),"state":"attached","tries":0,"driver":"framed"}]}"#

  private static func battery(_ fields: String) -> String {
    #"{"level":"normal","level_origin":"reported","charge":"unknown"\#(fields)}"#
  }

  /// A command, the method it calls, and the answers to that.
  struct Case: Sendable, CustomTestStringConvertible {
    let words: [String]
    let method: String
    let answers: [String]
    var testDescription: String { "\(words.joined(separator: " ")): \(answers.last ?? "")" }
  }

  private static let cases: [Case] = {
    let text = #"{"device":\#(device),"battery":"#
    var cases = [
      Case(words: ["battery"], method: "Battery", answers: ["\(text)\(battery(#","percent":255"#))}"]),
      Case(words: ["battery"], method: "Battery", answers: ["\(text)\(battery("")),\"age_ms\":-9223372036854775808}"]),
      Case(
        words: ["status"], method: "Status",
        answers: [
          #"{"device":\#(device),"status":{"state":"idle","progress_percent":200},"identity":\#(identity)}"#
        ]),
    ]
    for (time, lost) in [("1e300", "0"), ("-1e300", "0"), ("9223372036854775807", "0"), ("1", "-1")] {
      let piece = #"{"time":\#(time),"direction":"from_device","bytes_hex":"00","lost_bytes":\#(lost)}"#
      cases.append(Case(words: ["trace", "--listen"], method: "Trace", answers: [piece]))
    }
    let most = "9223372036854775807"
    for (offset, count, done) in [
      ("0", "-1", "0"), ("-1", "1", "0"), ("1", most, "0"), ("1", "16", "0"), ("0", "1", "-1"), ("0", "1", most),
    ] {
      let wanted =
        #"{"event":"wanted","transfer":"t","offset":\#(offset),"count_bytes":\#(count),"done_bytes":\#(done)}"#
      cases.append(Case(words: ["send-file", "X1", "file"], method: "SendFile", answers: [wanted, "{}"]))
    }
    for size in ["-1", most] {
      let begin = #"{"event":"begin","size_bytes":\#(size)}"#
      cases.append(Case(words: ["get-file", "X1", "there", "here"], method: "GetFile", answers: [begin, "{}"]))
    }
    return cases
  }()

  /// The command says that the answer makes no sense, and ends. On a terminal, which shows more.
  @Test(arguments: cases) func numbersThatMakeNoSenseAreRefused(_ given: Case) async throws {
    try await Sandbox.with { box in
      try box.directory.write([UInt8](repeating: 7, count: 16), to: "file")
      let service = try CannedService(
        at: box.directory.path + "/socket",
        ["List": [Self.list], given.method: given.answers, "SupplyFile": ["{}"]])
      defer { service.close() }
      let ended = try await box.run(
        given.words, environment: ["ACCESSORY_BRIDGE_SOCKET": box.directory.path + "/socket"], output: .terminal)
      #expect(ended.status == EX_DATAERR, "\(ended.errorText)")
      #expect(
        ended.errorText.contains("is invalid") || ended.errorText.contains("sent an invalid reply"),
        "\(ended.errorText)")
    }
  }

  /// Of a service whose list makes no sense nothing is known.
  @Test func infoKnowsNothingOfASenselessList() async throws {
    try await Sandbox.with { box in
      let usb =
        #"{"vendor_id":1,"product_id":1,"bus":0,"address":0,"node":"","port":"","speed_mbps":-1e300,"interfaces":[]}"#
      let device = Self.device.dropLast() + #","usb":\#(usb)}"#
      let service = try CannedService(
        at: box.directory.path + "/socket",
        [
          "List": [#"{"accessories":[{"device":\#(device),"state":"attached","tries":0,"driver":"framed"}]}"#],
          "Info": [#"{"accessory":{"device":\#(device),"state":"attached","tries":0}}"#],
        ])
      defer { service.close() }
      let ended = try await box.run(
        ["info", "X1"], environment: ["ACCESSORY_BRIDGE_SOCKET": box.directory.path + "/socket"])
      #expect(ended.status == EX_NOINPUT)
    }
  }
}
