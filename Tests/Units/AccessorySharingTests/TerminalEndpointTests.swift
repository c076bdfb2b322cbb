// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryTesting
import Glibc
import TestSupport
import Testing

@testable import AccessorySharing

/// Programs that open the link to a shared terminal, one after another and at the same time.
@Suite(.serialized, .timeLimit(.minutes(Patience.minutes(2)))) struct TerminalEndpointTests {
  /// A hub with a terminal endpoint in a folder of its own.
  private final class Setup: Sendable {
    let hub: SharingHub
    let device: MemoryTransport
    let line = MemoryLine(LineStatus(baudRate: 115_200, modemLines: [.dtr, .rts]), clock: IOThread.shared)
    let endpoint: TerminalEndpoint
    private let folder: String

    init(hasLine: Bool = false) async throws {
      hub = SharingHub()
      device = hasLine ? MemoryTransport(label: "board", line: line) : MemoryTransport(label: "board")
      var name = Array("/tmp/terminal-XXXXXX".utf8CString)
      folder = try #require(mkdtemp(&name).map { String(cString: $0) })
      endpoint = try await TerminalEndpoint.open(at: folder + "/tty", for: hub) { Issue.record("\($0)") }
      await hub.attach(device) { _ in }
    }

    var path: String { folder + "/tty" }

    /// Opens the link as a program does.
    func open() throws -> CInt {
      let descriptor = Glibc.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
      return try #require(descriptor >= 0 ? descriptor : nil)
    }

    /// Opens the link, and returns when the device's bytes get there.
    func openAndWait(listeners: Int = 1) async throws -> CInt {
      let descriptor = try open()
      try await eventually("the program is noticed") { await hub.passingCount == listeners }
      return descriptor
    }

    /// Returns when nobody has a terminal open any more, and the link leads to the first one again.
    func settle(at first: String?) async throws {
      try await eventually("the link is as before") {
        let (listeners, node) = await (hub.listenerCount, endpoint.node)
        return listeners == 0 && node == first
      }
    }

    func end() async {
      await endpoint.close()
      await hub.close()
      #expect(access(path, F_OK) != 0)
      rmdir(folder)
    }
  }

  private static func isReadable(_ descriptor: CInt, within milliseconds: CInt = 10_000) -> Bool {
    var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&asked, 1, milliseconds) == 1
  }

  /// What can be read at once.
  private static func unread(_ descriptor: CInt) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    var all: [UInt8] = []
    while case let count = read(descriptor, &bytes, bytes.count), count > 0 { all += bytes.prefix(count) }
    return all
  }

  private static func text(_ descriptor: CInt, _ count: Int) -> [UInt8] {
    var all: [UInt8] = []
    while all.count < count, isReadable(descriptor) { all += unread(descriptor) }
    return all
  }

  @Test func whatAProgramLeavesUnreadDoesNotReachTheNextOne() async throws {
    let setup = try await Setup()
    for round in 0..<200 {
      let first = try await setup.openAndWait()
      setup.device.receive(Array("old\(round)".utf8))
      #expect(Self.isReadable(first))
      close(first)
      let next = try setup.open()
      #expect(Self.unread(next).isEmpty)
      // What comes before it is noticed that the program is there is for nobody, also where it could be read for a moment.
      var text: [UInt8] = []
      for _ in 0..<1_000 where text.isEmpty {
        if Self.isReadable(next, within: 20) { text = Self.unread(next) }
        if text.isEmpty { setup.device.receive(Array("new\(round);".utf8)) }
      }
      #expect(text.starts(with: Array("new\(round);".utf8)))
      close(next)
      try await eventually("nobody is there") { await setup.hub.listenerCount == 0 }
    }
    await setup.end()
  }

  /// The kernel keeps 4 KiB where a program reads, and more between the two ends.
  @Test func muchThatIsLeftUnreadDoesNotReachAProgramThatComesLater() async throws {
    let setup = try await Setup()
    let first = try await setup.openAndWait()
    for _ in 0..<100 { setup.device.receive([UInt8](repeating: 7, count: 4_000)) }
    #expect(Self.isReadable(first))
    close(first)
    try await eventually("the first program has left") { await setup.hub.listenerCount == 0 }
    for _ in 0..<3 {
      let next = try await setup.openAndWait()
      setup.device.receive([1, 2, 3])
      #expect(Self.text(next, 3) == [1, 2, 3])
      close(next)
      try await eventually("it has left") { await setup.hub.listenerCount == 0 }
    }
    await setup.end()
  }

  /// It sends its request before anybody has noticed it.
  @Test func aProgramThatAsksAtOnceGetsItsReply() async throws {
    let setup = try await Setup()
    let node = await setup.endpoint.node
    for round in 0..<50 {
      let program = try setup.open()
      let request = Array("ask\(round % 10)".utf8)
      #expect(write(program, request, request.count) == request.count)
      #expect(try await setup.device.nextWritten(request.count) == request)
      setup.device.receive(request)
      #expect(Self.text(program, request.count) == request)
      close(program)
      try await setup.settle(at: node)
    }
    await setup.end()
  }

  @Test func aProgramThatOnlySendsAndLeavesIsHeard() async throws {
    let setup = try await Setup()
    for _ in 0..<50 {
      let program = try setup.open()
      #expect(write(program, "AT\r", 3) == 3)
      close(program)
      #expect(try await setup.device.nextWritten(3) == Array("AT\r".utf8))
    }
    await setup.end()
  }

  @Test func aListenerIsNotDisturbedByProgramsThatComeAndGo() async throws {
    let setup = try await Setup()
    let listener = try await setup.openAndWait()
    var sent: [UInt8] = []
    var heard: [UInt8] = []
    for round in 0..<100 {
      let other = try round % 2 == 0 ? setup.open() : await setup.openAndWait(listeners: 2)
      let bytes = Array("\(round);".utf8)
      setup.device.receive(bytes)
      sent += bytes
      heard += Self.text(listener, bytes.count)
      close(other)
      try await eventually("the other has left") { await setup.hub.listenerCount == 1 }
    }
    #expect(heard == sent)
    close(listener)
    await setup.end()
  }

  /// `stty` opens the terminal, sets it and closes it, while another program uses it.
  @Test func theLineKeepsItsSettingsWhileAProgramHasATerminalOpen() async throws {
    let setup = try await Setup(hasLine: true)
    let listener = try await setup.openAndWait()
    let other = try await setup.openAndWait(listeners: 2)
    var settings = termios()
    #expect(tcgetattr(other, &settings) == 0 && cfsetspeed(&settings, speed_t(B9600)) == 0)
    #expect(tcsetattr(other, TCSANOW, &settings) == 0)
    try await setup.line.state.wait { $0.status.baudRate == 9_600 }
    close(other)
    try await eventually("the other has left") { await setup.hub.listenerCount == 1 }
    let third = try await setup.openAndWait(listeners: 2)
    // It finds 9,600 baud, as the kernel's other way of saying it, so its 115,200 baud are a change.
    for (speed, baud) in [(B115200, 115_200), (B9600, 9_600)] {
      #expect(tcgetattr(third, &settings) == 0 && cfsetspeed(&settings, speed_t(speed)) == 0)
      #expect(tcsetattr(third, TCSANOW, &settings) == 0)
      try await setup.line.state.wait { $0.status.baudRate == baud }
    }
    close(third)
    try await eventually("the third has left") { await setup.hub.listenerCount == 1 }
    #expect(setup.line.state.value.status.baudRate == 9_600)
    close(listener)
    try await setup.line.state.wait { $0.status.baudRate == 115_200 }
    await setup.end()
  }

  /// Also while programs leave at the same time, and terminals that they needed are closed.
  @Test func theLinkAlwaysLeadsToATerminal() async throws {
    let setup = try await Setup()
    let node = await setup.endpoint.node
    for round in 0..<200 {
      var programs: [CInt] = []
      for count in 1...3 { programs.append(try await setup.openAndWait(listeners: count)) }
      for program in programs { close(program) }
      let missing = (0..<10_000).count { _ in access(setup.path, F_OK) != 0 }
      #expect(missing == 0, "round \(round)")
      try await setup.settle(at: node)
    }
    await setup.end()
  }

  /// Two are kept: the one to which the link leads, and the next one.
  @Test func terminalsThatAreNotNeededAreClosed() async throws {
    let setup = try await Setup()
    let node = await setup.endpoint.node
    var programs: [CInt] = []
    for count in 1...10 { programs.append(try await setup.openAndWait(listeners: count)) }
    #expect(await setup.hub.clientCount == 11)
    for program in programs { close(program) }
    try await setup.settle(at: node)
    try await eventually("the others are closed") { await setup.hub.clientCount == 2 }
    await setup.end()
  }
}

extension SharingHub {
  /// The number of terminals that programs have open and that get the device's bytes.
  fileprivate var passingCount: Int { parts.clients.all.values.count { $0.isListening && !$0.backlog.isHeld } }
}
