// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import TestSupport
import Testing

@testable import BridgeService

/// Commands of those who may only read, through the socket: what is refused sends nothing. What arrives at the pack in the
/// end shows that: what was permitted behind all that is refused comes first.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct PermittedCommandTests {
  private static func with(
    _ permissions: [CommandPermission], allowsWrites: Bool = true, clock: ManualClock? = nil,
    _ body: (ServiceHarness, ControlClient, PackEnd) async throws -> Void
  ) async throws {
    let pack = try await PackEnd()
    try await ServiceHarness.with(
      profiles: [Pack.profile(allowsWrites: allowsWrites)], drivers: Pack.library, clock: clock
    ) {
      $0.commandRules = CommandRules(permissions, file: "/etc/service.yaml")
    } _: { harness in
      let file = try harness.announce(pack.terminal.path, serial: "P1", driver: "pack")
      try await harness.said("P1 is attached at")
      try await body(harness, try await harness.reader(), pack)
      file.remove()
    }
    await pack.terminal.transport.close()
  }

  private func failure(_ client: ControlClient, _ call: Bridge.Perform) async -> AccessoryError? {
    do throws(ControlError) {
      _ = try await client.call(call)
      return nil
    } catch {
      return error.accessoryError
    }
  }

  private func failure(
    _ client: ControlClient, _ names: String..., arguments: [String: String] = [:], write: Bool = false
  ) async -> AccessoryError? {
    await failure(
      client,
      Bridge.Perform(device: "P1", commands: names.map { Bridge.CommandCall($0, arguments) }, write: write))
  }

  private static let cut = CommandPermission(
    .profile("my-pack"), "cut", arguments: ["seconds": .range(1...3)], mayWrite: true)

  @Test func withoutAConfigurationNoneIsPermitted() async throws {
    try await Self.with([]) { harness, reader, pack in
      #expect(try await reader.call(Bridge.GetCommands()).commands == [])
      for write in [false, true] {
        for name in ["read", "cut"] {
          let error = await failure(reader, name, write: write)
          #expect(error?.kind == .permissionDenied)
          #expect(error?.message.contains("/etc/service.yaml has no entry") == true)
        }
      }
      let preview = await failure(
        reader, Bridge.Perform(device: "P1", commands: [.init("read")], dry_run: true))
      #expect(preview?.kind == .permissionDenied)
      // On the other socket all is as ever.
      #expect(try await harness.client().call(Bridge.GetCommands()).commands.map(\.name) == ["read", "cut"])
      #expect(await failure(try await harness.client(), "read") == nil)
      try await pack.expect("read\n")
    }
  }

  @Test func onlyWhatTheConfigurationNamesIsPermitted() async throws {
    try await Self.with([Self.cut]) { harness, reader, pack in
      let listed = try await reader.call(Bridge.GetCommands(device: "P1")).commands
      #expect(listed.map(\.name) == ["cut"] && listed.first?.isWrite == true)
      let seconds = try #require(listed.first?.arguments.first)
      #expect(seconds.kind == .whole(1...3) && seconds.defaultValue == .whole(1))
      // The others, and others among permitted ones.
      #expect(await failure(reader, "read")?.kind == .permissionDenied)
      #expect(await failure(reader, "cut", "read")?.kind == .permissionDenied)
      // Beyond the configuration's limit, and beyond the command's own.
      #expect(await failure(reader, "cut", arguments: ["seconds": "4"])?.kind == .permissionDenied)
      #expect(await failure(reader, "cut", arguments: ["seconds": "10"])?.kind == .misconfigured)
      #expect(await failure(reader, "cut", arguments: ["minutes": "1"])?.kind == .misconfigured)
      #expect(await failure(reader, "burn")?.kind == .misconfigured)
      #expect(await failure(reader)?.kind == .misconfigured)
      #expect(await failure(reader, Bridge.Perform(device: "P2", commands: [.init("cut")]))?.kind == .notFound)
      let preview = try await reader.call(
        Bridge.Perform(device: "P1", commands: [.init("cut", ["seconds": "2"])], dry_run: true))
      #expect(preview.sends_hex == ["63757420320a"] && preview.refusal == nil)
      #expect(pack.text.isEmpty)
      // With the client's word and without: the configuration's counts.
      #expect(await failure(reader, "cut", arguments: ["seconds": "2"]) == nil)
      #expect(await failure(reader, "cut", arguments: ["seconds": "3"], write: true) == nil)
      try await pack.expect("cut 2\ncut 3\n")
      #expect(harness.log.value.contains { $0.contains("cut, for user") })
    }
  }

  /// The configuration's word for a write isn't the profile's.
  @Test func theProfileMustAllowWrites() async throws {
    try await Self.with([Self.cut, .init(.driver("pack"), "read")], allowsWrites: false) { _, reader, pack in
      for write in [false, true] {
        let error = await failure(reader, "cut", write: write)
        #expect(error?.kind == .permissionDenied && error?.message.contains("writes: allowed") == true)
      }
      let preview = try await reader.call(
        Bridge.Perform(device: "P1", commands: [.init("cut")], dry_run: true))
      #expect(preview.refusal?.contains("writes: allowed") == true)
      #expect(await failure(reader, "read") == nil)
      try await pack.expect("read\n")
    }
  }

  /// And the other way round.
  @Test func theConfigurationMustAllowWrites() async throws {
    let entries: [CommandPermission] = [
      .init(.accessory("P1"), "cut", arguments: ["seconds": .any]), .init(.driver("pack"), "read"),
    ]
    try await Self.with(entries) { _, reader, pack in
      for write in [false, true] {
        let error = await failure(reader, "cut", write: write)
        #expect(error?.kind == .permissionDenied && error?.message.contains("write: true") == true)
      }
      #expect(await failure(reader, "read", write: true) == nil)
      try await pack.expect("read\n")
    }
  }

  @Test func commandsBeyondTheirRateAreBusy() async throws {
    let clock = ManualClock()
    let entry = CommandPermission(.accessory("P1"), "read", rate: .init(2, every: .seconds(5)))
    try await Self.with([entry], clock: clock) { harness, reader, pack in
      #expect(await failure(reader, "read", "read", "read")?.kind == .permissionDenied)
      let preview = Bridge.Perform(device: "P1", commands: [.init("read")], dry_run: true)
      for _ in 1...3 { #expect(await failure(reader, preview) == nil) }
      #expect(await failure(reader, "read") == nil)
      // Another connection makes no difference.
      #expect(await failure(try await harness.reader(), "read") == nil)
      clock.advance(by: .seconds(1))
      let error = await failure(reader, "read")
      #expect(error?.kind == .busy)
      #expect(error?.message.contains("2 every 5s at most: try again in 4 s") == true, "\(error?.message ?? "")")
      // Those who may act are not counted.
      #expect(await failure(try await harness.client(), "read") == nil)
      clock.advance(by: .seconds(5))
      #expect(await failure(reader, "read") == nil)
      try await pack.expect("read\nread\nread\nread\n")
    }
  }

  /// Other rules while it runs: those of a file that was read again.
  @Test func otherRulesHoldAtOnce() async throws {
    try await Self.with([]) { harness, reader, pack in
      #expect(await failure(reader, "read")?.kind == .permissionDenied)
      await harness.service.use(CommandRules([.init(.driver("pack"), "read")]))
      #expect(await failure(reader, "read") == nil)
      await harness.service.use(CommandRules())
      #expect(await failure(reader, "read")?.kind == .permissionDenied)
      try await pack.expect("read\n")
    }
  }

  /// Nobody is told of what was refused: who may only read can't fill others' events.
  @Test func refusalsAreNoEvents() async throws {
    try await Self.with([.init(.driver("pack"), "read")]) { harness, reader, pack in
      let seen = Watched<[Bridge.EventName]>([])
      let subscriber = Task {
        for try await event in try await harness.client().stream(Bridge.Subscribe()) {
          seen.update { $0.append(event.event) }
        }
      }
      try await seen.wait { $0.contains(.ready) }
      for _ in 1...20 { #expect(await failure(reader, "cut")?.kind == .permissionDenied) }
      _ = try await harness.client().call(Bridge.Detach(device: "P1"))
      try await seen.wait { $0.contains(.disconnected) }
      #expect(!seen.value.contains(.requestFailed))
      subscriber.cancel()
      #expect(pack.text.isEmpty)
    }
  }
}
