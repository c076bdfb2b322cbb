// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch
import TestSupport
import Testing

@testable import AccessoryIO

@Suite struct InputQueueTests {
  private func append(_ bytes: [UInt8], to queue: InputQueue) -> Bool { queue.append(bytes.span.bytes) }

  private func counted(_ queue: InputQueue) -> Watched<Int> {
    let count = Watched(0)
    queue.onReadable { count.update { $0 += 1 } }
    return count
  }

  /// One wake-up for several reads; none when the consumer has taken them by itself meanwhile.
  @Test func whatWasAppendedQuietlyIsToldOnce() {
    let queue = InputQueue()
    let told = Watched(0)
    queue.onReadable { told.update { $0 += 1 } }
    for byte: UInt8 in 1...3 {
      #expect([byte].withUnsafeBytes { queue.append($0, notifying: false) })
    }
    #expect(told.value == 0)
    queue.notify()
    queue.notify()
    #expect(told.value == 1)
    var buffer: [UInt8] = []
    #expect(queue.take(into: &buffer) == .bytes)
    #expect(buffer == [1, 2, 3])
    #expect(queue.take(into: &buffer) == .nothing)
    queue.notify()
    #expect(told.value == 1, "there is nothing to take")
    #expect(([4] as [UInt8]).withUnsafeBytes { queue.append($0, notifying: false) })
    queue.finish(nil)
    queue.notify()
    #expect(told.value == 2, "the end tells as well")
  }

  @Test func theConsumerIsToldOnceUntilItFindsNothing() {
    let queue = InputQueue()
    let told = counted(queue)
    #expect(told.value == 0)
    _ = append([1], to: queue)
    _ = append([2], to: queue)
    #expect(told.value == 1)
    var buffer: [UInt8] = []
    #expect(queue.take(into: &buffer) == .bytes)
    #expect(buffer == [1, 2])
    _ = append([3], to: queue)
    #expect(told.value == 1, "it has not found nothing yet, and will come again")
    #expect(queue.take(into: &buffer) == .bytes)
    #expect(queue.take(into: &buffer) == .nothing)
    #expect(buffer == [])
    _ = append([4], to: queue)
    #expect(told.value == 2)
  }

  @Test func whatCameBeforeTheConsumerIsAnnouncedAtOnce() {
    let queue = InputQueue()
    _ = append([1, 2, 3], to: queue)
    #expect(queue.hasBytesAvailable)
    #expect(counted(queue).value == 1)
    let ended = InputQueue()
    ended.finish(nil)
    #expect(!ended.hasBytesAvailable)
    #expect(counted(ended).value == 1)
  }

  @Test func takingSwapsTheStorage() {
    let queue = InputQueue()
    _ = append(pattern(1_000), to: queue)
    var buffer: [UInt8] = []
    buffer.reserveCapacity(2_000)
    let lent = buffer.withUnsafeBytes { $0.baseAddress }
    #expect(queue.take(into: &buffer) == .bytes)
    #expect(buffer == pattern(1_000))
    _ = append([9], to: queue)
    #expect(queue.take(into: &buffer) == .bytes)
    #expect(buffer == [9])
    #expect(buffer.withUnsafeBytes { $0.baseAddress } == lent, "the emptied buffer is filled next, without a copy")
  }

  /// Whoever keeps what he takes gets storage that doesn't grow with each arrival, but with the pieces.
  @Test func storageIsMadeForAsMuchAsBefore() {
    let queue = InputQueue(highWater: 1_000)
    for (count, expected) in [(600, 0), (1, 600), (1, 1), (5_000, 1), (1, 1_000)] {
      _ = append([UInt8](repeating: 7, count: count), to: queue)
      var piece: [UInt8] = []
      #expect(queue.take(into: &piece) == .bytes)
      #expect(piece.count == count)
      #expect(piece.capacity >= expected)
      if count == 1 { #expect(piece.capacity < 2 * max(expected, 50)) }
    }
  }

  @Test func aFullQueueAsksForAPauseAndTakingResumes() {
    let queue = InputQueue(highWater: 10)
    let resumed = Watched(0)
    queue.onResume { resumed.update { $0 += 1 } }
    #expect(append(pattern(9), to: queue))
    #expect(!append([9], to: queue))
    #expect(!append([10], to: queue), "kept all the same, and still paused")
    var buffer: [UInt8] = []
    #expect(resumed.value == 0)
    #expect(queue.take(into: &buffer) == .bytes)
    #expect(buffer == pattern(11))
    #expect(resumed.value == 1)
    #expect(append([1], to: queue))
    #expect(queue.take(into: &buffer) == .bytes)
    #expect(resumed.value == 1, "it was not paused")
  }

  @Test func theEndComesOnceBehindTheLastByte() {
    let queue = InputQueue()
    let told = counted(queue)
    _ = append([1, 2], to: queue)
    let error = AccessoryError.disconnected("it")
    queue.finish(error)
    queue.finish(nil)
    #expect(told.value == 1)
    var buffer: [UInt8] = []
    #expect(queue.take(into: &buffer) == .bytes)
    #expect(buffer == [1, 2])
    #expect(queue.take(into: &buffer) == .end(error), "the first end counts")
    #expect(queue.take(into: &buffer) == .end(error))
    #expect(told.value == 1)
  }

  @Test func aWaitingConsumerIsToldOfTheEndOnce() {
    let queue = InputQueue()
    let told = counted(queue)
    queue.finish(nil)
    queue.finish(.disconnected("it"))
    #expect(told.value == 1)
    var buffer: [UInt8] = [7]
    #expect(queue.take(into: &buffer) == .end(nil))
    #expect(buffer == [])
  }

  @Test func nothingComesAfterTheEnd() {
    let queue = InputQueue()
    let told = counted(queue)
    queue.finish(nil)
    #expect(!append([1], to: queue))
    #expect(!queue.hasBytesAvailable)
    #expect(told.value == 1)
    var buffer: [UInt8] = []
    #expect(queue.take(into: &buffer) == .end(nil))
  }

  @Test func anEndedInputQueueLetsHandlersGo() {
    final class Held: Sendable {}
    let queue = InputQueue()
    weak var held: Held?
    do {
      let object = Held()
      held = object
      queue.onReadable { withExtendedLifetime(object) {} }
      queue.onResume { withExtendedLifetime(object) {} }
    }
    #expect(held != nil)
    queue.finish(nil)
    #expect(held == nil, "a consumer that holds its transport would never be freed")
  }

  @Test(.timeLimit(.minutes(Patience.minutes(5)))) func nothingIsLostBetweenThreads() async throws {
    let queue = InputQueue(highWater: 1_000)
    let mayGoOn = DispatchSemaphore(value: 0)
    queue.onResume { mayGoOn.signal() }
    let total = 500_000
    let reader = InputReader(queue)
    let isGivenUp = Locked(false)
    async let producing: Void = blocking {
      var sent = 0
      while sent < total, !isGivenUp.withLock({ $0 }) {
        let piece = pattern(min(sent % 301 + 1, total - sent), from: sent)
        let wantsMore = queue.append(piece.span.bytes)
        if !wantsMore { mayGoOn.wait() }
        sent += piece.count
      }
      queue.finish(nil)
    }
    let ending: InputReader.Ending
    do {
      ending = try await reader.readToEnd()
    } catch {
      isGivenUp.withLock { $0 = true }
      mayGoOn.signal()
      throw error
    }
    try await producing
    #expect(ending.error == nil)
    #expect(ending.bytes == pattern(total))
  }
}
