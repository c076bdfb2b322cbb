// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import TestSupport
import Testing

@testable import AccessorySimulator

private struct Absence: Error { let what: String }

/// A replay at the end of a terminal, a connection and a USB cable.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct ReplaySimulatorTests {
  private func script(_ steps: ReplayScript.Step...) throws -> ReplayScript {
    var script = ReplayScript()
    for step in steps { try script.add(step, at: .zero) }
    return script
  }

  /// What a session gets, up to this many bytes.
  private func read(_ session: AccessorySession, _ count: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    for try await piece in session.input {
      bytes += piece
      if bytes.count >= count { break }
    }
    return bytes
  }

  @Test func aRecordingIsReplayedOnATerminal() async throws {
    let script = try script(.accessory([9]), .host([1, 2]), .accessory([3]), .unplug, .plugIn, .host([4]))
    let replay = ReplaySimulator(ReplaySimulator.Configuration(script))
    var events = replay.events.makeAsyncIterator()
    let path = try await replay.plugIn()
    #expect(await events.next() == .pluggedIn(path: path))
    // What the accessory says by itself waits for somebody who opens the terminal.
    let session = try await AccessorySession.open(TerminalConfiguration(path: path))
    #expect(try await read(session, 1) == [9])
    try await session.write([1])
    try await session.write([2])
    #expect(try await read(session, 1) == [3])
    #expect(await events.next() == .unplugged)
    await #expect(throws: AccessoryError.self) { try await read(session, 1) }
    await session.close()
    guard case .pluggedIn(let again)? = await events.next() else { throw Absence(what: "it doesn't come back") }
    let second = try await AccessorySession.open(TerminalConfiguration(path: again))
    try await second.write([4])
    await second.close()
    #expect(await events.next() == .finished)
    #expect(await replay.progress == ReplaySimulator.Progress(hostBytes: 3, hostTotal: 3))
    await replay.stop()
    #expect(await events.next() == nil)
  }

  @Test func aReplayServesOneClientAtATime() async throws {
    var configuration = ReplaySimulator.Configuration(
      try script(.host([1]), .accessory([2]), .host([3]), .accessory([4])))
    configuration.connection = .network(host: "127.0.0.1", port: 0)
    let replay = ReplaySimulator(configuration)
    var events = replay.events.makeAsyncIterator()
    let path = try await replay.plugIn()
    #expect(await events.next() == .pluggedIn(path: path))
    guard case .tcp(let place)? = DeviceAddress(path) else { throw Absence(what: "\(path) is no place") }
    let first = AccessorySession(try await DescriptorTransport.open(place))
    try await first.write([1])
    #expect(try await read(first, 1) == [2])
    let refused = AccessorySession(try await DescriptorTransport.open(place))
    await #expect(throws: AccessoryError.self) { try await read(refused, 1) }
    await refused.close()
    await first.close()
    // The next one goes on where the first one ended, as soon as it is known that that has gone.
    while true {
      let second = AccessorySession(try await DescriptorTransport.open(place))
      let isTaken: Bool
      do {
        try await second.write([3])
        isTaken = try await read(second, 1) == [4]
      } catch {
        isTaken = false
      }
      await second.close()
      if isTaken { break }
    }
    #expect(await events.next() == .finished)
    await replay.stop()
  }

  @Test func aRecordingIsReplayedAsAUSBDevice() async throws {
    let host = TestHost()
    var configuration = ReplaySimulator.Configuration(
      try script(.host([1, 2]), .accessory([3]), .unplug, .plugIn, .host([4])))
    configuration.connection = .usb(SimulatedUSBIdentity(.bulk), host: host)
    let replay = ReplaySimulator(configuration)
    var events = replay.events.makeAsyncIterator()
    #expect(try await replay.plugIn() == "port 1")
    #expect(await events.next() == .pluggedIn(path: "port 1"))
    let cable = try await host.cable()
    let wait = try await cable.give { $0.submit(0x81, length: 512) }
    let sent = try await cable.give { $0.submit(0x01, data: [1, 2]) }
    #expect(try await cable.reply(to: sent) == .done(sent, count: 2))
    #expect(try await cable.reply(to: wait) == .done(wait, [3]))
    _ = try await cable.end()
    #expect(await events.next() == .unplugged)
    #expect(await events.next() == .pluggedIn(path: "port 2"))
    let again = try await host.cable(2)
    let wrong = try await again.give { $0.submit(0x01, data: [5]) }
    #expect(try await again.reply(to: wrong) == .done(wrong, count: 1))
    guard case .differed(let difference)? = await events.next() else { throw Absence(what: "no difference") }
    #expect(difference.offset == 2 && difference.expected == [4] && difference.got == [5])
    await replay.stop()
  }
}
