// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

@testable import AccessorySimulator

/// When the accessory of a recording does what, by times that the test makes up.
struct ReplayPlayerTests {
  private typealias Action = ReplayPlayer.Action

  private func script(_ steps: (Int, ReplayScript.Step)...) throws -> ReplayScript {
    var script = ReplayScript()
    for (milliseconds, step) in steps { try script.add(step, at: .milliseconds(milliseconds)) }
    return script
  }

  private func at(_ milliseconds: Int) -> MonotonicTime {
    MonotonicTime(nanoseconds: 5_000_000_000 + Int64(milliseconds) * 1_000_000)
  }

  private func conversation() throws -> ReplayScript {
    try script(
      (10, .host([1, 2])), (14, .accessory([3])), (200, .accessory([4])), (300, .host([5])), (302, .accessory([6])))
  }

  @Test func answersComeAsLongAfterTheRequestAsRecorded() throws {
    var player = ReplayPlayer(try conversation())
    player.hostCame(at: at(0), pause: .zero)
    #expect(player.next(at: at(900)) == nil && player.deadline == nil, "it is the host's turn")
    player.take([1])
    #expect(player.next(at: at(950)) == nil, "half of it")
    player.take([2])
    #expect(player.next(at: at(1_000)) == nil)
    #expect(player.deadline == at(1_004))
    #expect(player.next(at: at(1_004)) == .send([3]))
    #expect(player.deadline == at(1_190))
    // Late by 7 ms: what follows isn't later for that.
    #expect(player.next(at: at(1_197)) == .send([4]))
    player.take([5])
    #expect(player.next(at: at(1_500)) == nil)
    #expect(player.next(at: at(1_502)) == .send([6]))
    #expect(player.isOver && player.host.difference == nil)
  }

  @Test func aHostThatIsAheadIsAnsweredAtOnce() throws {
    var player = ReplayPlayer(try conversation())
    player.hostCame(at: at(0))
    player.take([1, 2, 5])
    #expect(player.next(at: at(1)) == .send([3]))
    #expect(player.next(at: at(1)) == .send([4]))
    #expect(player.next(at: at(1)) == nil)
    #expect(player.deadline == at(3), "the answer to the last request takes its time")
    #expect(player.next(at: at(3)) == .send([6]))
  }

  @Test func speedScalesThePauses() throws {
    var player = ReplayPlayer(try conversation(), speed: .times(10))
    player.hostCame(at: at(0), pause: .zero)
    player.take([1, 2])
    #expect(player.next(at: at(0)) == nil)
    #expect(player.deadline == at(0) + .microseconds(400))
    #expect(player.next(at: at(1)) == .send([3]))
    #expect(player.deadline == at(19))
    var hurried = ReplayPlayer(try conversation(), speed: .atOnce)
    hurried.hostCame(at: at(0), pause: .zero)
    hurried.take([1, 2])
    #expect(hurried.next(at: at(0)) == .send([3]))
    #expect(hurried.next(at: at(0)) == .send([4]))
    #expect(hurried.next(at: at(0)) == nil)
    #expect(ReplaySpeed.times(0.001).pause(.seconds(1 << 40)) == .nanoseconds(Int64.max))
  }

  @Test func whatTheAccessorySendsWaitsForAHost() throws {
    var player = ReplayPlayer(
      try script((100, .accessory([1])), (200, .accessory([2])), (300, .accessory([3])), (900, .accessory([4]))))
    #expect(player.deadline == nil && player.next(at: at(10_000)) == nil)
    player.hostCame(at: at(10_000), pause: .zero)
    #expect(player.next(at: at(10_100)) == .send([1]))
    player.hostWent()
    #expect(player.deadline == nil && player.next(at: at(20_000)) == nil)
    player.hostCame(at: at(30_000))
    #expect(player.deadline == at(30_100), "who opens a line may throw away what comes at once")
    #expect(player.next(at: at(30_100)) == .send([2]))
    #expect(player.next(at: at(30_200)) == .send([3]))
    player.hostWent()
    player.hostCame(at: at(30_300))
    #expect(player.deadline == at(30_800), "one that comes before it is time changes nothing")
    #expect(player.next(at: at(30_800)) == .send([4]))
    #expect(player.isOver)
  }

