// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch
import TestSupport
import Testing

@testable import AccessoryIO

@Suite struct OutputQueueTests {
  private func counter(_ install: (@escaping @Sendable () -> Void) -> Void) -> Watched<Int> {
    let count = Watched(0)
    install { count.update { $0 += 1 } }
    return count
  }

  @Test func theTransportIsToldOnceUntilItFindsNothing() {
    let queue = OutputQueue()
    let told = counter(queue.onQueued)
    #expect(queue.offer([1]) == .accepted)
    #expect(queue.offer([2, 3]) == .accepted)
    #expect(told.value == 1)
    var buffer: [UInt8] = [9]
    #expect(queue.take(into: &buffer))
    #expect(buffer == [1, 2, 3])
    #expect(queue.offer([4]) == .accepted)
    #expect(told.value == 1)
    queue.wrote(3)
    #expect(queue.take(into: &buffer))
    #expect(buffer == [4])
    queue.wrote(1)
    #expect(!queue.take(into: &buffer))
    #expect(buffer == [])
    #expect(queue.offer([5]) == .accepted)
    #expect(told.value == 2)
  }

  @Test func fullTakesNothingAndSpaceIsAnnouncedOnceAtHalf() {
    let queue = OutputQueue(highWater: 10)
    let space = counter(queue.onSpace)
    #expect(queue.offer(pattern(8)) == .accepted)
    #expect(queue.hasSpaceAvailable)
    #expect(queue.offer(pattern(8)) == .accepted, "the offer that fills it may go beyond")
    #expect(!queue.hasSpaceAvailable)
    #expect(queue.offer([1]) == .full)
    #expect(queue.offer([1]) == .full)
    #expect(queue.queuedCount == 16)
    var buffer: [UInt8] = []
    #expect(queue.take(into: &buffer))
    #expect(buffer.count == 16)
    #expect(!queue.hasSpaceAvailable, "in the transport's hands is not written")
    queue.wrote(10)
    #expect(queue.hasSpaceAvailable)
    #expect(space.value == 0)
    queue.wrote(1)
    #expect(space.value == 1)
    queue.wrote(5)
    #expect(space.value == 1)
    #expect(queue.queuedCount == 0)
  }

  @Test func noSpaceIsAnnouncedToWhoWasNotRefused() {
    let queue = OutputQueue(highWater: 2)
    let space = counter(queue.onSpace)
    #expect(queue.offer([1, 2, 3]) == .accepted)
    var buffer: [UInt8] = []
    _ = queue.take(into: &buffer)
    queue.wrote(3)
    #expect(space.value == 0)
  }

  @Test func closeDropsWhatWaitsAndTellsWhoWasRefused() {
    let queue = OutputQueue(highWater: 2)
    let space = counter(queue.onSpace)
    _ = queue.offer([1, 2])
    #expect(queue.offer([3]) == .full)
    let error = AccessoryError.disconnected("it")
    queue.close(error)
    queue.close(nil)
    #expect(space.value == 1)
    #expect(queue.offer([4]) == .closed(error), "the first close counts")
    #expect(!queue.hasSpaceAvailable)
    #expect(queue.queuedCount == 0)
    var buffer: [UInt8] = []
    #expect(!queue.take(into: &buffer))
  }

  @Test func closeWithoutErrorTellsNobodyWhoWasNotRefused() {
    let queue = OutputQueue()
    let space = counter(queue.onSpace)
    queue.close(nil)
    #expect(queue.offer([4]) == .closed(nil))
    #expect(space.value == 0)
  }

  /// The notice is kept for who asks later.
  @Test func aLateHandlerHearsOfEarlierSpace() {
    let queue = OutputQueue(highWater: 2)
    _ = queue.offer([1, 2])
    #expect(queue.offer([3]) == .full)
    var buffer: [UInt8] = []
    _ = queue.take(into: &buffer)
    queue.wrote(2)
    let space = counter(queue.onSpace)
    #expect(space.value == 1)
    // Once.
    #expect(counter(queue.onSpace).value == 0)
    #expect(queue.offer([1, 2]) == .accepted)
    #expect(space.value == 1)
  }

  @Test func aLateHandlerHearsOfAnEarlierClose() {
    let queue = OutputQueue(highWater: 2)
    _ = queue.offer([1, 2])
    #expect(queue.offer([3]) == .full)
    queue.close(nil)
    #expect(counter(queue.onSpace).value == 1)
    #expect(counter(queue.onSpace).value == 0)
  }

  @Test func noHandlerIsCalledWhileItIsFull() {
    let queue = OutputQueue(highWater: 2)
    _ = queue.offer([1, 2])
    #expect(queue.offer([3]) == .full)
    #expect(counter(queue.onSpace).value == 0)
  }

  @Test func aSealedQueueIsClosedToProducersAndGivesWhatItHas() {
    let queue = OutputQueue(highWater: 2)
    let space = counter(queue.onSpace)
    _ = queue.offer([1, 2])
    #expect(queue.offer([3]) == .full)
    queue.seal()
    #expect(space.value == 1, "there never will be space")
    #expect(queue.offer([4]) == .closed(nil))
    #expect(!queue.hasSpaceAvailable)
    #expect(queue.queuedCount == 2)
    var buffer: [UInt8] = []
    #expect(queue.take(into: &buffer))
    #expect(buffer == [1, 2])
    queue.wrote(2)
    queue.close(.disconnected("it"))
    #expect(queue.offer([4]) == .closed(nil), "what producers were told first counts")
    #expect(space.value == 1)
  }

  @Test func anEndedOutputQueueLetsHandlersGo() {
    final class Held: Sendable {}
    let queue = OutputQueue()
    weak var held: Held?
    do {
      let object = Held()
      held = object
      queue.onSpace { withExtendedLifetime(object) {} }
      queue.onQueued { withExtendedLifetime(object) {} }
    }
    #expect(held != nil)
    queue.close(nil)
    #expect(held == nil, "a producer that holds its transport would never be freed")
  }

  @Test(.timeLimit(.minutes(Patience.minutes(5)))) func eachProducersBytesStayInOrder() async throws {
    let queue = OutputQueue(highWater: 64)
    let work = DispatchSemaphore(value: 0)
    queue.onQueued { work.signal() }
    let space = Watched(0)
    queue.onSpace { space.update { $0 += 1 } }
    let rounds = 2_000
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      group.addTask {
        // The transport: takes and writes until all four have sent everything.
        try await blocking {
          var written: [UInt8] = []
          var buffer: [UInt8] = []
          while written.count < 4 * 2 * rounds {
            work.wait()
            while queue.take(into: &buffer) {
              written += buffer
              queue.wrote(buffer.count)
            }
          }
          return written
        }
      }
      for producer in 0..<4 {
        group.addTask {
          for round in 0..<rounds {
            while true {
              let seen = space.value
              if queue.offer([UInt8(producer), UInt8(truncatingIfNeeded: round)]) == .accepted { break }
              try await space.wait { $0 > seen }
            }
          }
          return []
        }
      }
      var written: [UInt8] = []
      for try await part in group { written += part }
      for producer in 0..<4 {
        let mine = stride(from: 0, to: written.count, by: 2).filter { written[$0] == producer }.map { written[$0 + 1] }
        #expect(mine == (0..<rounds).map { UInt8(truncatingIfNeeded: $0) })
      }
    }
  }
}
