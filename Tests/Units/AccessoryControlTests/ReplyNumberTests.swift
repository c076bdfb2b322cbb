// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import AccessoryControl

/// What a client takes of the numbers in answers.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct ReplyNumberTests {
  private func read<Method: ControlMethod>(_ text: String, _ method: Method.Type) -> Result<Method.Reply, ControlError>
  {
    Result { () throws(ControlError) in
      try ReplyMessage.read(Array(#"{"parameters":\#(text)}"#.utf8), to: method).reply
    }
  }

  @Test(arguments: [
    ("0", true), ("4294967295", true), ("4294967296", false), ("-1", false), ("1e300", false), ("-0.5", false),
  ])
  func theTimeOfATracedPieceIsChecked(time: String, isTaken: Bool) {
    let piece = read(#"{"time":\#(time),"direction":"to_device","bytes_hex":""}"#, Bridge.Trace.self)
    #expect((try? piece.get()) != nil || !isTaken)
    #expect((try? piece.get())?.moment != nil || !isTaken)
    guard !isTaken else { return }
    let error = #expect(throws: ControlError.self) { try piece.get() }
    #expect(error?.accessoryError.kind == .badData)
    #expect(error?.accessoryError.message.contains("time can't be") == true)
  }

  private static let device = #"{"id":"X1","path":"X1","source":"named","links":[],"ways":[],"initialized":true}"#

  /// Of a battery's fields each has its limits, and lists have theirs.
  @Test(arguments: [
    ("", true), (#","cells_mv":[3300,null]"#, true), (#","cells_mv":[3300,1000000001]"#, false),
    (#","health_percent":101"#, false), (#","cycles":-1"#, false), (#","power_mw":1000000001"#, false),
    (#","power_mw":-668"#, true), (#","time_to_empty_s":4294967296"#, false),
    (#","remaining_mah":-1"#, false), (#","temperatures":[{"temperature_mc":-273151}]"#, false),
    (#","temperatures":[{},{"name":"MOS","temperature_mc":null}]"#, true), (#","faults":[],"warnings":["x"]"#, true),
    (#","cells_mv":[\#(String(repeating: "1,", count: 255))1]"#, false),
    (#","faults":["\#(String(repeating: "x", count: 65))"]"#, false),
    (#","temperatures":[{"name":"\#(String(repeating: "x", count: 65))"}]"#, false),
  ])
  func fieldsOfABatteryAreCheckedAgainstLimits(fields: String, isTaken: Bool) {
    let battery = #"{"level":"normal","level_origin":"reported","charge":"unknown"\#(fields)}"#
    let answer = read(#"{"device":\#(Self.device),"battery":\#(battery)}"#, Bridge.GetBattery.self)
    #expect(((try? answer.get()) != nil) == isTaken)
  }

  @Test(arguments: [
    (#"{"name":"a","kind":"number","number":1.5,"age_ms":0}"#, true), (#"{"name":"a","kind":"later"}"#, true),
    (#"{"name":"a","kind":"number","age_ms":-1}"#, false), (#"{"name":"a","kind":"number","number":1e400}"#, false),
    (#"{"name":"\#(String(repeating: "x", count: 65))","kind":"number"}"#, false),
    (#"{"name":"a","kind":"text","text":"\#(String(repeating: "x", count: 257))"}"#, false),
    (#"{"name":"a","kind":"number","unit":"\#(String(repeating: "x", count: 17))"}"#, false),
    (#"{"name":"a","kind":"number","quantity":"\#(String(repeating: "x", count: 33))"}"#, false),
    (String(repeating: #"{"name":"a","kind":"unknown"},"#, count: 255) + #"{"name":"a","kind":"unknown"}"#, false),
  ])
  func fieldsOfValuesAreCheckedAgainstLimits(values: String, isTaken: Bool) {
    let answer = read(#"{"device":\#(Self.device),"values":[\#(values)]}"#, Bridge.GetValues.self)
    #expect(((try? answer.get()) != nil) == isTaken)
    let event = read(
      #"{"event":"values","time":1,"device":\#(Self.device),"values":[\#(values)]}"#, Bridge.Subscribe.self)
    #expect(((try? event.get()) != nil) == isTaken)
  }

  @Test func whatTheSampleSaysIsTaken() async throws {
    let sample = try await SampleServer()
    let client = try await sample.client()
    _ = try await client.call(Bridge.List())
    _ = try await client.call(Bridge.GetInfo())
    _ = try await client.call(Bridge.GetBattery())
    _ = try await client.call(Bridge.GetStatus())
    _ = try await client.call(Bridge.GetValues())
    #expect(try await client.call(Bridge.GetHistory()).series.map(\.series) == [SampleBridge.series])
    _ = try await client.call(Bridge.GetCommands())
    await sample.server.close()
  }

  /// A stream's messages wait within a bound of bytes too.
  @Test func longMessagesPauseAStream() async throws {
    let queue = MessageQueue {}
    var taken = 0
    while queue.append([UInt8](repeating: 0, count: 300_000)) { taken += 1 }
    #expect(taken == 3)
  }
}
