// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AccessoryIO

/// When the consumer of a stream is told, without a device.
@Suite struct WakePolicyTests {
  @Test func oneThatIsNotFullIsToldBehindItsBatch() {
    var policy = WakePolicy(limit: 100)
    policy.arrived(10, isFull: false)
    #expect(policy.batchEnded(isPaused: false) == .notify)
    #expect(policy.batchEnded(isPaused: false) == .nothing, "once")
    #expect(policy.looked(isMoreComing: false) == .nothing)
  }

  @Test func aBatchWithNothingTellsNothing() {
    var policy = WakePolicy(limit: 100)
    policy.arrived(nil, isFull: false)
    #expect(policy.batchEnded(isPaused: false) == .nothing)
    policy.arrived(0, isFull: false)
    #expect(policy.batchEnded(isPaused: false) == .notify, "an empty message is one")
  }

  @Test func fullOnesWaitUntilNoMoreComes() {
    var policy = WakePolicy(limit: 100)
    policy.arrived(20, isFull: true)
    #expect(policy.batchEnded(isPaused: false) == .look)
    #expect(policy.looked(isMoreComing: true) == .awaitBatch)
    policy.arrived(20, isFull: true)
    #expect(policy.batchEnded(isPaused: false) == .look)
    #expect(policy.looked(isMoreComing: false) == .notify)
    #expect(policy.looked(isMoreComing: false) == .nothing)
  }

  @Test func aStreamIsToldWhenAllTransfersHaveBeenRound() {
    var policy = WakePolicy(limit: 40)
    policy.arrived(20, isFull: true)
    #expect(policy.batchEnded(isPaused: false) == .look)
    policy.arrived(20, isFull: true)
    #expect(policy.batchEnded(isPaused: false) == .notify)
  }

  @Test(arguments: [true, false]) func theEndOfAStreamIsToldAtOnce(isLast: Bool) {
    var policy = WakePolicy(limit: 100)
    // In either order: libusb hands over both directions' transfers, and a full one may follow the message's end.
    policy.arrived(20, isFull: isLast)
    policy.arrived(20, isFull: !isLast)
    #expect(policy.batchEnded(isPaused: false) == .notify)
  }

  @Test func aPauseIsToldAtOnce() {
    var policy = WakePolicy(limit: 100)
    policy.arrived(20, isFull: true)
    #expect(policy.batchEnded(isPaused: true) == .notify)
  }
}
