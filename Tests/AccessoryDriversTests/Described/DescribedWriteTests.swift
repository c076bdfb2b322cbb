// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

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

  @Test func areMarked() throws {
    let driver = Driver(try Self.description())
    #expect(driver.hasWrites && driver.commands.map(\.isWrite) == [false, true])
    let harmless = Driver(try Self.description(Self.text.replacing("write: true", with: "write: false")))
    #expect(!harmless.hasWrites)
  }

  /// Those that ship: where no request is a write, an example says that there are such bytes, so the bytes are guarded, too.
  @Test(arguments: ["jbd", "vedirect", "jk", "daly", "pi30", "vesc", "pylontech", "megatec"])
  func ofThoseThatShip(_ name: String) {
    #expect(DriverLibrary.builtIn.driver(named: name)?.hasWrites == true)
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
