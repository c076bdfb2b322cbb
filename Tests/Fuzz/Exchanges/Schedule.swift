// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// What is to be done, in order, on the one thread that there is.
enum Schedule {
  private static let work = Locked<[WorkerThreads.Work]>([])
  /// More than any input needs by far.
  private static let mostSteps = 200_000

  /// Has all tasks and queues do their work here.
  static func begin() { QuietTasks.begin { work in Schedule.work.withLock { $0.append(work) } } }

  /// Does all there is to do, and what comes of it.
  static func run() {
    var steps = 0
    while true {
      let batch = work.withLock { work in
        defer { work = [] }
        return work
      }
      if batch.isEmpty { return }
      for one in batch { WorkerThreads.perform(one) }
      steps += batch.count
      precondition(steps < mostSteps, "something spins")
    }
  }
}

/// A clock that the input moves.
final class FuzzClock: TimerClock {
  private struct State: Sendable {
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var entries: [(deadline: MonotonicTime, id: UInt64, action: @Sendable () -> Void)] = []
    var lastID: UInt64 = 0
  }

  private let state = Locked(State())
  /// Timers that may run while the clock is moved once.
  private static let mostTimers = 20_000

  var now: MonotonicTime { state.withLock { $0.now } }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    state.withLock { state in
      state.lastID += 1
      state.entries.append((deadline, state.lastID, action))
      return TimerToken(rawValue: state.lastID)
    }
  }

  func cancel(_ token: TimerToken) {
    state.withLock { state in state.entries.removeAll { $0.id == token.rawValue } }
  }

  /// Moves the clock on, and runs what is due, each at its moment.
  func advance(by duration: Duration) {
    let end = now + duration
    var count = 0
    while let action = next(until: end) {
      action()
      Schedule.run()
      count += 1
      precondition(count < Self.mostTimers, "time stands still")
    }
    state.withLock { $0.now = end }
  }

  private func next(until end: MonotonicTime) -> (@Sendable () -> Void)? {
    state.withLock { state -> (@Sendable () -> Void)? in
      let index = state.entries.indices.min {
        (state.entries[$0].deadline, state.entries[$0].id) < (state.entries[$1].deadline, state.entries[$1].id)
      }
      guard let index, state.entries[index].deadline <= end else { return nil }
      let entry = state.entries.remove(at: index)
      state.now = max(state.now, entry.deadline)
      return entry.action
    }
  }
}

/// A transport whose device is the input.
final class FuzzTransport: Transport {
  private struct State: Sendable {
    var written: [UInt8] = []
    var isStalled = false
    var isClosed = false
  }

  let label = "device"
  let timing: LineTiming
  let input: InputQueue
  let output: OutputQueue
  private let state = Locked(State())

  init(timing: LineTiming, keepsMessages: Bool) {
    self.timing = timing
    input = InputQueue(keepsMessages: keepsMessages)
    output = OutputQueue(keepsMessages: keepsMessages)
    output.onQueued { [weak self] in self?.takeOutput() }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Whether the device takes nothing.
  var isStalled: Bool {
    get { state.withLock { $0.isStalled } }
    set {
      state.withLock { $0.isStalled = newValue }
      takeOutput()
    }
  }

  private func takeOutput() {
    var bytes: [UInt8] = []
    while !isStalled, output.take(into: &bytes) {
      let taken = bytes
      // A device that nobody asks about what it got must not keep it all.
      state.withLock { state in if state.written.count < 65_536 { state.written += taken } }
      output.wrote(taken.count)
    }
  }

  /// What was written since the last call.
  func takeWritten() -> [UInt8] {
    state.withLock { state in
      defer { state.written = [] }
      return state.written
    }
  }

  func receive(_ bytes: [UInt8]) { _ = input.append(bytes.span.bytes) }

  private func end(_ error: AccessoryError?) {
    output.close(error)
    input.finish(error)
  }

  func close() async { beginClose() }

  func beginClose() {
    state.withLock { $0.isClosed = true }
    end(nil)
  }

  func deviceWasRemoved() { end(.disconnected(label)) }
}

/// The input, byte by byte; zeros behind its end.
struct Script {
  private let bytes: [UInt8]
  private var next = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isOver: Bool { next >= bytes.count }

  mutating func byte() -> UInt8 {
    defer { next += 1 }
    return next < bytes.count ? bytes[next] : 0
  }

  mutating func number(below bound: Int) -> Int { bound > 0 ? Int(byte()) % bound : 0 }

  mutating func take(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

  /// All that is left.
  mutating func rest() -> [UInt8] {
    defer { next = bytes.count }
    return Array(bytes.dropFirst(next))
  }
}
