// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryFamilies
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// Writes that a description marks.
@Suite struct DescribedWriteTests {
  private static let text = """
    protocol: pack
    version: 1
    framings:
      line: {layout: [data, end: "\\n"], max: 32}
    messages:
      any: {framing: line, pattern: "!{text}", pushed: true}
    requests:
      read: {send: line, data: "read"}
      cut:
        send: line
        data: ["cut ", {argument: seconds}]
        arguments: {seconds: {type: text, from: 1, to: 9, default: 1}}
        write: true
    """

  private static func description(_ text: String = text) throws -> ProtocolDescription {
    try DescriptionReader.read(Array(text.utf8), file: "pack.yaml").description
  }

  @Test func writesOfADescriptionAreMarked() throws {
    let driver = Driver(try Self.description())
    #expect(driver.hasWrites && driver.commands.map(\.isWrite) == [false, true])
    // What marks no writes isn't thereby harmless.
    let unmarked = Self.text.replacing("write: true", with: "write: false")
    let undecided = Driver(try Self.description(unmarked))
    #expect(undecided.hasWrites && undecided.rawBytes == .undecided)
    let harmless = Driver(try Self.description(unmarked + "\nraw: harmless"))
    #expect(!harmless.hasWrites && harmless.rawBytes == .harmless)
    #expect(driver.rawBytes == .guarded)
  }

  /// A description can't say that bytes are harmless and mark some that aren't; nor is there another word.
  @Test(arguments: [(text + "\nraw: harmless", "contradicts write: true"), (text + "\nraw: open", "harmless")])
  func contradictionsOfRawBytesAreReported(text: String, problem: String) throws {
    let problems = #expect(throws: ProfileProblems.self) { try Self.description(text) }
    #expect(problems?.problems.contains { $0.message.contains(problem) } == true, "\(String(describing: problems))")
  }

  /// Each kind that ships has decided what raw bytes can do: only those of gadgets whose programs send them are open, and the one
  /// to which nothing can be sent.
  @Test func everyShippedDriverDecidesOnRawBytes() {
    let all = DriverLibrary.builtIn.all
    #expect(all.filter { $0.rawBytes == .undecided }.isEmpty)
    let open = ["framed", "ev3", "hm10", "bluno", "hm1x", "victron-ble"]
    #expect(all.filter { $0.rawBytes == .harmless }.map(\.name) == open)
    #expect(all.filter { !$0.hasWrites }.map(\.name) == open)
  }

  /// An argument is typed as it is sent. Its unit stands beside it only where that is the number in this unit.
  @Test(arguments: ["", ", value: raw / 10", ", value: raw + 2"]) func anArgumentIsTypedAsItIsSent(scaling: String)
    throws
  {
    let text = Self.text.replacing("default: 1}", with: "default: 1, unit: s\(scaling)}")
    let driver = Driver(try Self.description(text))
    #expect(
      driver.commands.last?.arguments
        == [.init("seconds", .whole(1...9), unit: scaling.isEmpty ? "s" : nil, defaultValue: .whole(1))])
    let call = try CommandCall("cut", ["seconds": "7"], of: driver.commands)
    #expect(try driver.preview(of: [call]) == [Array("cut 7\n".utf8)])
  }

  @Test func thePreviewIsWhatIsSent() async throws {
    let description = try Self.description()
    let driver = Driver(description)
    let calls = [
      try CommandCall("read", [:], of: driver.commands), try CommandCall("cut", ["seconds": "7"], of: driver.commands),
    ]
    #expect(try driver.preview(of: calls) == [Array("read\n".utf8), Array("cut 7\n".utf8)])
    let transport = MemoryTransport()
    let accessory = try await DescribedAccessory.open(AccessorySession(transport), description)
    // The driver itself lets nothing through that nobody has permitted, and nothing beside it.
    let error = await #expect(throws: AccessoryError.self) { try await accessory.perform(calls, isAnswered: true) }
    #expect(error?.kind == .permissionDenied && transport.written.isEmpty)
    _ = try await accessory.perform(calls.map { $0.permitted() }, isAnswered: true)
    #expect(transport.written == Array("read\ncut 7\n".utf8))
    await accessory.close()
  }
}
