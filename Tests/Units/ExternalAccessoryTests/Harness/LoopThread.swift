// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ExternalAccessory
import TestSupport

/// Something that a test hands to another thread on purpose.
struct Handed<Value>: @unchecked Sendable {
  let value: Value
}

/// A thread that pumps its run loop with `run(mode:before:)`, as clients' threads do.
final class LoopThread: Sendable {
  private let runLoop = Watched<Handed<RunLoop>?>(nil)
  private let isStopping = Locked(false)
  private let isOver = Watched(false)
  let mode: RunLoop.Mode

  /// Starts it; its run loop runs in `mode`, again and again.
  init(mode: RunLoop.Mode = .default) {
    self.mode = mode
    let thread = Thread { [self] in
      let keeper = Timer(timeInterval: 1_000_000, repeats: true) { _ in }
      RunLoop.current.add(keeper, forMode: mode)
      let current = Handed(value: RunLoop.current)
      runLoop.update { $0 = current }
      while !isStopping.withLock({ $0 }) { _ = RunLoop.current.run(mode: mode, before: .distantFuture) }
      keeper.invalidate()
      isOver.update { $0 = true }
    }
    thread.name = "test.loop"
    thread.start()
  }

  /// Its run loop, for scheduling from other threads.
  func loop() async throws -> Handed<RunLoop> { try await runLoop.wait { $0 != nil }! }

  /// Runs `body` on the thread, in its run loop, and waits for it.
  func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    let loop = try await loop()
    // Foundation never frees a timer: so it must not hold the body.
    let slot = Locked<(@Sendable () throws -> Value)?>(body)
    let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
      let timer = Timer(fire: Date(), interval: 0, repeats: false) { _ in
        let body = slot.withLock { slot in
          defer { slot = nil }
          return slot
        }
        if let body { continuation.resume(returning: Result { try body() }) }
      }
      loop.value.add(timer, forMode: mode)
    }
    return try result.get()
  }

  /// How often something of this kind is in the run loop: once in each mode and once in its list of common items.
  func count(of kind: String) async throws -> Int {
    try await run { Self.currentItems().filter { $0.contains("<\(kind) ") }.count }
  }

  private static func currentItems() -> [Substring] { runLoopDescription().split(separator: "\n") }

  /// Ends the thread, and waits for that.
  func stop() async throws {
    try await run { [self] in
      isStopping.withLock { $0 = true }
      stopRunLoop()
    }
    try await isOver.wait { $0 }
  }

  /// Runs `body` with a thread that ends afterwards.
  static func with(mode: RunLoop.Mode = .default, _ body: (LoopThread) async throws -> Void) async throws {
    let thread = LoopThread(mode: mode)
    do {
      try await body(thread)
    } catch {
      try await thread.stop()
      throw error
    }
    try await thread.stop()
  }
}
