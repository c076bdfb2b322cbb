// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryDrivers

/// What is done once after opening.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct StartTests {
  /// A console that listens at 1200 baud until it is told to be faster.
  private static let text = #"""
    protocol: console
    version: 1
    framings:
      answer: {layout: [data, end: ">"]}
    messages:
      hello: {pattern: "{identity.model} {version}", types: {identity.model: {type: text}}}
    requests:
      faster: {send: "FAST\n"}
      hello: {send: "\n", reply: hello}
    plan:
      start: [faster, {wait: 1ms}, {baud: 115200}, {request: hello, expect: {identity.model: pylon}}]
      tries: 1
      timeout: 30s
    """#

  private func open(_ transport: MemoryTransport) async throws -> DescribedAccessory {
    let description = try DescriptionReader.read(Array(Self.text.utf8), file: "console.yaml").description
    return try await DescribedAccessory.open(AccessorySession(transport), description)
  }

  @Test func theRateChangesBehindTheRequest() async throws {
    let line = MemoryLine(LineStatus(baudRate: 1_200, modemLines: []))
    let transport = MemoryTransport(line: line)
    async let opening = open(transport)
    #expect(try await transport.nextWritten(5) == Array("FAST\n".utf8))
    #expect(line.state.value.status.baudRate == 1_200)
    #expect(try await transport.nextWritten(1) == Array("\n".utf8))
    #expect(line.state.value.status.baudRate == 115_200, "before anything else is sent")
    transport.receive(Array("pylon 3>".utf8))
    let accessory = try await opening
    await accessory.close()
  }

  @Test func anotherAnswerIsNoContact() async throws {
    let transport = MemoryTransport(line: MemoryLine(LineStatus(baudRate: 1_200, modemLines: [])))
    let opening = Task { try await open(transport) }
    _ = try await transport.nextWritten(6)
    transport.receive(Array("modem 3>".utf8))
    let error = await #expect(throws: AccessoryError.self) { _ = try await opening.value }
    #expect(error?.kind == .unsupported)
    #expect(
      error?.message.contains("as console accessories do: identity.model is modem, not pylon.") == true,
      "\(error as Any)")
  }

  /// A network has no rate: that is said, and nothing is sent behind it.
  @Test func aNetworkHasNoRateToChange() async throws {
    let transport = MemoryTransport(label: "tcp:box:23")
    let error = await #expect(throws: AccessoryError.self) { _ = try await open(transport) }
    #expect(error?.kind == .unsupported)
    #expect(
      error?.message
        == "tcp:box:23 has no serial line whose baud rate can be changed, and console needs 115200 baud: connect it "
        + "to a serial port of this machine")
    #expect(transport.written == Array("FAST\n".utf8))
  }
}
