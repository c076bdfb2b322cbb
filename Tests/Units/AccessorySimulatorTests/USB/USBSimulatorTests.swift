// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import FamilyAF1
import FamilyAF1Simulator
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

/// The simulated accessory as a USB device, at whose cable a kernel is played. The real one is in the lab.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct USBSimulatorTests {
  private let host = TestHost()

  private func simulator(
    _ kind: SimulatedUSBIdentity.Kind = .bulk, _ change: (inout AF1Simulator.Configuration) -> Void = { _ in }
  ) -> AF1Simulator {
    var configuration = AF1Simulator.Configuration(seed: 1)
    configuration.connection = .usb(SimulatedUSBIdentity(kind), host: host)
    change(&configuration)
    return AF1Simulator(configuration)
  }

  private func request(_ command: AF1Command, _ number: UInt16, _ payload: [UInt8] = []) -> [UInt8] {
    ScriptedAccessory.frame(.request(command, number: number), payload)
  }

  private func answer(_ command: AF1Command, _ number: UInt16, _ payload: [UInt8]) -> [UInt8] {
    ScriptedAccessory.frame(.reply(to: .request(command, number: number)), payload)
  }

  @Test func aUSBRequestGetsItsAnswer() async throws {
    let simulator = simulator()
    #expect(try await simulator.plugIn() == "port 1")
    let cable = try await host.cable()
    let wait = try await cable.give { $0.submit(0x81, length: 512) }
    let frame = request(.echo, 1, [1, 2, 3])
    let sent = try await cable.give { $0.submit(0x01, data: frame) }
    #expect(try await cable.reply(to: sent) == .done(sent, count: frame.count))
    #expect(try await cable.reply(to: wait) == .done(wait, answer(.echo, 1, [1, 2, 3])))
    await simulator.stop()
    #expect(try await cable.end() == [])
  }

  /// What the host has asked for is cancelled or gone with the cable: no reply comes after the end.
  @Test func pullingTheCableEndsTheTransfers() async throws {
    let simulator = simulator { $0.faults.replug = .zero }
    var events = simulator.events.makeAsyncIterator()
    try await simulator.plugIn()
    let cable = try await host.cable()
    let wait = try await cable.give { $0.submit(0x81, length: 512) }
    let control = try await cable.give { $0.control(0x80, 8, length: 1) }
    _ = try await cable.reply(to: control)
    await simulator.unplug()
    #expect(try await cable.end().map(\.sequence).contains(wait) == false)
    #expect(await events.next() == .pluggedIn(path: "port 1"))
    #expect(await events.next() == .unplugged)
    #expect(await events.next() == .pluggedIn(path: "port 2"))
    let again = try await host.cable(2)
    let number = try await again.give { $0.control(0x80, 8, length: 1) }
    #expect(try await again.reply(to: number).data == [0], "not configured: it is new")
    await simulator.stop()
    _ = try await again.end()
  }

  @Test func anUnplugAmidAnAnswerSendsHalfOfIt() async throws {
    let simulator = simulator { $0.faults.unplug = .request(1) }
    try await simulator.plugIn()
    let cable = try await host.cable()
    let wait = try await cable.give { $0.submit(0x81, length: 512) }
    let frame = request(.echo, 1, [1, 2, 3])
    try await cable.give { $0.submit(0x01, data: frame) }
    let whole = answer(.echo, 1, [1, 2, 3])
    let replies = try await cable.end()
    #expect(replies.first { $0.sequence == wait }?.data == Array(whole[..<(whole.count / 2)]))
    await simulator.stop()
  }

  /// Whoever has the other end may pull as well, or talk nonsense.
  @Test(arguments: [false, true]) func theHostMayEndTheConnection(isNonsense: Bool) async throws {
    let simulator = simulator()
    var events = simulator.events.makeAsyncIterator()
    try await simulator.plugIn()
    let cable = try await host.cable()
    #expect(await events.next() == .pluggedIn(path: "port 1"))
    if isNonsense {
      _ = cable.transport.output.offer([UInt8](repeating: 0xFF, count: 48))
      _ = try await cable.end()
    } else {
      await cable.transport.close()
    }
    #expect(await events.next() == .unplugged)
    await simulator.stop()
  }

  @Test func aStalledAnswerIsKeptForTheNextTransfer() async throws {
    let simulator = simulator { $0.faults.stall = 1 }
    try await simulator.plugIn()
    let cable = try await host.cable()
    let wait = try await cable.give { $0.submit(0x81, length: 512) }
    let frame = request(.echo, 1, [1])
    try await cable.give { $0.submit(0x01, data: frame) }
    #expect(try await cable.reply(to: wait) == .failed(wait, -32))
    let cleared = try await cable.give { $0.control(0x02, 1, index: 0x81) }
    #expect(try await cable.reply(to: cleared).status == 0)
    let again = try await cable.give { $0.submit(0x81, length: 512) }
    try await cable.give { $0.submit(0x01, data: frame) }
    #expect(try await cable.reply(to: again).data == answer(.echo, 1, [1]), "kept for the repetition")
    await simulator.stop()
  }

  @Test func aProtocolErrorFailsOneTransfer() async throws {
    let simulator = simulator { $0.faults.protocolError = 2 }
    try await simulator.plugIn()
    let cable = try await host.cable()
    for number in 1...3 as ClosedRange<UInt16> {
      let wait = try await cable.give { $0.submit(0x81, length: 512) }
      let frame = request(.echo, number, [1])
      try await cable.give { $0.submit(0x01, data: frame) }
      let reply = try await cable.reply(to: wait)
      #expect(reply == (number == 2 ? .failed(wait, -71) : .done(wait, answer(.echo, number, [1]))))
    }
    await simulator.stop()
  }

  @Test func changesOfTheLineAreEvents() async throws {
    let simulator = simulator(.modem)
    var events = simulator.events.makeAsyncIterator()
    try await simulator.plugIn()
    #expect(await events.next() == .pluggedIn(path: "port 1"))
    let cable = try await host.cable()
    try await cable.give { $0.control(0x21, 0x22, value: 3) }
    #expect(await events.next() == .line(HostLineSettings(dtr: true, rts: true)))
    // The same again is no news.
    try await cable.give { $0.control(0x21, 0x22, value: 3) + $0.control(0x21, 0x20, data: [0, 0xC2, 1, 0, 0, 0, 8]) }
    #expect(await events.next() == .line(HostLineSettings(baudRate: 115_200, dtr: true, rts: true)))
    await simulator.stop()
  }

  /// Much more than any queue holds, with a reader that is behind: nothing is lost and nothing is mixed up.
  @Test func muchTrafficIsNeitherLostNorMixedUp() async throws {
    let transport = try await USBDeviceTransport.plugIn(SimulatedUSBIdentity(.bulk), into: host)
    let cable = try await host.cable()
    let piece = (0..<16_384).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var sent: [UInt32] = []
    for _ in 0..<16 { sent.append(try await cable.give { $0.submit(0x01, data: piece) }) }
    // 64 KiB fill the queue: the transfer behind is not taken until somebody reads.
    for number in sent.prefix(4) { #expect(try await cable.reply(to: number).status == 0) }
    let reader = InputReader(transport.input)
    for index in 0..<16 { #expect(try await reader.read(piece.count) == piece, "piece \(index)") }
    for number in sent.dropFirst(4) { #expect(try await cable.reply(to: number).status == 0) }
    // The other way: the accessory is told that it has to wait.
    var offered = 0
    while transport.output.offer(piece) == .accepted { offered += 1 }
    #expect(offered == 4)
    var data: [UInt8] = []
    while data.count < offered * piece.count {
      let wait = try await cable.give { $0.submit(0x81, length: 65_536) }
      data += try await cable.reply(to: wait).data
    }
    #expect(data == (0..<offered).flatMap { _ in piece })
    #expect(transport.output.hasSpaceAvailable)
    await transport.close()
    #expect(transport.output.offer([1]) == .closed(nil))
    _ = try await cable.end()
  }

  // MARK: - The kernel's ports

  @Test func portsAreReadFromTheKernelsTable() {
    let table = """
      hub port sta spd dev      sockfd local_busid
      hs  0000 006 003 00010001 000005 1-1
      hs  0001 004 000 00000000 000000 0-0
      ss  0008 004 000 00000000 000000 0-0
      nonsense
      hs  00x1 004 000
      """
    #expect(
      VHCIPort.ports(in: table) == [
        VHCIPort(hub: .highSpeed, number: 0, isFree: false), VHCIPort(hub: .highSpeed, number: 1, isFree: true),
        VHCIPort(hub: .superSpeed, number: 8, isFree: true),
      ])
    #expect(
      VHCIPort.ports(in: "prt sta spd bus dev socket           local_busid\n000 004 000 000 000 0 0-0\n")
        == [VHCIPort(hub: .highSpeed, number: 0, isFree: true)])
  }

  @Test func aKernelWithoutTheModuleIsUnsupported() throws {
    let error = #expect(throws: AccessoryError.self) {
      try KernelHost(directory: "/no/such").attach(speed: 3, preferring: nil)
    }
    #expect(error?.kind == .unsupported)
    #expect(error?.message.contains("sudo modprobe vhci-hcd") == true)
  }

  /// The kernel may be at letting go of what was in a port a moment ago, and then does not see what comes next.
  @Test func aPortThatIsBeingLeftIsAvoided() throws {
    let directory = try TemporaryDirectory()
    for folder in ["usb1", "usb1/1-1"] { #expect(mkdir("\(directory.path)/\(folder)", 0o755) == 0) }
    try directory.write(Array("480\n".utf8), to: "usb1/speed")
    try directory.write([], to: "attach")
    let table = "hs  0000 004 000 00000000 000000 0-0\nhs  0001 004 000 00000000 000000 0-0\n"
    try directory.write(Array(table.utf8), to: "status")
    for (left, expected) in [("", "1-2"), ("1-2", "1-1")] {
      if !left.isEmpty { #expect(mkdir("\(directory.path)/usb1/\(left)", 0o755) == 0) }
      let attachment = try KernelHost(directory: directory.path).attach(speed: 3, preferring: nil)
      #expect(attachment.path == "\(directory.path)/usb1/\(expected)", "another one, if there is one")
      close(attachment.descriptor.rawValue)
    }
  }

  /// Who was unplugged comes back where it was, though another port is free that comes before.
  @Test func aSimulatorGetsItsFormerPortAgain() throws {
    let directory = try TemporaryDirectory()
    #expect(mkdir("\(directory.path)/usb1", 0o755) == 0)
    try directory.write(Array("480\n".utf8), to: "usb1/speed")
    try directory.write([], to: "attach")
    let table = "hs  0000 004 000 00000000 000000 0-0\nhs  0001 004 000 00000000 000000 0-0\n"
    try directory.write(Array(table.utf8), to: "status")
    let former = "\(directory.path)/usb1/1-2"
    for (isInUse, expected) in [(false, "1-2"), (true, "1-1")] {
      if isInUse { #expect(mkdir(former, 0o755) == 0) }
      let attachment = try KernelHost(directory: directory.path).attach(speed: 3, preferring: former)
      #expect(attachment.path == "\(directory.path)/usb1/\(expected)")
      close(attachment.descriptor.rawValue)
    }
  }

  /// A table in which every port is taken, and one whose ports can't be taken.
  @Test func aTableWithoutAFreePortIsAnError() throws {
    let directory = try TemporaryDirectory()
    try directory.write(Array("hs  0000 006 003 00010001 000005 1-1\n".utf8), to: "status")
    let taken = #expect(throws: AccessoryError.self) {
      try KernelHost(directory: directory.path).attach(speed: 3, preferring: nil)
    }
    #expect(taken?.kind == .busy)
    try directory.write(Array("hs  0000 004 000 00000000 000000 0-0\n".utf8), to: "status")
    let none = #expect(throws: AccessoryError.self) {
      try KernelHost(directory: directory.path).attach(speed: 3, preferring: nil)
    }
    #expect(none?.code == .errno(2))
  }
}
