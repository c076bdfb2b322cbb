// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import ESPHomeAPI
import TestSupport
import Testing

@testable import AccessoryExport

/// Clients of the native API at serial ports, on sockets; the test plays the devices.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct NativePortServerTests {
  private typealias Client = SocketClient

  /// A port whose line the test has made.
  private final class Ports: NativePorts {
    let ports: Watched<[NativePort]>
    let refusal = Watched<AccessoryError?>(nil)
    let keepsModemLines: Bool
    let opened = Watched<[MemoryTransport]>([])
    private let make: @Sendable () -> MemoryTransport

    init(_ ports: [NativePort], keepsModemLines: Bool = false, _ make: @escaping @Sendable () -> MemoryTransport) {
      (self.ports, self.keepsModemLines, self.make) = (Watched(ports), keepsModemLines, make)
    }

    func changes() async -> AsyncStream<[NativePort]> {
      AsyncStream { continuation in
        let task = Task {
          var last: [NativePort] = []
          while let next = try? await ports.wait(until: { [last] in $0 != last }) {
            last = next
            continuation.yield(next)
          }
          continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
      }
    }

    func open(_ port: Int) async throws(AccessoryError) -> NativeOpenPort {
      if let refusal = refusal.value { throw refusal }
      let transport = make()
      opened.update { $0.append(transport) }
      return NativeOpenPort(transport, keepsModemLines: keepsModemLines)
    }
  }

  private let clock = ManualClock()
  private static let stick = NativePort(
    name: "Stick",
    usb: .init(
      manufacturer: "", product: "", serial: "SN1", vendorID: 1, productID: 2, version: 3, interface: 0,
      interfaceClass: 255, portNumber: 0))

  private func served(
    _ ports: Ports, _ body: (NativeServer, ConnectionListener.Place) async throws -> Void
  ) async throws {
    let server = NativeServer(
      NativeFrames.box, key: nil, ports: ports, limit: 4, clock: clock, perform: { _ in }, note: { _ in })
    let place = try await server.listen(at: "127.0.0.1", port: 0, networks: []) { _ in }
    try await body(server, place)
    let closed = Watched(false)
    let closing = Task {
      await server.close()
      closed.update { $0 = true }
    }
    try await eventually("it is closed") {
      clock.advance(by: .seconds(1))
      return closed.value
    }
    await closing.value
  }

  /// Sends frames, and waits for a message with this number and these first fields, after those that were there before.
  private func ask(
    _ client: Client, _ frames: [UInt8], until id: Int, _ numbers: UInt32...
  ) async throws -> ProtobufFields {
    let before = NativeFrames.messages(client.received.value.bytes).count
    client.send(frames)
    return try await self.wait(client, after: before, for: id, numbers)
  }

  @discardableResult
  private func wait(
    _ client: Client, after before: Int = 0, for id: Int, _ numbers: [UInt32]
  ) async throws -> ProtobufFields {
    @Sendable func found(_ bytes: [UInt8]) -> ProtobufFields? {
      NativeFrames.messages(bytes).dropFirst(before).first { message in
        message.id == id
          && numbers.enumerated().allSatisfy { index, number in message.fields.number(index + 1) == number }
      }?.fields
    }
    // A line with a speed needs time for its bytes.
    try await eventually("\(id) \(numbers)") {
      clock.advance(by: .milliseconds(1))
      return found(client.received.value.bytes) != nil || client.received.value.hasEnded
    }
    return try #require(found(client.received.value.bytes), "the connection ended")
  }

  private func data(_ bytes: [UInt8]) -> [UInt8] {
    NativeFrames.messages(bytes).filter { $0.id == 139 }.flatMap { $0.fields.bytes(2) }
  }

  private func write(_ bytes: [UInt8]) -> [UInt8] { NativeFrames.frame(140) { $0.put(2, bytes) } }

  private func subscribed(_ place: ConnectionListener.Place) async throws -> Client {
    let client = try await Client(place)
    _ = try await ask(client, NativeFrames.frame(1) + NativeFrames.frame(144, 0, 0), until: 147, 0, 0, 0)
    return client
  }

  private func line() -> MemoryLine { MemoryLine(label: "stick", clock: clock) }

  // MARK: - Bytes and settings

  @Test func bytesAndSettingsPass() async throws {
    let line = line()
    let ports = Ports([Self.stick]) { MemoryTransport(label: "stick", line: line) }
    try await served(ports) { _, place in
      let client = try await subscribed(place)
      let transport = ports.opened.value[0]
      // Raised as at every serial port that is opened.
      #expect(line.state.value.status.modemLines == [.dtr, .rts])
      _ = try await ask(client, NativeFrames.frame(138, 0, 57_600, 1, 2, 2, 7), until: 147, 0, 3, 0)
      let status = line.state.value.status
      #expect(status.baudRate == 57_600 && status.dataBits == 7 && status.parity == .odd && status.stopBits == 2)
      #expect(status.flowControl == .hardware)
      client.send(write([1, 2, 3]))
      #expect(try await transport.nextWritten(3) == [1, 2, 3])
      transport.receive([7, 8])
      try await client.received.wait { self.data($0.bytes) == [7, 8] }
      _ = try await ask(client, NativeFrames.frame(141, 0, 2), until: 147, 0, 4, 0)
      #expect(line.state.value.status.modemLines == [.dtr])
      let lines = try await ask(client, NativeFrames.frame(142), until: 143, 0)
      #expect(lines.number(2) == 2 && lines.number(3) == 0)
      _ = try await ask(client, NativeFrames.frame(144, 0, 1), until: 147, 0, 1, 0)
      #expect(line.state.value.status.modemLines == [] && transport.closeCount == 1)
    }
  }

  /// Equal settings aren't made again: some adapters lose bytes by it.
  @Test func equalSettingsAreMadeOnce() async throws {
    let line = line()
    let ports = Ports([Self.stick]) { MemoryTransport(line: line) }
    try await served(ports) { _, place in
      let client = try await subscribed(place)
      _ = try await ask(client, NativeFrames.frame(138, 0, 9_600, 0, 0, 1, 8), until: 147, 0, 3, 0)
      // Somebody else changes it: it stays, since the client's settings are the same.
      line.state.update { $0.status.baudRate = 300 }
      _ = try await ask(client, NativeFrames.frame(138, 0, 9_600, 0, 0, 1, 8), until: 147, 0, 3, 0)
      #expect(line.state.value.status.baudRate == 300)
    }
  }

  @Test func aLineWithoutARateTakesAllSettings() async throws {
    let ports = Ports([Self.stick]) { MemoryTransport() }
    try await served(ports) { _, place in
      let client = try await subscribed(place)
      let assumed = UInt32(NativePortStatus.assumed.rawValue)
      _ = try await ask(client, NativeFrames.frame(138, 0, 9_600, 0, 0, 1, 8), until: 147, 0, 3, assumed)
      _ = try await ask(client, NativeFrames.frame(144, 0, 2), until: 147, 0, 2, 0)
      let notSupported = UInt32(NativePortStatus.notSupported.rawValue)
      _ = try await ask(client, NativeFrames.frame(141, 0, 1), until: 147, 0, 4, notSupported)
    }
  }

  /// A line that others go on using gets DTR and RTS back as they were.
  @Test func linesOfOthersStay() async throws {
    let line = line()
    line.state.update { $0.status.modemLines = [.rts, .cts] }
    let ports = Ports([Self.stick], keepsModemLines: true) { MemoryTransport(line: line) }
    try await served(ports) { _, place in
      let client = try await subscribed(place)
      #expect(line.state.value.status.modemLines == [.dtr, .rts, .cts])
      _ = try await ask(client, NativeFrames.frame(144, 0, 1), until: 147, 0, 1, 0)
      #expect(line.state.value.status.modemLines == [.rts, .cts])
    }
  }

  // MARK: - Slow lines and slow clients

  /// The settings come after the bytes in front of them, and the answer says when they can't.
  @Test func whatCannotBeSentIsNotForgotten() async throws {
    let line = line()
    let ports = Ports([Self.stick]) { MemoryTransport(line: line) }
    try await served(ports) { _, place in
      let client = try await subscribed(place)
      let transport = ports.opened.value[0]
      transport.stall()
      client.send(write([1, 2, 3]))
      try await eventually("it waits") { transport.output.queuedCount == 3 }
      let count = NativeFrames.messages(client.received.value.bytes).count
      client.send(NativeFrames.frame(144, 0, 2) + NativeFrames.frame(138, 0, 300, 0, 0, 1, 8))
      try await eventually("both are late") {
        clock.advance(by: .seconds(1))
        return NativeFrames.messages(client.received.value.bytes).count == count + 2
      }
      let late = UInt32(NativePortStatus.timedOut.rawValue)
      try await wait(client, after: count, for: 147, [0, 2, late])
      try await wait(client, after: count, for: 147, [0, 3, late])
      #expect(line.state.value.status.baudRate == 115_200)
      transport.unstall()
      _ = try await ask(client, NativeFrames.frame(138, 0, 300, 0, 0, 1, 8), until: 147, 0, 3, 0)
      #expect(try await transport.nextWritten(3) == [1, 2, 3] && line.state.value.status.baudRate == 300)
    }
  }

  /// A line that takes nothing for two minutes: the client isn't read, is asked whether it is there, and nothing is lost.
  @Test func aSlowLineSlowsItsClient() async throws {
    let ports = Ports([Self.stick]) { MemoryTransport() }
    try await served(ports) { server, place in
      let client = try await subscribed(place)
      let transport = ports.opened.value[0]
      transport.stall()
      let all = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
      let sending = Task {
        for start in stride(from: 0, to: all.count, by: 32_768) {
          while client.transport.output.offer(write(Array(all[start..<start + 32_768]))) != .accepted {
            await IOThread.shared.sleep(for: .milliseconds(1))
          }
        }
      }
      try await eventually("the client is stopped") {
        await server.isAnyPaused && client.transport.output.queuedCount > 0
      }
      let waiting = await server.waitingForLines
      #expect(waiting >= NativePortLine.queueLimit && waiting < 400_000)
      let before = NativeFrames.messages(client.received.value.bytes).count
      for second in 1...120 {
        clock.advance(by: .seconds(1))
        // One question in each 20 s.
        if second.isMultiple(of: 20) {
          try await client.received.wait { received in
            NativeFrames.messages(received.bytes).dropFirst(before).filter { $0.id == 7 }.count >= second / 20
          }
        }
      }
      #expect(await server.waitingForLines < 400_000)
      #expect(!client.received.value.hasEnded)
      transport.unstall()
      #expect(try await transport.nextWritten(all.count) == all)
      await sending.value
      _ = try await ask(client, NativeFrames.frame(7), until: 8)
    }
  }

  /// A client that doesn't read: its line isn't read, and nothing is lost when it reads again.
  @Test func aSlowClientSlowsItsLine() async throws {
    let ports = Ports([Self.stick]) { MemoryTransport() }
    try await served(ports) { server, place in
      let client = try await Client(place, reads: false)
      client.send(NativeFrames.frame(1) + NativeFrames.frame(144, 0, 0))
      let transport = try await ports.opened.wait { !$0.isEmpty }[0]
      let piece = (0..<4_096).map { UInt8(truncatingIfNeeded: $0) }
      var count = 0
      try await eventually("the line is stopped") {
        while count < 40_000, transport.receive(piece) { count += 1 }
        count += 1
        return transport.isPaused && client.transport.input.count >= 60_000
      }
      #expect(await server.waitingBytes < 100_000)
      client.startReading()
      let size = count * piece.count
      try await client.received.wait { self.data($0.bytes).count >= size }
      #expect(data(client.received.value.bytes) == (0..<count).flatMap { _ in piece })
    }
  }

  // MARK: - Coming and going

  @Test func aClientThatVanishesFreesItsPort() async throws {
    let line = line()
    let ports = Ports([Self.stick]) { MemoryTransport(line: line) }
    try await served(ports) { server, place in
      let first = try await subscribed(place)
      let second = try await Client(place)
      let inUse = UInt32(NativePortStatus.inUse.rawValue)
      let refusal = try await ask(
        second, NativeFrames.frame(1) + NativeFrames.frame(144, 0, 0), until: 147, 0, 0, inUse)
      #expect(refusal.text(4) == "another client has Stick")
      let transport = ports.opened.value[0]
      transport.stall()
      first.send(write([UInt8](repeating: 1, count: 200_000)))
      try await eventually("it is stopped") { await server.isAnyPaused }
      first.transport.beginClose()
      try await transport.waitForClose()
      try await eventually("the line has ended") { line.state.value.ending != nil }
      try await eventually("the port is free") {
        clock.advance(by: .seconds(1))
        _ = try await ask(second, NativeFrames.frame(144, 0, 0), until: 147, 0, 0)
        return ports.opened.value.count == 2
      }
      // Nothing of the first client's.
      #expect(ports.opened.value[1].written.isEmpty)
    }
  }

  /// The next client waits behind what the first one has left for the line, and goes on after that.
  @Test func theNextClientGoesOn() async throws {
    let ports = Ports([Self.stick]) { MemoryTransport() }
    try await served(ports) { _, place in
      let first = try await subscribed(place)
      let transport = ports.opened.value[0]
      transport.stall()
      let left = [UInt8](repeating: 1, count: 66_000)
      first.send(write(left) + NativeFrames.frame(144, 0, 1))
      try await eventually("it waits") { transport.output.queuedCount > 0 }
      let second = try await Client(place)
      _ = try await ask(second, NativeFrames.frame(1), until: 2)
      second.send(NativeFrames.frame(144, 0, 0) + write([2]))
      transport.unstall()
      #expect(try await transport.nextWritten(left.count) == left)
      try await eventually("the second has it") {
        clock.advance(by: .milliseconds(1))
        if ports.opened.value.count < 2 { second.send(NativeFrames.frame(144, 0, 0) + write([2])) }
        return ports.opened.value.count == 2 && ports.opened.value[1].written.contains(2)
      }
    }
  }

  @Test func anUnplugIsToldAndFreesThePort() async throws {
    let ports = Ports([Self.stick]) { MemoryTransport(label: "stick") }
    try await served(ports) { _, place in
      let owner = try await subscribed(place)
      let watcher = try await Client(place)
      _ = try await ask(watcher, NativeFrames.frame(1) + NativeFrames.frame(154), until: 155, 0, 2, 1)
      _ = try await ask(owner, NativeFrames.frame(154), until: 155, 0, 2, 1)
      ports.opened.value[0].stall()
      owner.send(write([1]) + NativeFrames.frame(144, 0, 2))
      try await eventually("it waits") { ports.opened.value[0].output.queuedCount == 1 }
      let before = NativeFrames.messages(owner.received.value.bytes).count
      ports.opened.value[0].unplug()
      ports.ports.update { $0[0].absence = "Stick isn't connected" }
      // First that it is gone, and then that the flush has failed.
      try await wait(owner, after: before, for: 147, [0, 2, UInt32(NativePortStatus.error.rawValue)])
      let told = NativeFrames.messages(owner.received.value.bytes).dropFirst(before)
      #expect(told.first?.id == 155 && told.first?.fields.number(3) == 0)
      try await wait(watcher, for: 155, [0, 2, 0])
      let refusal = try await ask(
        owner, NativeFrames.frame(144, 0, 0), until: 147, 0, 0, UInt32(NativePortStatus.error.rawValue))
      #expect(!refusal.text(4).isEmpty)
      let count = NativeFrames.messages(owner.received.value.bytes).count
      ports.ports.update { $0[0].absence = nil }
      try await wait(owner, after: count, for: 155, [0, 2, 1])
      _ = try await ask(owner, NativeFrames.frame(144, 0, 0), until: 147, 0, 0, 0)
      #expect(ports.opened.value.count == 2)
    }
  }

  /// A line may end while its device stays, such as a connection: it is told as an unplug, and can be used again soon.
  @Test func aLineThatEndsComesBack() async throws {
    let ports = Ports([Self.stick]) { MemoryTransport(label: "stick") }
    try await served(ports) { _, place in
      let client = try await subscribed(place)
      _ = try await ask(client, NativeFrames.frame(154), until: 155, 0, 2, 1)
      let before = NativeFrames.messages(client.received.value.bytes).count
      ports.opened.value[0].unplug()
      try await wait(client, after: before, for: 155, [0, 2, 0])
      try await eventually("it is back") {
        clock.advance(by: .seconds(1))
        return NativeFrames.messages(client.received.value.bytes).last?.fields.number(3) == 1
      }
      _ = try await ask(client, NativeFrames.frame(144, 0, 0), until: 147, 0, 0, 0)
    }
  }

  @Test func whyALineDoesNotOpenIsTold() async throws {
    let ports = Ports([Self.stick]) { MemoryTransport() }
    try await served(ports) { _, place in
      let client = try await Client(place)
      client.send(NativeFrames.frame(1))
      for (kind, status) in [
        (AccessoryError.Kind.busy, NativePortStatus.inUse), (.permissionDenied, .error), (.notFound, .error),
      ] {
        ports.refusal.update { $0 = AccessoryError(kind, "no: \(kind)") }
        let answer = try await ask(
          client, NativeFrames.frame(144, 0, 0), until: 147, 0, 0, UInt32(status.rawValue))
        #expect(answer.text(4) == "no: \(kind)")
      }
      // The client doesn't have it.
      _ = try await ask(
        client, NativeFrames.frame(144, 0, 2), until: 147, 0, 2, UInt32(NativePortStatus.inUse.rawValue))
      ports.refusal.update { $0 = nil }
      _ = try await ask(client, NativeFrames.frame(144, 0, 0), until: 147, 0, 0, 0)
    }
  }

  @Test func otherPortsMakeClientsComeAgain() async throws {
    let ports = Ports([Self.stick]) { MemoryTransport() }
    try await served(ports) { _, place in
      let client = try await Client(place)
      _ = try await ask(client, NativeFrames.frame(1) + NativeFrames.frame(9), until: 10)
      ports.ports.update { $0[0].hasModemLines = false }
      try await eventually("it is asked to leave") {
        clock.advance(by: .seconds(1))
        return NativeFrames.messages(client.received.value.bytes).contains { $0.id == 5 }
      }
    }
  }
}
