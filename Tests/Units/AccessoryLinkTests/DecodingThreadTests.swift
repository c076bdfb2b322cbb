// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols
import Dispatch
import Glibc
import TestSupport
import Testing

@testable import AccessoryLink

/// On which threads a codec was run.
private final class Threads: Sendable {
  private let seen = Locked<[UInt: Int]>([:])

  static var current: UInt { UInt(pthread_self()) }

  private let onMain = Locked(0)
  private static let mainQueue: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  init() { _ = Self.mainQueue }

  func note() {
    seen.withLock { $0[Self.current, default: 0] += 1 }
    if Self.isOnMain { onMain.withLock { $0 += 1 } }
  }

  /// The main actor has no thread of its own in a program with an asynchronous `main`: it goes with the main queue.
  static var isOnMain: Bool { DispatchQueue.getSpecific(key: mainQueue) == true }
  var mainCount: Int { onMain.withLock { $0 } }

  var counts: [UInt: Int] { seen.withLock { $0 } }
}

/// Frames with a length in front, by a codec that notes its thread.
private struct WatchedCodec: FrameCodec {
  private var codec: LengthPrefixedCodec
  let threads: Threads

  init(_ threads: Threads) throws {
    codec = try LengthPrefixedCodec(maximumPayload: 255)
    self.threads = threads
  }

  var counters: FrameCounters { codec.counters }
  var hasUnfinishedFrame: Bool { codec.hasUnfinishedFrame }

  mutating func decode(_ bytes: RawSpan, into batch: inout FrameBatch<LengthPrefix>) {
    threads.note()
    codec.decode(bytes, into: &batch)
  }
  mutating func idle(into batch: inout FrameBatch<LengthPrefix>) {
    threads.note()
    codec.idle(into: &batch)
  }
  mutating func expire(into batch: inout FrameBatch<LengthPrefix>) { codec.expire(into: &batch) }
  mutating func reset() { codec.reset() }
  func encode(
    _ header: LengthPrefix, payload: RawSpan, into output: inout [UInt8]
  ) throws(FrameEncodingError) {
    try codec.encode(header, payload: payload, into: &output)
  }
}

/// Requests that are answered by what comes next; two frames come of each, and the second is an event.
private struct WatchedExchange: Exchange {
  var codec: WatchedCodec
  var counters = LinkCounters()
  let deadline: MonotonicTime? = nil
  private var waiting: [RequestID] = []

  init(_ threads: Threads) throws { codec = try WatchedCodec(threads) }

  mutating func setTiming(_ timing: LineTiming) {}
  mutating func begin(_ id: RequestID, now: MonotonicTime, effects: inout Effects<[UInt8], [UInt8]>) {
    effects.completions.append((id, .success([])))
  }
  mutating func submit(
    _ id: RequestID, _ request: [UInt8], now: MonotonicTime, effects: inout Effects<[UInt8], [UInt8]>
  ) {
    waiting.append(id)
    var frame: [UInt8] = []
    try? codec.encode(LengthPrefix(), payload: request, into: &frame)
    effects.write(frame + frame)
  }
  mutating func cancel(_ id: RequestID, now: MonotonicTime, effects: inout Effects<[UInt8], [UInt8]>) {}
  mutating func receive(
    _ batch: FrameBatch<LengthPrefix>, at index: Int, now: MonotonicTime, effects: inout Effects<[UInt8], [UInt8]>
  ) {
    codec.threads.note()
    let payload = batch.payloadBytes(at: index)
    if waiting.isEmpty {
      effects.events.append(payload)
    } else {
      effects.completions.append((waiting.removeFirst(), .success(payload)))
    }
  }
  mutating func timePassed(now: MonotonicTime, effects: inout Effects<[UInt8], [UInt8]>) {}
  mutating func end(_ error: AccessoryError, effects: inout Effects<[UInt8], [UInt8]>) {
    for id in waiting { effects.completions.append((id, .failure(error))) }
    waiting = []
  }
}

private typealias WatchedLink = Link<WatchedExchange>