  @Test func withoutAHostItIsUnpluggedAllTheSame() throws {
    var player = ReplayPlayer(try script((0, .host([1])), (90, .unplug), (95, .plugIn), (99, .accessory([2]))))
    player.hostCame(at: at(0))
    player.take([1])
    player.hostWent()
    #expect(player.next(at: at(5)) == nil)
    #expect(player.next(at: at(95)) == .unplug)
    #expect(player.next(at: at(100)) == .plugIn)
    #expect(player.next(at: at(900)) == nil && player.deadline == nil)
    player.hostCame(at: at(1_000), pause: .zero)
    #expect(player.next(at: at(1_000)) == .send([2]))
  }

  @Test func aHostThatLeavesBehindItsLastBytesEndsTheReplay() throws {
    var player = ReplayPlayer(try script((0, .host([1]))))
    player.hostCame(at: at(0))
    player.hostWent()
    player.take([1])
    #expect(player.next(at: at(2)) == nil && player.isOver)
  }

  @Test func aReplayPlugsAndUnplugsAtItsTimes() throws {
    let script = try script(
      (0, .host([1])), (1, .accessory([2])), (1, .unplug), (500, .plugIn), (600, .accessory([3])), (700, .host([4])))
    var player = ReplayPlayer(script, speed: .times(1))
    player.hostCame(at: at(0), pause: .zero)
    player.take([1])
    #expect(player.next(at: at(0)) == nil)
    #expect(player.next(at: at(1)) == .send([2]))
    #expect(player.next(at: at(2)) == nil && player.deadline == at(201), "the host has time to read what it was sent")
    #expect(player.next(at: at(201)) == .unplug)
    #expect(player.deadline == at(700))
    #expect(player.next(at: at(700)) == .plugIn)
    #expect(player.next(at: at(700)) == nil && player.deadline == nil, "nobody is there")
    player.hostCame(at: at(1_000))
    #expect(player.next(at: at(1_099)) == nil)
    #expect(player.next(at: at(1_100)) == .send([3]))
    player.take([4])
    #expect(player.next(at: at(1_100)) == nil && player.isOver)
  }

  @Test func whatComesBeforeAnUnplugIsNotTakenForWhatComesBehindIt() throws {
    let script = try script((0, .host([1])), (9, .unplug), (10, .plugIn), (20, .host([2])))
    var player = ReplayPlayer(script)
    player.take([1, 2])
    #expect(player.host.difference?.reason == .tooMuch)
    #expect(player.host.difference?.offset == 1 && player.host.difference?.got == [2])
  }

  @Test func behindALossNothingIsCompared() throws {
    let script = try script(
      (0, .host([1])), (5, .loss(byteCount: 70)), (6, .host([2])), (10, .accessory([3])), (20, .host([4])))
    var player = ReplayPlayer(script)
    player.hostCame(at: at(0), pause: .zero)
    player.take([1, 9, 9])
    #expect(player.next(at: at(0)) == nil)
    #expect(player.next(at: at(5)) == .lose(byteCount: 70))
    #expect(player.next(at: at(5)) == nil && player.deadline == at(10))
    player.take([7, 7])
    #expect(player.next(at: at(10)) == .send([3]))
    #expect(player.next(at: at(10)) == nil && player.isOver && player.host.difference == nil)
  }

  @Test func aScriptMakesSenseOfAnyOrder() throws {
    var script = ReplayScript()
    try script.add(.unplug, at: .zero)
    try script.add(.plugIn, at: .zero)
    try script.add(.host([1]), at: .milliseconds(50))
    try script.add(.accessory([]), at: .milliseconds(51))
    try script.add(.accessory([2]), at: .milliseconds(20))
    try script.add(.unplug, at: .milliseconds(60))
    try script.add(.unplug, at: .milliseconds(61))
    try script.add(.accessory([3]), at: .milliseconds(70))
    #expect(script.steps.map(\.step) == [.host([1]), .accessory([2]), .unplug, .plugIn, .accessory([3])])
    #expect(script.steps.map(\.time.inMilliseconds) == [50, 50, 60, 70, 70])
    let piece = [UInt8](repeating: 0, count: ReplayScript.byteLimit / 2)
    try script.add(.host(piece), at: .seconds(1))
    #expect(throws: AccessoryError.self) { try script.add(.host(piece), at: .seconds(1)) }
  }
}
