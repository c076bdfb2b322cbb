// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

/// The service with more batteries on the air than the adapter has connections.
@Suite(.timeLimit(.minutes(Patience.minutes(10)))) struct PackTurnsTests {
  /// What a TianPwr battery answers (the examples of its description).
  private static let answers = [
    ("550481AA", "551481302E312E313000000000000000000000AA"), ("550482AA", "55148254502D4C543535005442000000000000AA"),
    ("550483AA", "551483003C1562011800E600FA000030300064AA"), ("550484AA", "551484100459D8364800000000000000000000AA"),
    ("550485AA", "55148508230000000000000000000000000000AA"), ("550487AA", "55148700E600E600E600E60000000000000000AA"),
    ("550488AA", "5514880D570D5B0D5B0D5E0D5D0D5E0D610D60AA"), ("550489AA", "5514890D5D0D610D5D0D5D0D5E0D5C0D5E0D65AA"),
  ].reduce(into: [[UInt8]: [UInt8]]()) { answers, pair in
    if let (sent, received) = Hexadecimal.bytes(pair.0).map({ ($0, Hexadecimal.bytes(pair.1) ?? []) }) {
      answers[sent] = received
    }
  }

  /// Runs `body` with batteries at an adapter that has this many connections, and with their profile.
  private static func with(
    _ count: Int, limit: Int, _ body: (Sandbox, PretendedPacks) async throws -> Void
  ) async throws {
    try await Sandbox.with { box in
      let packs = try PretendedPacks(
        count, limit: limit, name: "TP_", services: ("ff00", "ff02", "ff01"), answers: answers,
        counted: try #require(Hexadecimal.bytes("550483AA")))
      defer { packs.close() }
      try box.directory.makeFolders(of: "profiles/x")
      try box.directory.write(profile, to: "profiles/packs.yaml")
      try await body(box, packs)
    }
  }

  private static let profile = Array(
    """
    name: packs
    match: {bluetooth: {name: "TP_*"}}
    connect: allowed
    protocol: tianpwr
    poll: 2s
    """.utf8)

  /// Ten batteries, seven connections: all are read again and again, no connection too many is tried, and `list` and the log say so.
  @Test func tenBatteriesAreReadWithSevenConnections() async throws {
    try await Self.with(10, limit: 7) { box, packs in
      let service = try await box.serve(environment: packs.environment)
      try await service.errors(containing: "more Bluetooth accessories than the 7 connections of hci0")
      // Each is read six times or more, whoever was first.
      _ = try await packs.answered.wait { counts in counts.allSatisfy { $0 >= 6 } }
      let list = try await box.run(["list", "--json"], environment: packs.environment)
      #expect(list.status == 0, "\(list.errorText)")
      // None is reported as gone: those whose turn isn't now are reachable.
      let transcript = service.transcript.value
      #expect(!transcript.errorText.contains("given up"), "\(transcript.errorText.suffix(2_000))")
      // A client gets an answer from each, also from those that aren't connected at present.
      for pack in 0..<10 {
        let battery = try await box.run(
          ["battery", "ble:" + PretendedPacks.address(pack), "--json"], environment: packs.environment)
        #expect(battery.status == 0, "\(battery.outputText)\(battery.errorText)")
        #expect(try battery.json()["battery"]?["percent"] == 60)
      }
      let connections = packs.connections.value
      #expect(connections.most <= 7 && connections.refused == 0 && connections.made > 10, "\(connections)")
      // Nobody was read much oftener than the others.
      let counts = packs.answered.value
      #expect((counts.max() ?? 0) <= 8 * (counts.min() ?? 0), "\(counts)")
      service.signal(SIGINT)
      #expect(try await service.end().status == 0)
      #expect(packs.connections.value.now == 0)
    }
  }

  /// The number of connections is set in the service's file.
  @Test func theNumberOfConnectionsIsSet() async throws {
    try await Self.with(3, limit: 1) { box, packs in
      try box.directory.write(Array("bluetooth_connections: {hci0: 1}".utf8), to: "service.yaml")
      let service = try await box.serve(
        "--config", box.directory.path + "/service.yaml", environment: packs.environment)
      try await service.errors(containing: "more Bluetooth accessories than the 1 connection of hci0")
      _ = try await packs.answered.wait { counts in counts.allSatisfy { $0 >= 3 } }
      #expect(packs.connections.value.most == 1 && packs.connections.value.refused == 0)
      service.signal(SIGINT)
      #expect(try await service.end().status == 0)
    }
  }
}
