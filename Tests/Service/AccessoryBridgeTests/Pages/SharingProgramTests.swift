// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryProtocols
import AccessorySimulator
import FamilyAF1
import FamilyEV3
import FamilyEV3Simulator
import Glibc
import TestSupport
import Testing

@testable import OwnGadget

/// Programs that are written as the pages say: commands, sharing, a driver of one's own.
@Suite("Programs of the pages", .serialized, .timeLimit(.minutes(Patience.minutes(3)))) struct SharingProgramTests {
  @Test(arguments: [false, true]) func oneProgramDoesEverything(besideAService: Bool) async throws {
    let place = try Place()
    let simulator = try await place.simulate()
    let service = besideAService ? try await place.serve() : nil
    let lines = Watched<[String]>([])
    let program = SharingProgram(accessories: place.accessories) { line in lines.update { $0.append(line) } }
    let using = Task { try await program.use("SIM0001") }
    try await lines.wait { $0.contains("used") }
    await simulator.setBattery(AF1BatteryReply(level: .low, percent: 8))
    try await lines.wait { $0.contains("now 8 %") }
    let echo = try #require(AF1Accessory.commands.first { $0.name == "echo" })
    #expect(
      lines.value.prefix(6) == [
        "SIM0001: \(besideAService ? "held" : "free")", "battery 57 %", echo.form,
        "\([echo.results[0].name: CommandValue.bytes([1, 2])])", "misconfigured", "used",
      ])
    await simulator.unplug()
    let end = await #expect(throws: AccessoryError.self) { try await using.value }
    #expect(end?.kind == .disconnected)

    try await simulator.plugIn()
    if let service { try await place.attached(2, by: service) }
    let sharing = Task { try await program.share("SIM0001") }
    let told = try await lines.wait { $0.contains("by frames") }
    let port = try #require(told.compactMap { $0.hasPrefix("port ") ? UInt16($0.dropFirst(5)) : nil }.first)
    // Each of two clients has the accessory for itself.
    var clients: [AF1Accessory] = []
    for _ in 1...2 {
      let address = try #require(NetworkAddress("127.0.0.1:\(port)"))
      clients.append(try await AF1Accessory.open(AccessorySession(try await DescriptorTransport.open(address))))
    }
    for client in clients + clients { #expect(try await client.battery().percent == 8) }
    #expect(try await clients[1].perform("echo", ["payload": "03"]).values.first == .bytes([3]))
    for client in clients { await client.close() }
    sharing.cancel()
    try await sharing.value
    // It is free for others again.
    let accessory = try await place.accessories.open("SIM0001")
    #expect(try await accessory.battery().percent == 8)
    await accessory.close()
    service?.signal(SIGTERM)
    try await service?.end()
    await simulator.stop()
  }

  @Test(arguments: [false, true]) func thePagesSnippetCommandsABrick(besideAService: Bool) async throws {
    let place = try Place()
    var configuration = EV3Simulator.Configuration(seed: 1)
    configuration.announcementDirectory = place.simulators
    let simulator = EV3Simulator(configuration)
    let path = try await simulator.plugIn()
    let service = besideAService ? try await place.serve() : nil
    let (brick, replies) = try await PageSnippets.commands(of: path, place.accessories)
    #expect(replies.map(\.command) == ["motor-speed", "motor-start"] && replies.allSatisfy(\.values.isEmpty))
    #expect(try await brick.commands() == EV3Brick.commands)
    #expect(try await brick.perform("battery-percent") == ["percent": .whole(100)])
    for (name, arguments) in [
      ("zzz", [:]), ("led", [:]), ("led", ["pattern": "x"]), ("led", ["pattern": "off", "a": "b"]),
    ] {
      let error = await kind { () throws(AccessoryError) in try await brick.perform(name, arguments) }
      #expect(error == .misconfigured, "\(name) \(arguments)")
    }
    await brick.close()
    service?.signal(SIGTERM)
    try await service?.end()
    await simulator.stop()
  }

  /// Documentation/own-gadget.md: a driver that only this program has.
  @Test func thePagesSnippetOpensALamp() async throws {
    let terminal = try await PseudoTerminal.open()
    let transport = terminal.transport
    let requests = Watched<[[UInt8]]>([])
    let line = Watched<[UInt8]>([])
    let format = HeaderFormat(
      sync: [0xA5], headerByteCount: 4, length: .init(offset: 1, byteCount: 1),
      payloadChecksum: .init(.crc(.crc8SMBUS), coveredHeader: 1..<4))
    let codec = try HeaderCodec(format, maximumPayload: 64)
    transport.input.onReadable { [weak transport] in
      var bytes: [UInt8] = []
      while let transport, case .bytes = transport.input.take(into: &bytes) {
        let arrived = bytes
        let request = line.update { line -> [UInt8]? in
          line += arrived
          guard line.count >= 5, line.count >= 5 + Int(line[1]) else { return nil }
          defer { line = [] }
          return line
        }
        guard let request else { continue }
        requests.update { $0.append(request) }
        let reply = try? codec.frame(request[2], number: request[3], of: request[2] == 0x11 ? [21] : [])
        _ = transport.output.offer(reply ?? [])
      }
    }
    let lamp = try await PageSnippets.lamp(at: terminal.path)
    #expect(requests.value.count == 1 && requests.value[0][2] == 0x10 && requests.value[0][4] == 40)
    #expect(try await lamp.commands() == Lamp.commands)
    #expect(try await lamp.perform("heat") == ["temperature": .whole(21)])
    let error = await kind { () throws(AccessoryError) in try await lamp.perform("light", ["level": "101"]) }
    #expect(error == .misconfigured && requests.value.count == 2)
    await lamp.close()
    await transport.close()
  }

  /// Bytes that may change something reach it only with both permissions.
  @Test func anAccessoryWithWritesIsSharedForReading() async throws {
    let driver = Driver(name: "pack", rawBytes: .guarded) { session, _, _ throws(AccessoryError) in
      throw .closed(session.label)
    }
    for allows in [false, true] {
      let terminal = try await PseudoTerminal.open()
      var profile = Profile(name: "pack", rules: [DeviceRule(path: terminal.path)])
      (profile.driver, profile.allowsWrites) = ("pack", allows)
      let accessories = Accessories(
        sources: [], profiles: ProfileStore([profile]), drivers: DriverLibrary([driver]), services: [])
      let shared = try await accessories.openShared(terminal.path)
      #expect(shared.isReadOnly && shared.routing == nil && shared.session == nil)
      await shared.transport.close()
      let error = await kind { () throws(AccessoryError) in
        let shared = try await accessories.openShared(terminal.path, writes: true)
        #expect(!shared.isReadOnly)
        await shared.transport.close()
      }
      #expect(error == (allows ? nil : .permissionDenied))
      await terminal.transport.close()
    }
  }
}

extension HeaderCodec {
  /// A frame of the lamp.
  fileprivate func frame(_ code: UInt8, number: UInt8, of payload: [UInt8]) throws -> [UInt8] {
    var header = HeaderBytes(code, at: 2)
    header[3] = number
    var bytes: [UInt8] = []
    try encode(header, payload: payload, into: &bytes)
    return bytes
  }
}
