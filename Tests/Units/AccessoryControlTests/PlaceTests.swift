// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Glibc
import TestSupport
import Testing

@testable import AccessoryControl

/// Where the sockets of a service are, and which of the passed ones is which.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct PlaceTests {
  @Test(arguments: [
    ("/run/accessory-bridge/bridge.socket", "/run/accessory-bridge/readings.socket"),
    ("bridge.socket", "readings.socket"), ("/tmp/a.socket", "/tmp/a-readings.socket"),
    ("./x", "./x-readings.socket"), ("/tmp/my.bridge.socket", "/tmp/my.bridge-readings.socket"),
    ("/bridge.socket/s", "/bridge.socket/s-readings.socket"), ("/tmp/", "/tmp/-readings.socket"),
    ("", "-readings.socket"),
  ])
  func theReadingsSocketIsBesideTheOther(_ path: String, _ readings: String) {
    #expect(ServicePlace.readings(beside: path) == readings)
  }

  @Test func readersFindTheSocketsByTheEnvironment() throws {
    func places(_ variables: [String: String]) -> [String] { ServicePlace.allReadings { variables[$0] } }
    let (bridge, readings) = ("ACCESSORY_BRIDGE_SOCKET", "ACCESSORY_BRIDGE_READINGS_SOCKET")
    #expect(places([bridge: "/a/bridge.socket"]) == ["/a/readings.socket"])
    #expect(places([bridge: "/a/b"]) == ["/a/b-readings.socket"])
    #expect(places([bridge: "/a/b", readings: "/r"]) == ["/r"])
    #expect(places([readings: "none"]).isEmpty && places([bridge: "none"]).isEmpty)
    #expect(places([bridge: "none", readings: "/r"]) == ["/r"])
    let usual = places([:])
    let system = ["/run/accessory-bridge/readings.socket", "/run/accessory-bridge-network/readings.socket"]
    #expect(usual.suffix(2) == system[...])
    #expect(system == [ServicePlace.system, ServicePlace.systemNetwork].map(ServicePlace.readings(beside:)))
    #expect(usual.allSatisfy { $0.hasSuffix("/readings.socket") })
  }

  // MARK: - Passed sockets

  struct Passed: Sendable {
    let names: String?
    let count: Int
    let bridge: Int
    var readings: Int?
  }

  @Test(arguments: [
    // Units of older versions give no names, or those of the units.
    Passed(names: nil, count: 1, bridge: 0), Passed(names: "accessory-bridge.socket", count: 1, bridge: 0),
    Passed(names: "", count: 1, bridge: 0), Passed(names: "unknown", count: 1, bridge: 0),
    Passed(names: "accessory-bridge.socket:readings", count: 2, bridge: 0, readings: 1),
    Passed(names: "readings:accessory-bridge.socket", count: 2, bridge: 1, readings: 0),
    Passed(names: ":readings", count: 2, bridge: 0, readings: 1),
  ])
  func passedSocketsAreToldApartByName(_ passed: Passed) throws {
    let places = try ControlSockets.places(ofNames: passed.names, count: passed.count)
    #expect(places.bridge == passed.bridge && places.readings == passed.readings)
  }

  @Test(
    arguments: [
      ("readings", 1, "no socket but those"), ("readings:readings", 2, "no socket but those"),
      ("a:b", 2, "none of them"),
      ("a:readings:b", 3, "systemd passed 3 sockets"), ("readings", 2, nil), (nil, 2, "none of them"),
    ] as [(String?, Int, String?)])
  func wrongPassedSocketsAreMisconfigured(_ names: String?, _ count: Int, _ problem: String?) throws {
    do throws(AccessoryError) {
      let places = try ControlSockets.places(ofNames: names, count: count)
      // Too few names: the other one has none.
      #expect(problem == nil && places.bridge == 1 && places.readings == 0)
    } catch {
      #expect(error.kind == .misconfigured)
      #expect(problem.map { error.message.contains($0) } == true, "\(error.message)")
    }
  }

  // MARK: - A server with both

  /// The callers of each socket are told apart, and each socket's files come back.
  @Test func aServerAnswersOnTwoSockets() async throws {
    let directory = try TemporaryDirectory()
    let paths = ["bridge", "readings"].map { directory.path + "/" + $0 }
    let (clients, mended) = (Watched(0), Watched<[String]>([]))
    let server = try ControlServer(
      try ControlSocket.make(at: paths[0]), readings: try ControlSocket.make(at: paths[1]), handler: SampleBridge(),
      onClients: { count in clients.update { $0 = count } },
      onSocket: { news, path in if case .mended = news { mended.update { $0.append(path) } } })
    #expect(server.places == SocketPlaces(bridge: paths[0], readings: paths[1]))
    let all = try await paths.asyncMap { try await ControlClient.connect(to: $0) }
    for client in all { _ = try await client.call(Bridge.List()) }
    try await clients.wait { $0 == 2 }
    _ = try await all[0].call(Bridge.Request(command: "echo"))
    let refused = await #expect(throws: ControlError.self) { try await all[1].call(Bridge.Request(command: "echo")) }
    #expect(refused?.accessoryError.kind == .permissionDenied)
    for path in paths {
      #expect(unlink(path) == 0)
      try await mended.wait { $0.contains(path) }
      _ = try await ControlClient.connect(to: path).call(Bridge.List())
    }
    await server.close()
    #expect(paths.allSatisfy { !exists($0) })
    for client in all { #expect(await errorKind(client) == .disconnected) }
  }

  private func errorKind(_ client: ControlClient) async -> AccessoryError.Kind? {
    do throws(ControlError) {
      _ = try await client.call(Bridge.List())
      return nil
    } catch {
      return error.accessoryError.kind
    }
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async throws -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await body(element)) }
    return values
  }
}
