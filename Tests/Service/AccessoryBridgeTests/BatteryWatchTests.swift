// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryProtocols
import FamilyAF1
import Glibc
import TestSupport
import Testing

/// The example of Documentation/swift.md, as the program that it is.
@Suite("The example BatteryWatch", .serialized, .timeLimit(.minutes(Patience.minutes(3)))) struct BatteryWatchTests {
  private let root = ProjectFolder.path

  private func text(of file: String) throws -> String {
    String(decoding: try SmallFile.read("\(root)/\(file)", limit: 1 << 20), as: UTF8.self)
  }

  @Test(arguments: [false, true]) func theExamplePrintsTheSameBesideAService(besideAService: Bool) async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let service = besideAService ? try await place.serve() : nil
    let program = try place.start("BatteryWatch", "SIM0001", output: .terminal)
    try await program.line { $0.hasPrefix("idle, battery 57 %") }
    await simulator.setBattery(AF1BatteryReply(level: .low, percent: 8))
    try await program.line { $0.hasPrefix("battery 8 %") }
    await simulator.unplug()
    let transcript = try await program.end()
    #expect(transcript.status == 0 && transcript.errorText == "")
    let first = "SIM0001: \(besideAService ? "held by a service" : "free")"
    #expect(transcript.lines.contains { $0.hasPrefix(first) }, "\(transcript.outputText)")
    #expect(transcript.lines.last?.hasPrefix("disconnected: ") == true, "\(transcript.outputText)")
    service?.signal(SIGTERM)
    try await service?.end()
    await simulator.stop()
  }

  @Test func thePageShowsItToTheLetter() throws {
    let page = try text(of: "Documentation/swift.md").split(separator: "\n", omittingEmptySubsequences: false)
    let source = try text(of: "Examples/BatteryWatch/BatteryWatch.swift")
    let written = source.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).dropLast()
    let begin = try #require(page.firstIndex(of: "import AccessoryBridge"))
    #expect(Array(page[begin...].prefix { $0 != "```" }) == Array(written))
    #expect(source.split(separator: "\n").count <= 30)
  }
}
