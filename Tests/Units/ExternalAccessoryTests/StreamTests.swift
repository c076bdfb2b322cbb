// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ExternalAccessory
import Glibc
import TestSupport
import Testing

/// The streams of a session as clients use them, on a pseudo-terminal.
@Suite(.timeLimit(.minutes(Patience.minutes(2)))) struct StreamTests {
  enum Step: CaseIterable { case delegate, schedule, open }

  static let orders: [[Step]] = [
    [.delegate, .schedule, .open], [.delegate, .open, .schedule], [.schedule, .delegate, .open],
    [.schedule, .open, .delegate], [.open, .delegate, .schedule], [.open, .schedule, .delegate],
  ]

  /// Case 5: in whatever order, it is told that the stream is open, once and first.
  @Test(arguments: orders) func aStreamMayBeSetUpInAnyOrder(_ order: [Step]) async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let session = try bench.session()
      // With a turn of the run loop in between, in which an event would be lost if it were told too early.
      for step in order {
        try await thread.run {
          for stream in [session.input, session.output] as [Stream] {
            switch step {
            case .delegate: stream.delegate = recorder
            case .schedule: stream.schedule(in: .current, forMode: .default)
            case .open: stream.open()
            }
          }
        }
      }
      try await recorder.wait(for: .hasSpaceAvailable, ofInput: false)
      try await bench.terminal.write([1, 2, 3])
      try await recorder.bytes.wait { $0 == [1, 2, 3] }
      try await recorder.wait(for: .hasBytesAvailable, ofInput: true)
      #expect(recorder.events(ofInput: true) == [.openCompleted, .hasBytesAvailable])
      #expect(recorder.events(ofInput: false) == [.openCompleted, .hasSpaceAvailable])
      #expect(recorder.told.value.allSatisfy { !$0.isMain })
      session.closeStreams()
    }
  }

  /// Cases 1 and 2, and a mode of the client's own.
  @Test(arguments: [
    (RunLoop.Mode.default, RunLoop.Mode.default), (.common, .default),
    (RunLoop.Mode("test.mode"), RunLoop.Mode("test.mode")),
  ]) func aStreamWorksInEveryRunLoopMode(_ scheduled: RunLoop.Mode, _ running: RunLoop.Mode) async throws {
    try await LoopThread.with(mode: running) { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current, mode: scheduled) }
      try await bench.terminal.write([7])
      try await recorder.bytes.wait { $0 == [7] }
      session.closeStreams()
    }
  }

  /// A run loop doesn't tell what is scheduled in a mode that it doesn't run in; nothing is lost by that.
  @Test func eventsWaitForTheModeOfTheRunLoop() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current, mode: RunLoop.Mode("test.other")) }
      try await bench.terminal.write([7])
      try await eventually("a byte") { session.input.hasBytesAvailable }
      try await thread.run {}
      #expect(recorder.told.value == [])
      try await thread.run {
        session.input.remove(from: .current, forMode: RunLoop.Mode("test.other"))
        session.input.schedule(in: .current, forMode: .default)
      }
      try await recorder.bytes.wait { $0 == [7] }
      try await recorder.wait(for: .hasBytesAvailable, ofInput: true)
      #expect(recorder.events(ofInput: true) == [.openCompleted, .hasBytesAvailable])
      session.closeStreams()
    }
  }

  /// Case 3, from outside: another thread's run loop, known only as a `RunLoop`.
  @Test func aStreamWorksInAnotherThreadsRunLoop() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let session = try bench.session()
      session.start(recorder, in: try await thread.loop().value)
      try await recorder.wait(for: .openCompleted, ofInput: true)
      try await recorder.wait(for: .openCompleted, ofInput: false)
      try await bench.terminal.write([9, 9])
      try await recorder.bytes.wait { $0 == [9, 9] }
      session.input.remove(from: try await thread.loop().value, forMode: .default)
      try await bench.terminal.write([8])
      try await eventually("a byte") { session.input.hasBytesAvailable }
      try await thread.run {}
      #expect(recorder.bytes.value == [9, 9])
      session.closeStreams()
    }
  }

  /// Case 6: the event comes again while bytes remain.
  @Test func theEventComesAgainWhileBytesRemain() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder(readLimit: 10)
      let session = try bench.session()
      try await bench.terminal.write(pattern(1_000))
      try await thread.run { session.start(recorder, in: .current) }
      try await recorder.bytes.wait { $0.count == 1_000 }
      #expect(recorder.bytes.value == pattern(1_000))
      try await thread.run {}
      #expect(recorder.count(.hasBytesAvailable, ofInput: true) == 100)
      session.closeStreams()
    }
  }

  /// A delegate that leaves the bytes where they are is told of new ones, those too that come while it is being told, and
  /// the run loop doesn't spin meanwhile.
  @Test func aDelegateThatReadsNothingHearsOfNewBytes() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder(readLimit: 0)
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current) }
      for count in 1...200 {
        try await bench.terminal.write([UInt8(count)])
        try await recorder.wait(for: .hasBytesAvailable, ofInput: true, count: count)
      }
      for _ in 0..<10 { try await thread.run {} }
      #expect((200...400).contains(recorder.count(.hasBytesAvailable, ofInput: true)))
      // The last event may have been one of those that come again: then the last bytes are still on their way.
      var bytes: [UInt8] = []
      try await eventually("all bytes") {
        bytes += session.input.read(300)
        return bytes.count >= 200
      }
      #expect(bytes == Array(1...200))
      session.closeStreams()
    }
  }

  /// Case 13: what the accessory sent together comes together, be it that some of it was there before.
  @Test func bytesThatArriveTogetherAreReadTogether() async throws {
    let bench = try Bench()
    let session = try bench.session()
    session.input.open()
    try await bench.terminal.write(pattern(100))
    try await eventually("bytes") { session.input.hasBytesAvailable }
    try await bench.terminal.write(pattern(1_900, from: 100))
    var read: [UInt8] = []
    try await eventually("all bytes") {
      read += session.input.read(1)  // leaves the rest where it is
      return read.count > 10
    }
    #expect(session.input.read(0) == [])
    try await eventually("the rest") {
      read += session.input.read(4_096)
      return read.count >= 2_000
    }
    #expect(read == pattern(2_000))
    #expect(!session.input.hasBytesAvailable)
    #expect(session.input.read(10) == [])
  }

  /// Case 7: whoever writes when there is space, as much as is taken, writes everything, whatever the accessory's pace.
  @Test func writingWhileThereIsSpaceWritesEverything() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let total = 1_000_000
      let written = Watched(0)
      let recorder = Recorder { stream, event in
        guard event == .hasSpaceAvailable, let output = stream as? OutputStream else { return }
        while written.value < total {
          let piece = pattern(min(3_000, total - written.value), from: written.value)
          let count = output.write(piece)
          written.update { $0 += max(0, count) }
          if count < piece.count { break }
        }
      }
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current) }
      var read: [UInt8] = []
      while read.count < total { read += try await bench.terminal.read(min(50_000, total - read.count)) }
      #expect(read == pattern(total))
      session.closeStreams()
    }
  }

  /// One write doesn't make memory grow without bounds.
  @Test func aLargeWriteIsTakenInPart() async throws {
    let bench = try Bench()
    let session = try bench.session()
    session.output.open()
    #expect(session.output.write([UInt8](repeating: 1, count: 1_000_000)) == 65_536)
    #expect(session.output.write([UInt8]()) == 0)
  }

  /// Case 12: asking is cheap and true, and needs no run loop.
  @Test func aStreamIsPolledWithoutARunLoop() async throws {
    let bench = try Bench()
    let session = try bench.session()
    #expect(!session.input.hasBytesAvailable)
    #expect(!session.output.hasSpaceAvailable, "not open yet")
    #expect(session.input.read(1) == [])
    session.input.open()
    session.output.open()
    let echo = Task { try await bench.terminal.write(bench.terminal.read(3)) }
    try await blocking {
      let end = ContinuousClock.now + .seconds(20)
      while !session.output.hasSpaceAvailable { if ContinuousClock.now > end { throw Hang("space") } }
      #expect(session.output.write([4, 5, 6]) == 3)
      var read: [UInt8] = []
      while read.count < 3 {
        if session.input.hasBytesAvailable { read += session.input.read(16) }
        if ContinuousClock.now > end { throw Hang("bytes") }
      }
      #expect(read == [4, 5, 6])
    }
    try await echo.value
  }

  /// Case 4: any thread reads and writes, a new queue for each event.
  @Test func manyThreadsReadAndWriteAStream() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let read = Watched<[UInt8]>([])
      let recorder = Recorder(readLimit: 0) { stream, event in
        guard event == .hasBytesAvailable, let input = stream as? InputStream else { return }
        let handed = Handed(value: input)
        DispatchQueue(label: "test.event").async {
          // One after another, or the order would be theirs.
          read.update { all in
            let bytes = handed.value.read(100)
            all += bytes
          }
        }
      }
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current) }
      let sum = pattern(20_000).reduce(0) { $0 + Int($1) }
      try await bench.terminal.write(pattern(20_000))
      let all = try await read.wait { $0.count == 20_000 }
      #expect(all.reduce(0) { $0 + Int($1) } == sum)
      DispatchQueue.concurrentPerform(iterations: 8) { index in
        #expect(session.output.write([UInt8](repeating: UInt8(index), count: 100)) == 100)
      }
      let written = try await bench.terminal.read(800)
      for start in stride(from: 0, to: 800, by: 100) {
        #expect(Set(written[start..<start + 100]).count == 1, "writes are not mixed")
      }
      session.closeStreams()
    }
  }

  // MARK: - Delegates

  @Test func aStreamIsItsOwnDelegate() throws {
    let session = try Bench().session()
    for stream in [session.input, session.output] as [Stream] {
      #expect(stream.delegate === stream)
      var recorder: Recorder? = Recorder()
      stream.delegate = recorder
      #expect(stream.delegate === recorder)
      stream.delegate = nil
      #expect(stream.delegate === stream)
      stream.delegate = recorder
      recorder = nil
      #expect(stream.delegate === stream, "not kept")
    }
  }

  /// Case 9: the delegate goes before the stream is closed.
  @Test func aStreamWorksWithoutItsFormerDelegate() async throws {
    try await LoopThread.with { thread in
      let bench = try Bench()
      let recorder = Recorder()
      let session = try bench.session()
      try await thread.run { session.start(recorder, in: .current) }
      try await recorder.wait(for: .openCompleted, ofInput: true)
      try await thread.run { session.input.delegate = nil }
      try await bench.terminal.write([1])
      try await eventually("a byte") { session.input.hasBytesAvailable }
      try await thread.run {}
      #expect(recorder.bytes.value == [])
      try await thread.run { session.closeStreams() }
      #expect(session.input.streamStatus == .closed)
    }
  }

  // MARK: - The main thread

  /// No main run loop runs in this process: what is scheduled there is told on the main queue.
  @Test func mainRunLoopEventsComeOnTheMainQueue() async throws {
    let bench = try Bench()
    let recorder = Recorder(readLimit: 10)
    let session = try bench.session()
    session.start(recorder, in: .main, mode: .common)
    try await bench.terminal.write(pattern(100))
    try await recorder.bytes.wait { $0 == pattern(100) }
    #expect(recorder.told.value.allSatisfy { $0.isMain })
    session.closeStreams()
  }

  /// Deliveries are not interleaved, even when a stream is in two run loops.
  @Test func deliveriesOfTwoRunLoopsDoNotOverlap() async throws {
    try await LoopThread.with { one in
      try await LoopThread.with { other in
        let bench = try Bench()
        let isIn = Locked(false)
        let overlaps = Locked(0)
        let recorder = Recorder(readLimit: 7) { _, _ in
          let wasIn = isIn.withLock { value in
            defer { value = true }
            return value
          }
          if wasIn { overlaps.withLock { $0 += 1 } }
          sched_yield()
          isIn.withLock { $0 = false }
        }
        let session = try bench.session()
        session.input.delegate = recorder
        session.input.schedule(in: try await one.loop().value, forMode: .default)
        session.input.schedule(in: try await other.loop().value, forMode: .default)
        session.input.open()
        try await bench.terminal.write(pattern(7_000))
        try await recorder.bytes.wait { $0.count == 7_000 }
        #expect(recorder.bytes.value == pattern(7_000))
        #expect(overlaps.withLock { $0 } == 0)
        session.closeStreams()
      }
    }
  }
}
