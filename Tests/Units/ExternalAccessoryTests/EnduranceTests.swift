// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import ExternalAccessory
import Glibc
import TestSupport
import Testing

/// A thousand times the same, after which the process holds no more than before. To be run alone in its process, one
/// test after another: see the Makefile.
@Suite(.serialized, .timeLimit(.minutes(Patience.minutes(5)))) struct EnduranceTests {
  #if THREAD_SANITIZER
    static let cycles = 100
  #else
    static let cycles = 1_000
  #endif

  /// What may not grow.
  private struct Holdings {
    let descriptors = ThisProcess.descriptors
    let threads = ThisProcess.threadCount
    let memory = ThisProcess.ownMemory
  }

  /// Runs `body` some times to warm up, then a thousand times, and compares.
  private func isFlat(_ thread: LoopThread, _ body: (Int) async throws -> Void) async throws {
    for index in 0..<Self.cycles / 5 { try await body(index) }
    let before = Holdings()
    for index in 0..<Self.cycles { try await body(index) }
    try await ThisProcess.waitForNoDescriptors(except: before.descriptors)
    // Those of the dispatch library and of tasks come and go; one a cycle would be a thousand.
    try await eventually("threads to end: \(ThisProcess.threadCount), \(before.threads) before") {
      ThisProcess.threadCount <= before.threads + 8
    }
    #if !THREAD_SANITIZER
      // Less than 2 KB a cycle: an object with its queues and sources is more.
      #expect(!ThisProcess.ownMemoryIsTelling || ThisProcess.ownMemory - before.memory < Self.cycles * 2_000)
    #endif
    let (sources, timers) = (
      try await thread.count(of: "CFRunLoopSource"), try await thread.count(of: "CFRunLoopTimer")
    )
    #expect(sources == 0)
    #expect(timers <= 2, "the thread's own, in its mode")
  }

  /// Case 11: opened again at once.
  @Test func openingAndClosingLeavesNothingBehind() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      try await isFlat(thread) { index in
        let recorder = Recorder()
        let session = try await blocking { try bench.session() }
        try await thread.run { session.start(recorder, in: .current) }
        try await bench.terminal.write([UInt8(truncatingIfNeeded: index)])
        try await recorder.bytes.wait { $0 == [UInt8(truncatingIfNeeded: index)] }
        switch index % 4 {
        case 0: try await thread.run { session.closeStreams() }
        case 1: session.closeStreams()
        case 2:
          session.output.close()
          session.output.close()
          session.input.close()
        default: break  // let go without being closed; the next one closes it
        }
      }
    }
  }

  /// Opened again without anything in between, in place of the session before.
  @Test func openingOverAnOpenSessionLeavesNothingBehind() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let last = Locked<EASession?>(nil)
      try await isFlat(thread) { _ in
        let session = try await blocking { try bench.session() }
        session.input.open()
        session.output.open()
        let former = last.withLock { last in
          defer { last = session }
          return last
        }
        #expect(former?.output.write([1]) ?? -1 == -1)
      }
      last.withLock { $0 }?.closeStreams()
      last.withLock { $0 = nil }
    }
  }

  /// Scheduled from another thread than the run loop's.
  @Test func schedulingFromAnotherThreadLeavesNothingBehind() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let loop = try await thread.loop()
      try await isFlat(thread) { _ in
        let recorder = Recorder()
        let session = try await blocking { try bench.session() }
        session.start(recorder, in: loop.value)
        try await recorder.wait(for: .openCompleted, ofInput: true)
        session.closeStreams()
      }
    }
  }

  /// Unplugged with its streams open, and plugged in again.
  @Test func unpluggingWithOpenStreamsLeavesNothingBehind() async throws {
    try await LoopThread.with { thread in
      let source = FakeSource()
      let manager = try await blocking { EAAccessoryManager(sources: [source]) }
      let diary = Diary(manager)
      manager.registerForLocalNotifications()
      try await isFlat(thread) { index in
        let terminal = try openPseudoTerminal(raw: true)
        let device = Device.af1(at: terminal.path)
        diary.entries.update { $0 = [] }
        source.add(device)
        try await diary.entries.wait { $0.count == 2 }
        let accessory = try #require(manager.connectedAccessories.first)
        accessory.delegate = diary
        let recorder = Recorder()
        let session = try await blocking { try EASession.open(accessory, forProtocol: framed) }
        try await thread.run { session.start(recorder, in: .current) }
        if index % 2 == 0 { try await terminal.write([1, 2, 3]) }
        terminal.unplug()
        source.remove(device)
        try await diary.entries.wait { $0.count == 5 }
        #expect(!accessory.isConnected)
        #expect(manager.connectedAccessories.isEmpty)
        if index % 3 == 0 { session.closeStreams() }
      }
      diary.end()
    }
  }
}
