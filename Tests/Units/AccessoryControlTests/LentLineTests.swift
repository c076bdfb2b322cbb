// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO
import TestSupport
import Testing

/// The line of an accessory that a service lends, as its borrower has it.
@Suite("A lent line", .timeLimit(.minutes(Patience.minutes(2)))) struct LentLineTests {
  private func borrow(_ path: String) async throws -> any Transport {
    let client = try await BridgeClient.connect(to: path, replyTimeout: .seconds(60))
    return try await client.device("X1", label: "my robot").open().transport
  }

  private func error(of body: () async throws -> Void) async -> AccessoryError? {
    await #expect(throws: AccessoryError.self) { try await body() }
  }

  @Test func everythingOfALineWorksWhenLent() async throws {
    let sample = try await SampleServer()
    sample.bridge.line.state.update { state in
      state.status.modemLines = [.cts, .dtr]
      (state.status.isLowLatency, state.status.latencyTimer, state.status.lowersLinesOnClose) = (
        true, .milliseconds(16), false
      )
      state.status.rs485 = .init()
      state.status.rs485?.receivesWhileSending = true
      state.status.rs485?.delayAfterSend = .milliseconds(3)
    }
    let transport = try await borrow(sample.path)
    let line = try #require(transport.line)
    #expect(line.timing == .serial(baudRate: 115_200) && transport.timing == line.timing)
    #expect(try await line.status() == sample.bridge.line.state.value.status)
    let changed = try await line.change(
      LineChanges(baudRate: 9_600, dataBits: 7, parity: .even, stopBits: 2, flowControl: .hardware))
    #expect(changed == sample.bridge.line.state.value.status && changed.baudRate == 9_600 && changed.parity == .even)
    #expect(transport.timing == .serial(baudRate: 9_600, bits: 11))
    #expect(try await line.change(LineChanges(parity: .mark)).baudRate == 9_600, "the rest stays")
    #expect(try await line.modemLines() == [.cts, .dtr])
    try await line.set(raising: .rts, lowering: .dtr)
    #expect(try await line.modemLines() == [.cts, .rts])
    try await line.set(.dtr, true)
    try await line.set(raising: [], lowering: [])
    #expect(sample.bridge.line.state.value.status.modemLines == [.cts, .rts, .dtr])
    try await line.setBreak(true)
    #expect(sample.bridge.line.state.value.isBreaking)
    try await line.setBreak(false)
    #expect(!sample.bridge.line.state.value.isBreaking && sample.bridge.line.state.value.breakCount == 1)
    for buffers in [LineBuffers.received, .unsent, [.received, .unsent], []] { try await line.purge(buffers) }
    #expect(sample.bridge.line.state.value.purges == [.received, .unsent, [.received, .unsent], []])
    await transport.close()
    await sample.server.close()
  }

  @Test func theLentLineRefusesWhatItCannotDo() async throws {
    let sample = try await SampleServer()
    let transport = try await borrow(sample.path)
    let line = try #require(transport.line)
    #expect(await error { try await line.change(LineChanges(dataBits: 9)) }?.kind == .misconfigured)
    #expect(await error { try await line.set(.cts, true) }?.kind == .misconfigured)
    #expect(await error { try await line.set(raising: .dtr, lowering: .dtr) }?.kind == .misconfigured)
    sample.bridge.line.state.update { $0.status.modemLines = nil }
    let none = await error { _ = try await line.modemLines() }
    // Called as its user calls it.
    #expect(none == AccessoryError(.unsupported, "my robot has no modem lines"))
    #expect(try await line.status().modemLines == nil)
    await transport.close()
    await sample.server.close()
  }

  @Test func itEndsWithTheLoan() async throws {
    let sample = try await SampleServer()
    let first = try await borrow(sample.path)
    let line = try #require(first.line)
    _ = try await line.status()
    await first.close()
    #expect(await error { _ = try await line.status() }?.kind == .cancelled)
    try await sample.bridge.seen.wait { $0.returned == 1 }
    // The next loan has another line, and the first borrower can't reach it.
    let second = try await borrow(sample.path)
    #expect(await error { try await line.set(.dtr, true) }?.kind == .cancelled)
    #expect(try await second.line?.modemLines() == [])
    // The accessory goes: what the line says is what the bytes say.
    sample.bridge.line.end(.disconnected("X1"))
    #expect(await error { _ = try await second.line?.status() } == .disconnected("my robot"))
    await sample.server.close()
    #expect(await error { _ = try await second.line?.status() }?.kind == .disconnected)
    await second.close()
  }

  /// A service that has not noticed yet that a loan has ended, or has ended it itself.
  @Test(arguments: ["NoSuchDevice", "Cancelled"]) func theServiceSaysThatTheLoanHasEnded(name: String) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/s"
    let failure = #"!{"error":"accessorybridge.Bridge.\#(name)","parameters":{"message":"no more"}}"#
    let service = try CannedService(
      at: path, ["Open": [#"{"device":\#(Self.device),"loan":"x","line":\#(Self.line())}"#], "LineFacts": [failure]])
    let transport = try await borrow(path)
    #expect(await error { _ = try await transport.line?.status() } == .disconnected("my robot"))
    await transport.close()
    service.close()
  }

  // MARK: - Other services

  private static let device =
    #"{"id":"X1","path":"/dev/ttyACM0","source":"udev","links":[],"ways":["tty"],"initialized":true}"#

  private static func line(_ bits: String = "8", parity: String = "none") -> String {
    #"{"baud":9600,"data_bits":\#(bits),"stop_bits":1,"parity":"\#(parity)","flow_control":"none","#
      + #""lowers_lines_on_close":true,"modem_lines":{"dtr":true,"xyz":true,"":false}}"#
  }

  /// One that tells of no loans lends the bytes, and the line says why there is no more.
  @Test func anEarlierServiceLendsOnlyBytes() async throws {
    let directory = try TemporaryDirectory()
    for (index, device) in [Self.device, Self.device.replacing("/dev/ttyACM0", with: "tcp:box:1")].enumerated() {
      let path = directory.path + "/\(index)"
      let service = try CannedService(at: path, ["Open": [#"{"device":\#(device)}"#]])
      let transport = try await borrow(path)
      #expect(transport.timing == .instant)
      if index == 0 {
        let line = try #require(transport.line)
        for error in [
          await error { _ = try await line.status() }, await error { _ = try await line.modemLines() },
          await error { _ = try await line.change(LineChanges(baudRate: 9_600)) },
          await error { try await line.set(.dtr, true) }, await error { try await line.setBreak(true) },
          await error { try await line.purge(.received) },
        ] {
          #expect(error?.kind == .unsupported)
          #expect(error?.message.contains("is of an earlier version") == true)
        }
      } else {
        #expect(transport.line == nil)
      }
      #expect(service.calls.value == ["Open"])
      await transport.close()
      service.close()
    }
  }

  @Test func anAccessoryWithoutALineIsLentWithoutOne() async throws {
    let directory = try TemporaryDirectory()
    let service = try CannedService(
      at: directory.path + "/s", ["Open": [#"{"device":\#(Self.device),"loan":"x","line":null}"#]])
    let transport = try await borrow(directory.path + "/s")
    #expect(transport.line == nil && transport.timing == .instant)
    await transport.close()
    service.close()
  }

  @Test(arguments: ["9007199254740993", "1e30", "-1", "33"])
  func impossibleNumbersOfALineAreBadData(bits: String) async throws {
    let directory = try TemporaryDirectory()
    let (one, other) = (directory.path + "/1", directory.path + "/2")
    let first = try CannedService(
      at: one, ["Open": [#"{"device":\#(Self.device),"loan":"x","line":\#(Self.line(bits))}"#]])
    #expect(await error { _ = try await borrow(one) }?.kind == .badData)
    let second = try CannedService(
      at: other,
      [
        "Open": [#"{"device":\#(Self.device),"loan":"x","line":\#(Self.line())}"#],
        "LineFacts": [#"{"line":\#(Self.line(bits))}"#], "ChangeLine": [#"{"line":\#(Self.line(bits))}"#],
      ])
    let transport = try await borrow(other)
    #expect(await error { _ = try await transport.line?.status() }?.kind == .badData)
    #expect(await error { _ = try await transport.line?.change(LineChanges()) }?.kind == .badData)
    #expect(transport.timing == .serial(baudRate: 9_600))
    await transport.close()
    first.close()
    second.close()
  }

  @Test func unknownWordsAreBadDataOrIgnored() async throws {
    let directory = try TemporaryDirectory()
    let strange = Self.line(parity: "sometimes")
    let service = try CannedService(
      at: directory.path + "/s",
      [
        "Open": [#"{"device":\#(Self.device),"loan":"x","line":\#(strange)}"#], "LineFacts": [#"{"line":\#(strange)}"#],
        "ModemLines": [#"{"modem_lines":{"dtr":true,"xyz":true,"ri":false}}"#],
      ])
    let transport = try await borrow(directory.path + "/s")
    #expect(await error { _ = try await transport.line?.status() }?.kind == .badData)
    #expect(try await transport.line?.modemLines() == .dtr)
    await transport.close()
    service.close()
  }

  // MARK: - Other clients

  /// What a hostile client may say of a line that it has borrowed, and of one that it hasn't.
  @Test(arguments: [
    ("LineFacts", #"{"loan":"loan 2"}"#, "NoSuchDevice"), ("LineFacts", #"{"loan":""}"#, "NoSuchDevice"),
    ("LineFacts", "{}", "InvalidParameter"), ("LineFacts", #"{"loan":1}"#, "InvalidParameter"),
    ("ChangeLine", #"{"loan":"loan 1","baud":-1}"#, "InvalidParameter"),
    ("ChangeLine", #"{"loan":"loan 1","baud":4294967296}"#, "InvalidParameter"),
    ("ChangeLine", #"{"loan":"loan 1","baud":0}"#, "Misconfigured"),
    ("ChangeLine", #"{"loan":"loan 1","data_bits":9223372036854775807}"#, "Misconfigured"),
    ("ChangeLine", #"{"loan":"loan 1","stop_bits":-9223372036854775808}"#, "Misconfigured"),
    ("ChangeLine", #"{"loan":"loan 1","parity":"sometimes"}"#, "InvalidParameter"),
    ("ChangeLine", #"{"loan":"loan 1","flow_control":"rts"}"#, "InvalidParameter"),
    ("SetModemLines", #"{"loan":"loan 1","modem_lines":{"cts":true}}"#, "Misconfigured"),
    ("SetModemLines", #"{"loan":"loan 1","modem_lines":{"dtr":true,"\u001b[31m":false}}"#, "Misconfigured"),
    ("SetModemLines", #"{"loan":"loan 1","modem_lines":{"dtr":1}}"#, "InvalidParameter"),
    ("SetBreak", #"{"loan":"loan 1","on":null}"#, "InvalidParameter"),
    ("Purge", #"{"loan":"loan 1","received":true}"#, "InvalidParameter"),
    ("Purge", #"{"loan":"loan 1","received":true,"unsent":true,"all":true}"#, "InvalidParameter"),
  ])
  func strangeRequestsForALineAreRefused(method: String, parameters: String, name: String) async throws {
    let sample = try await SampleServer()
    let transport = try await borrow(sample.path)
    let before = sample.bridge.line.state.value.status
    let client = try await sample.client()
    let fields = try #require(try JSON(Array(parameters.utf8)).fields)
    let error = await #expect(throws: ControlError.self) {
      try await client.call("accessorybridge.Bridge.\(method)", fields)
    }
    guard case .answer(let answer) = error else { throw Hang("an answer: \(String(describing: error))") }
    #expect(answer.name.hasSuffix("." + name), "\(answer.name)")
    #expect(!answer.description.contains("\u{1b}"))
    #expect(sample.bridge.line.state.value.status == before && sample.bridge.line.state.value.purges == [])
    await transport.close()
    await sample.server.close()
  }
}
