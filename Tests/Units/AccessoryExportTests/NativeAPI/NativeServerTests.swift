// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import ESPHomeAPI
import TestSupport
import Testing

@testable import AccessoryExport

/// Conversations of the native API, as values and on sockets.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct NativeServerTests {
  private static let charge = NativeEntity(
    device: 7, key: NativeEntity.key("charge"), name: "Charge",
    kind: .sensor(unit: "%", decimals: 1, stateClass: .measurement), deviceClass: "battery")
  private static let mode = NativeEntity(device: 7, key: 9, name: "Mode", kind: .select(["on", "off"]))
  private static let limit = NativeEntity(
    device: 7, key: 10, name: "Limit", kind: .number(minimum: 0, maximum: 10, step: 1, unit: "A"))
  private static let beep = NativeEntity(device: 7, key: 11, name: "Beep", kind: .button)

  private static var box: NativeBox {
    var box = NativeBox(
      name: "box", friendlyName: "Box", mac: [2, 0, 0xC0, 0xFF, 0xEE, 1], version: "1.0", isEncrypted: false)
    box.devices = [.init(id: 7, name: "House", area: "Attic")]
    box.entities = [charge, mode, limit, beep]
    box.states = [charge.id: .number(57), mode.id: .text("on")]
    return box
  }

  // MARK: - As values

  private func session() -> NativeSession { NativeSession(NativeLine(psk: nil, name: "box", mac: "")) }

  private func frame(_ id: Int, _ fields: (inout ProtobufWriter) -> Void = { _ in }) -> [UInt8] {
    NativeFrames.frame(id, fields)
  }

  private func messages(_ bytes: [UInt8]) -> [(id: Int, fields: ProtobufFields)] { NativeFrames.messages(bytes) }

  @Test func aClientIsToldOfEverything() throws {
    var session = session()
    var outcome = session.take(frame(1) { $0.put(1, "test") } + frame(3), Self.box)
    #expect(messages(outcome.bytes).map(\.id) == [2, 4])
    #expect(session.client == "test")
    outcome = session.take(frame(9) + frame(149) + frame(11) + frame(20) + frame(34) + frame(250), Self.box)
    let sent = messages(outcome.bytes)
    #expect(sent.map(\.id) == [10, 150, 16, 52, 49, 61, 19, 25, 53, 50])
    #expect(sent[0].fields.text(3) == "02:00:C0:FF:EE:01" && sent[0].fields.text(8) == "Accessory Bridge.Gateway")
    #expect(sent[2].fields.fixed(2) == 0xFF6B_AFA5 && sent[2].fields.number(14) == 7 && sent[2].fields.number(7) == 1)
    #expect(sent[7].fields.float(2) == 57 && sent[7].fields.number(4) == 7)
    // No limit is known.
    #expect(sent[9].fields.flag(3))
  }

  @Test func onlyChangesAreSent() {
    var session = session()
    _ = session.take(frame(1) + frame(11) + frame(20), Self.box)
    #expect(session.changes(Self.box).isEmpty)
    var box = Self.box
    box.states[Self.charge.id] = .number(58)
    box.states[Self.mode.id] = nil
    let sent = messages(session.changes(box))
    #expect(sent.map(\.id) == [25, 53] && sent[0].fields.float(2) == 58 && sent[1].fields.flag(3))
    #expect(session.changes(box).isEmpty)
    #expect(!session.isOutdated(box))
    box.entities.removeLast()
    #expect(session.isOutdated(box))
  }

  @Test func impossibleNumbersAreUnknown() {
    for number in [Float.nan, .infinity] {
      #expect(messages(frameOf(NativeMessage.state(Self.charge, .number(number))))[0].fields.flag(3))
    }
  }

  private func frameOf(_ made: NativeMessage.Made?) -> [UInt8] {
    made.map { [0, UInt8($0.payload.count), UInt8($0.id)] + $0.payload } ?? []
  }

  /// A list of words that no frame of clients holds is left out; the others come.
  @Test func aMessageThatIsTooLongIsLeftOut() {
    var box = Self.box
    box.entities[1].kind = .select((0..<1_000).map { String(repeating: "x", count: 99) + "\($0)" })
    var session = session()
    _ = session.take(frame(1), box)
    #expect(messages(session.take(frame(11), box).bytes).map(\.id) == [16, 49, 61, 19])
  }

  @Test func commandsAreChecked() {
    var session = session()
    _ = session.take(frame(1), Self.box)
    func commands(_ frame: [UInt8]) -> [NativeCommand] { session.take(frame, Self.box).commands }
    #expect(
      commands(
        frame(62) {
          $0.put(fixed: 1, 11); $0.put(2, 7)
        }) == [.init(entity: Self.beep.id, value: .press)])
    #expect(
      commands(
        frame(51) {
          $0.put(fixed: 1, 10); $0.put(2, 3 as Float); $0.put(3, 7)
        })
        == [.init(entity: Self.limit.id, value: .number(3))])
    for number in [Float.nan, 11, -1] {
      #expect(
        commands(
          frame(51) {
            $0.put(fixed: 1, 10); $0.put(2, number); $0.put(3, 7)
          }) == [])
    }
    #expect(
      commands(
        frame(54) {
          $0.put(fixed: 1, 9); $0.put(2, "evil"); $0.put(3, 7)
        }) == [])
    // Another device's, and an unknown one.
    #expect(
      commands(
        frame(62) {
          $0.put(fixed: 1, 11); $0.put(2, 8)
        }) == [])
    #expect(
      commands(
        frame(62) {
          $0.put(fixed: 1, 12); $0.put(2, 7)
        }) == [])
  }

  @Test func nothingIsAnsweredBeforeTheHello() {
    for id in [3, 9, 11, 20, 62, 149] {
      var session = session()
      let outcome = session.take(frame(id), Self.box)
      #expect(outcome.bytes.isEmpty && outcome.end != nil, "\(id)")
    }
    var session = session()
    #expect(messages(session.take(frame(7), Self.box).bytes).map(\.id) == [8])
  }

  @Test func aBrokenMessageEndsTheConnection() {
    var session = session()
    _ = session.take(frame(1), Self.box)
    #expect(session.take([0, 1, 9, 0x0A], Self.box).end == "message 9 can't be read")
  }

  // MARK: - On sockets

  private typealias Client = SocketClient

  private let clock = ManualClock()

  private func served(
    _ body: (NativeServer, ConnectionListener.Place, Watched<[NativeServer.News]>) async throws -> Void
  ) async throws {
    let news = Watched<[NativeServer.News]>([])
    let server = NativeServer(
      Self.box, key: nil, limit: 4, clock: clock, perform: { _ in }, note: { one in news.update { $0.append(one) } })
    let place = try await server.listen(at: "127.0.0.1", port: 0, networks: []) { _ in }
    try await body(server, place, news)
    let closing = Task { await server.close() }
    try await eventually("it is closed") {
      clock.advance(by: .seconds(1))
      return await server.isEmpty
    }
    await closing.value
  }

  private func ask(_ client: Client, _ bytes: [UInt8], until id: Int) async throws {
    client.send(bytes)
    try await client.received.wait { self.messages($0.bytes).contains { $0.id == id } }
  }

  @Test func changesComeBySelf() async throws {
    try await served { server, place, _ in
      let client = try await Client(place)
      try await ask(client, frame(1) + frame(11) + frame(20), until: 25)
      var box = Self.box
      box.states[Self.charge.id] = .number(12)
      await server.update(box)
      try await client.received.wait { self.messages($0.bytes).last?.fields.float(2) == 12 }
    }
  }

  /// Clients that say nothing keep nobody away, and are disconnected.
  @Test func halfOpenConnectionsGiveWay() async throws {
    try await served { _, place, news in
      let settled = try await Client(place)
      try await ask(settled, frame(1), until: 2)
      var idle: [Client] = []
      for _ in 0..<20 { idle.append(try await Client(place)) }
      let other = try await Client(place)
      try await ask(other, frame(1), until: 2)
      #expect(!settled.received.value.hasEnded)
      try await eventually("all others are gone") {
        clock.advance(by: .seconds(2))
        return idle.allSatisfy { $0.received.value.hasEnded }
      }
      #expect(!settled.received.value.hasEnded && !other.received.value.hasEnded)
      _ = news
    }
  }

  @Test func aSilentClientIsAskedAndThenDisconnected() async throws {
    try await served { _, place, news in
      let client = try await Client(place)
      try await ask(client, frame(1), until: 2)
      try await eventually("it was asked") {
        clock.advance(by: .seconds(10))
        return messages(client.received.value.bytes).contains { $0.id == 7 }
      }
      try await eventually("it is disconnected") {
        clock.advance(by: .seconds(10))
        return client.received.value.hasEnded
      }
      #expect(news.value.contains { if case .ended(_, let reason) = $0 { reason.contains("150 s") } else { false } })
    }
  }

  @Test func clientsComeAgainForOtherEntities() async throws {
    try await served { server, place, _ in
      let client = try await Client(place)
      try await ask(client, frame(1) + frame(11) + frame(20), until: 25)
      var box = Self.box
      box.entities.removeLast()
      await server.update(box)
      try await eventually("it is asked to leave") {
        clock.advance(by: .seconds(1))
        return messages(client.received.value.bytes).contains { $0.id == 5 }
      }
      // The clock may have passed the time that it has for this.
      _ = client.transport.output.offer(frame(6))
      try await client.received.wait { $0.hasEnded }
    }
  }

  /// A client that never reads: what is kept for it doesn't grow, and others are served.
  @Test func aClientThatNeverReadsHoldsNothing() async throws {
    try await served { server, place, _ in
      let deaf = try await Client(place, reads: false)
      deaf.send(frame(1) + frame(11) + frame(20))
      let client = try await Client(place)
      try await ask(client, frame(1) + frame(11) + frame(20), until: 25)
      for number in 0..<20_000 {
        var box = Self.box
        box.states[Self.charge.id] = .number(Float(number % 100) + 0.5)
        await server.update(box)
      }
      var box = Self.box
      box.states[Self.charge.id] = .number(99.25)
      await server.update(box)
      let last = frameOf(NativeMessage.state(Self.charge, .number(99.25)))
      try await client.received.wait { $0.bytes.suffix(last.count) == last[...] }
      #expect(await server.waitingBytes <= 64_000)
    }
  }
}
