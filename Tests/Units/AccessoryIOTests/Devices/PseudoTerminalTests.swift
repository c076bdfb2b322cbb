// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Dispatch
import Glibc
import TestSupport
import Testing

extension ProcessWide {
  @Suite struct PseudoTerminalTests {
    private func open(_ path: String) async throws -> DescriptorTransport {
      try await DescriptorTransport.open(.init(path: path))
    }

    @Test func bothEndsOfAPseudoTerminalTalk() async throws {
      let pair = try await PseudoTerminal.open()
      let near = pair.transport
      #expect(near.label == pair.path)
      let far = try await open(pair.path)
      let (nearReader, farReader) = (InputReader(near.input), InputReader(far.input))
      let bytes = pattern(100_000)
      async let sendingThere: Void = OutputWriter(near.output).write(bytes)
      async let sendingHere: Void = OutputWriter(far.output).write(bytes)
      async let there = farReader.read(bytes.count)
      #expect(try await nearReader.read(bytes.count) == bytes)
      #expect(try await there == bytes)
      try await sendingThere
      try await sendingHere
      await far.close()
      await near.close()
    }

    @Test func nothingIsEchoedBeforeSomebodyOpensIt() async throws {
      let pair = try await PseudoTerminal.open()
      try await OutputWriter(pair.transport.output).write(Array("hello\r\n\u{3}".utf8))
      let far = try await open(pair.path)
      try await OutputWriter(far.output).write([1])
      #expect(try await InputReader(pair.transport.input).read(1) == [1])
      await far.close()
      await pair.transport.close()
    }

    /// Software flow control, with which the kernel begins, would swallow XON and XOFF.
    @Test func everyByteArrivesBeforeAProgramSetsAnything() async throws {
      let pair = try await PseudoTerminal.open()
      let plain = Glibc.open(pair.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
      defer { close(plain) }
      let all = (0...255).map { UInt8($0) }
      try await OutputWriter(pair.transport.output).write(all)
      var bytes = [UInt8](repeating: 0, count: 256)
      var count = 0
      while count < 256 {
        let more = bytes.withUnsafeMutableBytes { read(plain, $0.baseAddress! + count, 256 - count) }
        guard more > 0 else { break }
        count += more
      }
      #expect(bytes == all)
      await pair.transport.close()
    }

    /// The kernel keeps 16,384 events for a thread that is busy (fs.inotify.max_queued_events), and drops what comes then.
    @Test func openingAndClosingAreNoticedThoughTheKernelDroppedTheirEvents() async throws {
      let deaf = try DeafThread()
      let uses = Watched<[Bool]>([])
      let pair = try await PseudoTerminal.open(mode: nil, io: deaf.io) { isUsed in uses.update { $0.append(isUsed) } }
      var program: CInt = -1
      try await deaf.unheard { program = Glibc.open(pair.path, O_RDWR | O_NOCTTY | O_CLOEXEC) }
      try #require(program >= 0)
      try await uses.wait { $0.last == true }
      try await deaf.unheard { close(program) }
      try await uses.wait { $0.last == false }
      await pair.transport.close()
    }

    /// A process that is being started has this process's own end for a moment, which looks like a program that has the terminal open.
    @Test func aProcessThatIsBeingStartedIsNoUserThoughTheKernelDroppedEvents() async throws {
      let deaf = try DeafThread()
      let uses = Watched<[Bool]>([])
      let pair = try await PseudoTerminal.open(mode: nil, io: deaf.io) { isUsed in uses.update { $0.append(isUsed) } }
      let program = Glibc.open(pair.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
      try #require(program >= 0)
      try await uses.wait { $0 == [true] }
      let own = try #require(ThisProcess.descriptor(of: pair.path, except: program))
      let started = try ChildProgram.start("sleep", ["sleep", "60"], input: own)
      try await deaf.unheard { close(program) }
      try await uses.wait { $0 == [true, true] }
      kill(started, SIGKILL)
      try await uses.wait { $0 == [true, true, false] }
      _ = try await blocking { ChildProgram.wait(for: started) }
      await pair.transport.close()
    }

    @Test func whoHasItOpenSeesAnUnplugWhenItCloses() async throws {
      let pair = try await PseudoTerminal.open()
      let far = try await open(pair.path)
      await pair.transport.close()
      #expect(try await InputReader(far.input).readToEnd().error?.kind == .disconnected)
      await far.close()
      #expect(access(pair.path, F_OK) != 0)
    }

    @Test func itStaysWhenItsUserGoesAndComesBack() async throws {
      let pair = try await PseudoTerminal.open()
      let reader = InputReader(pair.transport.input)
      for round in 0..<10 {
        let far = try await open(pair.path)
        try await OutputWriter(far.output).write([UInt8(round)])
        #expect(try await reader.read(1) == [UInt8(round)])
        await far.close()
      }
      #expect(!pair.transport.input.hasBytesAvailable)
      await pair.transport.close()
    }

    /// With its own end closed, epoll would report a hang-up without end.
    @Test func nobodyThereIsQuiet() async throws {
      try await withIOThread { io in
        let pair = try await PseudoTerminal.open(io: io)
        await (try await DescriptorTransport.open(.init(path: pair.path), io: io)).close()
        for _ in 0..<3 { await io.barrier() }
        let before = io.wakeUps
        for _ in 0..<3 { await io.barrier() }
        #expect(io.wakeUps - before <= 3 + 1, "one for each of our own, and the notice of the close at most")
        await pair.transport.close()
      }
    }

    @Test func closingItLeavesNothingOpen() async throws {
      await (try await PseudoTerminal.open()).transport.close()
      await IOThread.shared.barrier()
      let before = ThisProcess.openPaths(beginningWith: "/dev/pt").count
      let inotify = ThisProcess.openPaths(beginningWith: "anon_inode:inotify").count
      let pair = try await PseudoTerminal.open()
      #expect(ThisProcess.openPaths(beginningWith: "/dev/pt").count == before + 2)
      await pair.transport.close()
      #expect(ThisProcess.openPaths(beginningWith: "/dev/pt").count == before)
      // The thread keeps one for all the terminals it has.
      #expect(ThisProcess.openPaths(beginningWith: "anon_inode:inotify").count == inotify)
    }
  }
}

/// An I/O thread that misses events of files when it is told to.
private final class DeafThread: Sendable {
  let io: IOThread
  private let folder: TemporaryDirectory
  private let limit: Int
  private let watcher: FileWatcher

  init() throws {
    let setting = try SmallFile.read("/proc/sys/fs/inotify/max_queued_events", limit: 32)
    limit = try #require(Int(String(decoding: setting.dropLast(), as: UTF8.self)))
    // Sixteen thousand folders are made and removed there: on a disk that takes half a minute.
    folder = try TemporaryDirectory(inMemory: true)
    io = IOThread(queue: try EpollQueue())
    watcher = try FileWatcher(folder.path, for: [.created, .deleted], io: io) { _ in }
  }

  deinit {
    watcher.stop()
    io.stop()
  }

  /// Does this while the kernel has no room for its event.
  func unheard(_ body: () -> Void) async throws {
    let (held, released) = (Watched(false), DispatchSemaphore(value: 0))
    io.post {
      held.update { $0 = true }
      released.wait()
    }
    try await held.wait { $0 }
    let path = folder.path + "/a"
    for _ in 0...(limit / 2) {
      mkdir(path, 0o700)
      rmdir(path)
    }
    body()
    released.signal()
  }
}
