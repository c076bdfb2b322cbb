// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import AccessoryTesting
import TestSupport
import Testing

@testable import AccessorySharing

/// A client of RFC 2217, which is the test, at a hub whose device is a line of memory.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct RFC2217ServerTests {
  private struct Setup {
    let hub: SharingHub
    let line: MemoryLine
    let device: MemoryTransport
    let clock = ManualClock()

    init(modemLines: ModemLines? = [.dtr, .rts], _ change: (inout SharingRules) -> Void = { _ in }) {
      var rules = SharingRules()
      change(&rules)
      line = MemoryLine(LineStatus(baudRate: 9_600, modemLines: modemLines))
      device = MemoryTransport(label: "lamp", line: line)
      hub = SharingHub(rules, io: .shared, clock: clock)
    }

    func attach() async { await hub.attach(device) { _ in } }

    func settle() async {
      for _ in 0..<6 { await withCheckedContinuation { c in IOThread.shared.post { c.resume() } } }
    }
  }

  @Test func everySettingIsAnsweredWithWhatIsInForce() async throws {
    let setup = Setup()
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    let asked: [(COMPortMessage, COMPortMessage)] = [
      (.baudRate(0), .baudRate(9_600)), (.baudRate(57_600), .baudRate(57_600)), (.baudCode(14), .baudCode(14)),
      (.dataSize(7), .dataSize(7)), (.dataSize(0), .dataSize(7)), (.dataSize(9), .dataSize(7)),
      (.parity(3), .parity(3)), (.parity(6), .parity(3)), (.stopSize(2), .stopSize(2)), (.stopSize(3), .stopSize(2)),
      (.control(3), .control(3)), (.control(0), .control(3)), (.control(13), .control(16)), (.control(1), .control(1)),
      (.control(9), .control(9)), (.control(7), .control(9)), (.control(8), .control(8)), (.control(12), .control(12)),
      (.control(5), .control(5)), (.control(4), .control(5)), (.control(6), .control(6)), (.control(77), .control(1)),
      (.purge(1), .purge(1)), (.purge(2), .purge(2)), (.purge(3), .purge(3)), (.lineStateMask(3), .lineStateMask(3)),
      (.modemStateMask(0), .modemStateMask(0)), (.signature([]), .signature(Array("Accessory Bridge".utf8))),
    ]
    for (question, answer) in asked {
      client.ask(question)
      #expect(try await client.message() == answer, "\(question)")
    }
    let state = setup.line.state.value
    #expect(state.status.baudRate == 115_200 && state.status.dataBits == 7 && state.status.parity == .even)
    #expect(state.status.modemLines == .dtr && state.breakCount == 1 && state.purges.count == 3)
    // The last one leaves: all is as it was.
    client.transport.deviceWasRemoved()
    let restored = try await setup.line.state.wait {
      $0.status.baudRate == 9_600 && $0.status.modemLines == [.dtr, .rts]
    }
    #expect(restored.status.dataBits == 8 && restored.status.parity == .none && restored.status.stopBits == 1)
    await setup.hub.close()
  }

  @Test func manyAtOnceAreAnsweredInOrder() async throws {
    let setup = Setup()
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.ask(.baudRate(1_200), .dataSize(7), .parity(2), .stopSize(2), .control(9), .purge(2))
    for answer: COMPortMessage in [.baudRate(1_200), .dataSize(7), .parity(2), .stopSize(2), .control(9), .purge(2)] {
      #expect(try await client.message() == answer)
    }
    await setup.hub.close()
  }

  @Test func allBytesPassBothWays() async throws {
    let setup = Setup()
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    let all = (0...255).map { UInt8($0) }
    client.send(Telnet.escaped(all))
    #expect(try await setup.device.nextWritten(256) == all)
    setup.device.receive(all)
    #expect(try await client.data(256) == all)
    await setup.hub.close()
  }

  @Test func whatIsSentKeepsItsOrderWithTheLines() async throws {
    let setup = Setup()
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    setup.device.stall()
    client.send([1, 2, 3] + COMPortMessage.control(9).bytes(fromServer: false) + [4])
    await setup.settle()
    // The bytes have not left: neither has the line moved, nor what is behind it been sent.
    #expect(setup.line.state.value.status.modemLines == [.dtr, .rts])
    setup.device.unstall()
    #expect(try await setup.device.nextWritten(3) == [1, 2, 3])
    // The time of the line, however late it is waited for.
    for _ in 0..<20 {
      await setup.settle()
      setup.clock.advance(by: .milliseconds(10))
    }
    #expect(try await client.message() == .control(9))
    #expect(try await setup.device.nextWritten(1) == [4])
    #expect(setup.line.state.value.status.modemLines == .rts)
    await setup.hub.close()
  }

  @Test func answersComeAlsoWhileTheDeviceIsGone() async throws {
    let setup = Setup { $0.unplug = .keep }
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.ask(.baudRate(19_200), .control(9), .purge(3), .parity(0))
    for answer: COMPortMessage in [.baudRate(19_200), .control(9), .purge(3), .parity(1)] {
      #expect(try await client.message() == answer)
    }
    // What was set is made when the device comes, before anything is sent to it.
    await setup.attach()
    _ = try await setup.line.state.wait { $0.status.baudRate == 19_200 && $0.status.modemLines == .rts }
    client.send([1])
    #expect(try await setup.device.nextWritten(1) == [1])
    setup.device.unplug()
    await setup.settle()
    client.ask(.baudRate(0), .modemState(0))
    var messages: [COMPortMessage] = []
    while messages.last != .baudRate(19_200) { messages.append(try await client.message()) }
    await setup.hub.close()
  }

  @Test func modemLinesAreToldAsTheyChange() async throws {
    let setup = Setup()
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    await setup.settle()
    setup.line.state.update { $0.status.modemLines?.formUnion([.cts, .dsr]) }
    func look() async {
      await setup.settle()
      setup.clock.advance(by: .milliseconds(60))
      await setup.settle()
    }
    await look()
    #expect(try await client.message() == .modemState(0x33))
    client.ask(.modemStateMask(0x10))
    #expect(try await client.message() == .modemStateMask(0x10))
    setup.line.state.update { $0.status.modemLines?.remove(.dsr) }
    await look()
    setup.line.state.update { $0.status.modemLines?.remove(.cts) }
    await look()
    // Only what the mask asks for.
    #expect(try await client.message() == .modemState(0))
    client.ask(.modemState(0), .modemStateMask(0))
    #expect(try await client.message() == .modemState(0))
    #expect(try await client.message() == .modemStateMask(0))
    await setup.hub.close()
  }

  @Test func aDeviceWithoutModemLinesKeepsNobodyOut() async throws {
    let setup = Setup(modemLines: nil)
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.ask(.control(9), .control(8), .control(12), .control(10))
    for answer: COMPortMessage in [.control(9), .control(8), .control(12), .control(12)] {
      #expect(try await client.message() == answer)
    }
    await setup.hub.close()
  }

  @Test func readersChangeNothingOfTheLine() async throws {
    let setup = Setup { $0.writers = .none }
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.ask(.baudRate(1_200), .control(9))
    #expect(try await client.message() == .baudRate(9_600))
    #expect(try await client.message() == .control(8))
    #expect(setup.line.state.value.status.baudRate == 9_600)
    await setup.hub.close()
  }

  @Test func aTelnetBreakIsABreakOnTheLine() async throws {
    let setup = Setup()
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    client.send([0xFF, 0xF3])
    _ = try await setup.line.state.wait { $0.isBreaking }
    for _ in 0..<10 where setup.line.state.value.isBreaking {
      await setup.settle()
      setup.clock.advance(by: .milliseconds(100))
    }
    _ = try await setup.line.state.wait { !$0.isBreaking && $0.breakCount == 1 }
    await setup.hub.close()
  }

  @Test func whoAsksToStopIsSentNothing() async throws {
    let setup = Setup()
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.ask(.suspend)
    await setup.settle()
    setup.device.receive([1, 2])
    await setup.settle()
    let before = client.transport.written.count
    #expect(before == 0)
    client.ask(.resume)
    #expect(try await client.data(2) == [1, 2])
    await setup.hub.close()
  }

  @Test func whoAsksAndTakesNoAnswersIsBounded() async throws {
    let setup = Setup { $0.bufferSize = 4_096 }
    await setup.attach()
    let client = await TelnetTestClient(setup.hub)
    try await client.agree()
    client.transport.stall()
    let questions = (0..<500).flatMap { _ in COMPortMessage.modemState(0).bytes(fromServer: false) }
    for _ in 0..<40 {
      client.send(questions)
      await setup.settle()
    }
    // The transport asks who sends to wait.
    #expect(client.transport.isPaused)
    client.transport.unstall()
    try await client.transport.waitForResume()
    await setup.hub.close()
  }
}
