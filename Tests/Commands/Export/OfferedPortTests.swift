// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Glibc
import TestSupport
import Testing

/// Serial ports of `export home-assistant`, as processes. The client speaks without encryption.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct OfferedPortTests {
  /// A client, and what it has got.
  private final class Client: Sendable {
    let transport: DescriptorTransport
    let received = Watched<[UInt8]>([])

    init(_ place: NetworkAddress) async throws {
      transport = try await DescriptorTransport.open(place)
      transport.input.onReadable { [weak self] in self?.take() }
      take()
      // Hello.
      send([0, 0, 1])
    }

    deinit { transport.beginClose() }

    private func take() {
      var bytes: [UInt8] = []
      while case .bytes = transport.input.take(into: &bytes) {
        let piece = bytes
        received.update { $0 += piece }
      }
    }

    func send(_ bytes: [UInt8]) { #expect(transport.output.offer(bytes) == .accepted) }

    /// Waits for these bytes in what comes from now on, after `request` was sent.
    func ask(_ request: [UInt8], for reply: [UInt8]) async throws {
      let before = received.value.count
      send(request)
      try await received.wait { $0.dropFirst(before).firstRange(of: reply) != nil }
    }
  }

  private static let subscribe: [UInt8] = [0, 0, 0x90, 1]
  private static let subscribed: [UInt8] = [0, 0, 0x93, 1]
  private static let unsubscribe: [UInt8] = [0, 2, 0x90, 1, 0x10, 1]
  private static let unsubscribed: [UInt8] = [0, 2, 0x93, 1, 0x10, 1]

  private func write(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    return [0, UInt8(bytes.count + 2), 0x8C, 1, 0x12, UInt8(bytes.count)] + bytes
  }

  private func offered(_ box: Sandbox, _ arguments: String...) async throws -> (Program, NetworkAddress) {
    let program = try box.start(
      ["export", "home-assistant", "--plain", "--listen", "0", "--state", box.directory.path + "/state"] + arguments,
      limit: Sandbox.longLife)
    let line = try await program.line(containing: " is open")
    let port = line.dropLast(" is open".count).split(separator: ":").last.flatMap { UInt16($0) }
    return (program, NetworkAddress(host: "127.0.0.1", port: try #require(port)))
  }

  @Test func bytesPassAndAnUnplugIsTold() async throws {
    try await Sandbox.with { box in
      var plug = try await box.simulate(kind: "loopback")
      let (exporter, place) = try await offered(box, "--port", "line=LOOP0001")
      let client = try await Client(place)
      try await client.ask([0, 0, 9], for: Array("line".utf8))
      // What is at the ports, and changes of that.
      try await client.ask([0, 0, 0x9A, 1], for: [0, 4, 0x9B, 1, 0x10, 1, 0x18, 1])
      try await client.ask(Self.subscribe, for: Self.subscribed)
      try await client.ask(write("there and back"), for: Array("there and back".utf8))
      let other = try await Client(place)
      try await other.ask(Self.subscribe, for: [0x18, 5])
      let before = client.received.value.count
      try await plug.stop()
      try await client.received.wait { $0.dropFirst(before).firstRange(of: [0, 2, 0x9B, 1, 0x10, 1]) != nil }
      try await client.ask(Self.subscribe, for: [0x18, 2])
      let gone = client.received.value.count
      plug = try await box.simulate(kind: "loopback")
      try await client.received.wait { $0.dropFirst(gone).firstRange(of: [0x10, 1, 0x18, 1]) != nil }
      try await other.ask(Self.subscribe, for: Self.subscribed)
      try await other.ask(write("again"), for: Array("again".utf8))
      exporter.signal(SIGTERM)
      #expect(try await exporter.end().status == 0)
      try await plug.stop()
    }
  }

  /// A service lends its accessory to the port's client, and goes on afterwards.
  @Test func aServiceLendsItsLine() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate("--serial", "A1", "--percent", "57")
      let service = try await box.serve()
      try await service.errors(containing: "A1 is attached at")
      let (exporter, place) = try await offered(box, "--port", "A1")
      let client = try await Client(place)
      try await client.ask(Self.subscribe, for: Self.subscribed)
      let busy = try await box.run("battery", "A1", "--fresh")
      #expect(busy.status != 0 && busy.errorText.contains("in use"), "\(busy.errorText)")
      try await client.ask(Self.unsubscribe, for: Self.unsubscribed)
      try await eventually("the service asks again") { try await box.run("battery", "A1", "--fresh").status == 0 }
      // A client that vanishes gives the line back, too.
      try await client.ask(Self.subscribe, for: Self.subscribed)
      client.transport.beginClose()
      try await eventually("the service asks again") { try await box.run("battery", "A1", "--fresh").status == 0 }
      exporter.signal(SIGTERM)
      #expect(try await exporter.end().status == 0)
      try await simulator.stop()
    }
  }

  /// Raw bytes may switch something of a UPS: without both permissions nobody gets its port.
  @Test func bytesThatMayChangeSomethingNeedBothPermissions() async throws {
    try await Sandbox.with { box in
      let simulator = try await box.simulate(kind: "--profile", "megatec", "--serial", "UPS1")
      let (exporter, place) = try await offered(box, "--port", "ups=UPS1", "--write")
      let client = try await Client(place)
      try await client.ask(Self.subscribe, for: Array("writes: allowed".utf8))
      exporter.signal(SIGTERM)
      #expect(try await exporter.end().errorText.contains("writes: allowed"))
      try await simulator.stop()
    }
  }

  @Test func aFileNamesPorts() async throws {
    try await Sandbox.with { box in
      let path = box.directory.path + "/home.yaml"
      try box.directory.write(Array("ports: [meter=/dev/ttyUSB7, x=]\n".utf8), to: "home.yaml")
      let bad = try await box.run("export", "home-assistant", "--config", path)
      #expect(bad.status != 0 && bad.errorText.contains("home.yaml:1:"), "\(bad.errorText)")
      try box.directory.write(Array("ports: [meter=/dev/ttyUSB7]\nlisten: 127.0.0.1:0\n".utf8), to: "home.yaml")
      let (exporter, place) = try await offered(box, "--config", path)
      let client = try await Client(place)
      try await client.ask([0, 0, 9], for: Array("meter".utf8))
      // It isn't there.
      try await client.ask(Self.subscribe, for: Array("ttyUSB7".utf8))
      exporter.signal(SIGTERM)
      #expect(try await exporter.end().status == 0)
    }
  }

  @Test func namesAreUnique() async throws {
    try await Sandbox.with { box in
      let ended = try await box.run(
        "export", "home-assistant", "--port", "a=/dev/ttyUSB0", "--port", "a=/dev/ttyUSB1")
      #expect(ended.status == 64 && ended.errorText.contains("two ports have the name a"))
    }
  }
}
