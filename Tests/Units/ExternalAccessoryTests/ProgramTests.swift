// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import AccessorySimulator
import ExternalAccessory
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

/// Whole programs with a real main run loop, beside a real `bridge-cli simulate framed`.
@Suite(.timeLimit(.minutes(Patience.minutes(3)))) struct ProgramTests {
  /// The reply to a request for the battery, number 1, to the byte, from a simulator at 57 %.
  private func expectBatteryReply(_ line: String?) throws {
    let bytes = try #require(line).split(separator: " ").compactMap { UInt8($0, radix: 16) }
    #expect(bytes.prefix(6) == [0x0F, 0xF0, 0x12, 0x03, 0x01, 0x00])
    #expect(bytes.count == 14 + Int(bytes[6]))
    #expect(bytes[11] == 57)
  }

  // MARK: - Examples

  @Test(arguments: ["DelegateClient", "NativeClient"])
  func anExampleClientPrintsBatteryAndStatus(_ name: String) async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let transcript = try await place.start(name).end()
    #expect(transcript.status == 0, "\(transcript.errorText)")
    #expect(transcript.lines.suffix(2) == ["battery: 57 %, normal", "status: idle"], "\(transcript.errorText)")
    _ = simulator
  }

  /// An accessory that is connected while the program runs.
  @Test func anExampleWaitsForItsAccessory() async throws {
    let place = try Place()
    let program = try place.start("DelegateClient")
    try await program.line(containing: "waiting")
    let simulator = try await place.simulate()
    let transcript = try await program.end()
    #expect(transcript.status == 0, "\(transcript.errorText)")
    #expect(
      transcript.lines == [
        "waiting for an accessory", "Simulated accessory was connected", "battery: 57 %, normal", "status: idle",
      ])
    _ = simulator
  }

  // MARK: - Accessories that the service holds

  /// The same programs print the same while the service holds the accessory, one after another, and it has it again
  /// afterwards.
  @Test func theExamplesWorkThroughTheService() async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let service = try place.start("bridge-cli", "serve")
    try await service.transcript.wait { $0.status != nil || $0.errorText.contains("is attached at") }
    for round in 1...2 {
      let transcript = try await place.start("DelegateClient").end()
      #expect(transcript.status == 0, "\(transcript.errorText)")
      #expect(transcript.lines.suffix(2) == ["battery: 57 %, normal", "status: idle"], "\(transcript.errorText)")
      try await service.transcript.wait { state in
        state.status != nil || state.errorText.split(separator: "is attached at").count > round + 1
      }
    }
    for name in ["controller", "queues", "thread"] {
      let transcript = try await place.start("ClientsOfSwift5", name).end()
      #expect(transcript.status == 0, "\(transcript.errorText)")
      try expectBatteryReply(transcript.lines.first)
    }
    #expect(service.transcript.value.errorText.contains("is lent to process"))
    _ = simulator
  }

  /// One that nobody announces and somebody has named to the service: the program is told, and speaks with it.
  @Test(arguments: [true, false]) func aProgramFindsWhatOnlyTheServiceKnows(isAttachedBefore: Bool) async throws {
    let place = try Place()
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.isAnnounced = false
    configuration.device.battery = AF1BatteryReply(level: .normal, percent: 57)
    let simulator = AF1Simulator(configuration)
    let path = try await simulator.plugIn()
    let service = try place.start("bridge-cli", "serve")
    try await service.transcript.wait { $0.status != nil || $0.errorText.contains("looking for accessories") }
    func attach() async throws {
      #expect(try await place.start("bridge-cli", "attach", path, "--profile", "framed").end().status == 0)
    }
    if isAttachedBefore { try await attach() }
    let program = try place.start("DelegateClient")
    if !isAttachedBefore {
      try await program.line(containing: "waiting")
      try await attach()
    }
    let transcript = try await program.end()
    #expect(transcript.status == 0, "\(transcript.errorText)")
    let told = ["waiting for an accessory", "Simulated accessory was connected"]
    #expect(transcript.lines == (isAttachedBefore ? [] : told) + ["battery: 57 %, normal", "status: idle"])
    await simulator.stop()
  }

  // MARK: - Clients as found in the wild

  @Test(arguments: ["controller", "queues", "thread"]) func aSwift5ClientReadsABattery(_ name: String) async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let transcript = try await place.start("ClientsOfSwift5", name).end()
    #expect(transcript.status == 0, "\(transcript.errorText)")
    #expect(transcript.lines.count == 1)
    try expectBatteryReply(transcript.lines.first)
    _ = simulator
  }

  /// The user's profiles count: one in place of the built-in one, without the protocol, leaves nothing to open.
  @Test func theUsersProfilesReplaceBuiltInOnes() async throws {
    let place = try Place()
    let folder = place.runtime.path + "/accessory-bridge/profiles"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let text = "name: framed\nmatch: {driver: framed}\nprotocols: [com.example.other]\n"
    try Data(text.utf8).write(to: URL(filePath: folder + "/framed.yaml"))
    let simulator = try await place.simulate()
    let transcript = try await place.start("ClientsOfSwift5", "controller").end()
    #expect(transcript.status == 66, "no accessory has the protocol")
    _ = simulator
  }

  /// A program that lists its protocols, as iOS wants it, opens these alone.
  @Test func anInfoPropertyListCounts() async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let folder = place.runtime.path + "/app"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: try Place.path(of: "ClientsOfSwift5"), toPath: folder + "/Client")
    for (listed, status) in [("com.example.other", 69), ("com.accessorybridge.framed", 0)] as [(String, CInt)] {
      let list = ["UISupportedExternalAccessoryProtocols": [listed]]
      try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        .write(to: URL(filePath: folder + "/Info.plist"))
      let transcript = try await place.start(at: folder + "/Client", ["controller"]).end()
      #expect(transcript.status == status, "\(listed): \(transcript.errorText)")
      // Why the session is nil.
      let reason = "is nil: com.accessorybridge.framed is not among UISupportedExternalAccessoryProtocols of Info.plist"
      #expect(transcript.errorText.contains(reason) == (status != 0), "\(transcript.errorText)")
    }
    _ = simulator
  }

  @Test(arguments: ["ClientsOfSwift6", "ClientsOfSwift6In5"])
  func aSwift6ClientReadsABatteryAndTheDisconnection(_ name: String) async throws {
    let place = try Place()
    let program = try place.start(name)
    try await program.line(containing: "waiting")
    let simulator = try await place.simulate()
    try expectBatteryReply(try await program.line { $0.hasPrefix("0F F0") })
    // Its terminal and its announcement go with it.
    simulator.signal(SIGINT)
    let transcript = try await program.end()
    #expect(transcript.status == 0, "\(transcript.errorText)")
    #expect(transcript.lines.last == "disconnected: SIM0001")
  }
}