/// A thread of its own that runs tasks and nothing else, as a run loop's does.
private final class LoopExecutor: TaskExecutor, SerialExecutor {
  private let jobs = Watched<[UnownedJob]>([])
  private let isOver = Watched(false)
  let thread = Watched<UInt>(0)

  init() {
    let me = Unmanaged.passRetained(self)
    var handle = pthread_t()
    pthread_create(
      &handle, nil,
      { context in
        Unmanaged<LoopExecutor>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, me.toOpaque())
    pthread_detach(handle)
  }

  private func run() {
    thread.update { $0 = Threads.current }
    while !isOver.value {
      let next = jobs.update { jobs in
        defer { jobs = [] }
        return jobs
      }
      for job in next {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
      if next.isEmpty { usleep(100) }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.update { $0.append(job) }
  }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  func end() { isOver.update { $0 = true } }
}

private actor Tenant {
  let executor: any SerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ executor: any SerialExecutor) { self.executor = executor }

  func ask(_ link: WatchedLink) async throws -> UInt {
    let thread = Threads.current
    try await exchange(link)
    return thread
  }
}

private let rounds = 200

/// Requests one after another, in the caller's isolation.
private func exchange(_ link: WatchedLink, _ isolation: isolated (any Actor)? = #isolation) async throws {
  for round in 0..<rounds {
    let bytes = [UInt8(round), 1, 2, 3]
    #expect(try await link.request(bytes) == bytes)
  }
}

@MainActor private func askOnMainActor(_ link: WatchedLink) async throws -> Bool {
  let isOnMain = Threads.isOnMain
  try await exchange(link)
  return isOnMain
}

/// A link decodes on threads of dispatch queues: never on the I/O thread, never on a run loop's, whoever asks.
@Suite(.timeLimit(.minutes(Patience.minutes(5)))) struct DecodingThreadTests {
  enum Caller: CaseIterable { case mainActor, detached, ioThread, loop, preferredLoop, preferredIOThread }

  @Test(arguments: Caller.allCases, [false, true]) private func decodingNeverRunsOnTheCallersThread(
    _ caller: Caller, hasSubscriber: Bool
  ) async throws {
    // One answers on the thread that writes, the other on the I/O thread.
    for transport: any Transport in [MemoryTransport { $0.receive($1) }, LoopbackTransport()] {
      try await ask(transport, caller, hasSubscriber)
    }
  }

  private func ask(_ transport: any Transport, _ caller: Caller, _ hasSubscriber: Bool) async throws {
    let threads = Threads()
    let link = try await Link.open(
      AccessorySession(transport), rules: try WatchedExchange(threads), clock: IOThread.shared)
    // Without one, the task that waits for a reply may decode it by itself.
    var events = hasSubscriber ? link.events().makeAsyncIterator() : nil
    let ioThread = await withCheckedContinuation { continuation in
      IOThread.shared.post { continuation.resume(returning: Threads.current) }
    }
    let loop = LoopExecutor()
    defer { loop.end() }
    let loopThread = try await loop.thread.wait { $0 != 0 }
    switch caller {
    case .mainActor: #expect(try await askOnMainActor(link))
    case .detached: try await Task.detached { try await exchange(link) }.value
    case .ioThread: #expect(try await Tenant(IOThread.shared).ask(link) == ioThread)
    case .loop: #expect(try await Tenant(loop).ask(link) == loopThread)
    case .preferredLoop: try await Task(executorPreference: loop) { try await exchange(link) }.value
    case .preferredIOThread: try await Task(executorPreference: IOThread.shared) { try await exchange(link) }.value
    }
    if hasSubscriber {
      for round in 0..<rounds { #expect(try await events?.next() == [UInt8(round), 1, 2, 3]) }
    }
    await link.close()
    let counts = threads.counts
    #expect(counts.values.reduce(0, +) >= 3 * rounds)
    #expect(threads.mainCount == 0)
    for thread in [ioThread, loopThread] { #expect(counts[thread] == nil, "\(caller): \(counts)") }
  }
}
