// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import Testing

@testable import BridgeService

/// The life of an attachment, step by step.
@Suite struct MachineTests {
  private static let start = MonotonicTime(nanoseconds: 1_000_000_000)
  private static let refused = AccessoryError(.permissionDenied, "no")
  private static let silent = AccessoryError(.timedOut, "silent")
  private static let gone = AccessoryError(.disconnected, "gone")
  private static let absent = AccessoryError(.disconnected, "it is not plugged in")

  private func machine(_ change: (inout AttachmentPolicies) -> Void = { _ in }) -> AttachmentMachine {
    var policies = AttachmentPolicies()
    change(&policies)
    return AttachmentMachine(policies: policies, now: Self.start)
  }

  private func attached(_ change: (inout AttachmentPolicies) -> Void = { _ in }) -> AttachmentMachine {
    var machine = machine(change)
    _ = machine.opened(now: Self.start)
    return machine
  }

  @Test func anOpenedAccessoryIsAttached() {
    var machine = machine()
    #expect(machine.state == .opening)
    #expect(machine.opened(now: Self.start) == [.reportAttached])
    #expect(machine.state == .attached)
    #expect(machine.deadline == nil && machine.tries == 0 && machine.problem == nil)
  }

  /// While udev's rules are run, permissions and links may still come: that counts as no try.
  @Test(arguments: [AccessoryError.Kind.permissionDenied, .notFound, .busy])
  func failuresRightAfterPluggingCountAsNoTry(_ kind: AccessoryError.Kind) {
    var machine = machine()
    var now = Self.start
    var openings = 1
    while now < Self.start + .seconds(2) {
      #expect(machine.openingFailed(AccessoryError(kind, "not yet"), now: now) == [])
      #expect(machine.state == .opening && machine.tries == 0)
      now = machine.deadline!
      #expect(machine.timePassed(now: now) == [.open])
      openings += 1
    }
    #expect(openings == 21)
    let error = AccessoryError(kind, "never")
    #expect(
      machine.openingFailed(error, now: now) == [.tellWaiting(error, pause: .seconds(1), try: 1, of: 3)])
    #expect(machine.state == .waiting && machine.triesLimit == 3)
  }

  // MARK: - Silence

  private static func recovering(_ policies: inout AttachmentPolicies) {
    policies.recovery = RecoveryPolicy()
    policies.recovery?.resetsBus = true
  }

  private func text(_ step: String, _ number: Int) -> AccessoryError {
    AccessoryError(.timedOut, "silent: it is \(step) and opened again (\(number) since it answered)")
  }

  /// First it is only opened again, then it is reset each time; the pauses grow up to the longest, and nothing ends it.
  @Test func aSilentDeviceIsOpenedAgainAndThenReset() {
    var machine = attached(Self.recovering)
    #expect(!machine.isSilent(after: 2))
    #expect(machine.isSilent(after: 3))
    var now = Self.start
    for (number, pause) in [5, 10, 20, 40, 80, 160, 300, 300].enumerated() {
      let error = text(number == 0 ? "closed" : "reset on its bus", number + 1)
      #expect(
        machine.ended(Self.silent, now: now) == [
          .close, .tellGone(Self.silent), .tellRecovery(error),
          .tellWaiting(error, pause: .seconds(pause), try: 1, of: nil),
        ])
      #expect(machine.deadline == now + .seconds(pause))
      now = now + .seconds(pause)
      #expect(machine.timePassed(now: now) == (number == 0 ? [.open] : [.resetBus, .open]))
      #expect(machine.opened(now: now) == [.reportAttached])
      // It has been opened, which says nothing: one silent poll is enough now.
      #expect(machine.isSilent(after: 1))
    }
    machine.proved()
    #expect(!machine.isSilent(after: 1))
    #expect(machine.ended(Self.silent, now: now).contains(.tellRecovery(text("closed", 1))))
  }

  /// A driver that makes contact finds the silence when it opens the device.
  @Test func aDeviceThatIsSilentWhenItIsOpenedIsRecovered() {
    var machine = machine(Self.recovering)
    var now = Self.start
    for number in 1...5 {
      let error = text(number == 1 ? "closed" : "reset on its bus", number)
      #expect(machine.openingFailed(Self.silent, now: now).first == .tellRecovery(error))
      #expect(machine.state == .waiting && machine.triesLimit == nil)
      now = machine.deadline!
      #expect(machine.timePassed(now: now).last == .open)
    }
  }

  @Test func whatIsNotSilentIsNotRecovered() {
    var machine = attached(Self.recovering)
    let actions = machine.ended(Self.gone, now: Self.start)
    #expect(actions == [.close, .tellGone(Self.gone), .tellWaiting(Self.gone, pause: .seconds(1), try: 1, of: 3)])
    var without = attached()
    #expect(!without.isSilent(after: 1_000))
    #expect(
      without.ended(Self.silent, now: Self.start).last == .tellWaiting(Self.silent, pause: .seconds(1), try: 1, of: 3))
    // A unit's line is shared, and has its own way.
    var policies = AttachmentPolicies()
    Self.recovering(&policies)
    let unit = AttachmentMachine(policies: policies, isUnit: true, now: Self.start)
    #expect(!unit.isSilent(after: 3))
  }

  /// One that was here and is not found any more is unplugged, also before that is told; one that was never here is not
  /// found.
  @Test func anAccessoryNotFoundAgainIsDisconnected() {
    let missing = AccessoryError(.notFound, "it is no more there")
    let now = Self.start + .seconds(10)
    var machine = attached()
    _ = machine.ended(Self.gone, now: now)
    #expect(machine.timePassed(now: now + .seconds(1)) == [.open])
    _ = machine.openingFailed(missing, now: now + .seconds(1))
    #expect(machine.state == .waiting && machine.problem?.kind == .disconnected)
    #expect(machine.problem?.message == missing.message)
    var named = self.machine()
    _ = named.openingFailed(missing, now: now)
    #expect(named.problem?.kind == .notFound)
  }

  @Test func openingIsGivenUpAfterItsTries() {
    var machine = machine { $0.retry.backoffThousandths = 2_000 }
    var now = Self.start
    for (number, pause) in [(1, 1), (2, 2), (3, 4)] {
      #expect(
        machine.openingFailed(Self.silent, now: now)
          == [.tellWaiting(Self.silent, pause: .seconds(pause), try: number, of: 3)])
      #expect(machine.deadline == now + .seconds(pause))
      now = machine.deadline!
      #expect(machine.timePassed(now: now) == [.open])
      #expect(machine.state == .opening)
    }
    #expect(machine.openingFailed(Self.silent, now: now) == [.tellFailed(Self.silent)])
    #expect(machine.state == .failed && machine.deadline == nil && machine.problem == Self.silent)
    #expect(machine.plugged(now: now) == [.open])
    #expect(machine.tries == 0)
  }

  @Test func nothingIsTriedAgainWhenThatIsOff() {
    var machine = machine { $0.retry.isEnabled = false }
    #expect(machine.openingFailed(Self.silent, now: Self.start) == [.tellFailed(Self.silent)])
    #expect(machine.state == .failed)
  }

  @Test func timeBeforeTheDeadlineDoesNothing() {
    var machine = machine()
    _ = machine.openingFailed(Self.silent, now: Self.start)
    #expect(machine.timePassed(now: Self.start + .milliseconds(999)) == [])
    #expect(machine.timePassed(now: Self.start + .seconds(1)) == [.open])
    #expect(machine.timePassed(now: Self.start + .seconds(1)) == [])
  }

  /// One that is unplugged is awaited as its policy says, and then forgotten.
  @Test func anUnpluggedAccessoryIsAwaitedAndThenForgotten() {
    var machine = attached()
    #expect(machine.unplugged(Self.gone, now: Self.start) == [.end])
    #expect(machine.state == .attached)
    #expect(
      machine.ended(Self.gone, now: Self.start)
        == [.close, .tellGone(Self.gone), .tellWaiting(Self.gone, pause: .seconds(1), try: 1, of: 3)])
    #expect(machine.state == .waiting)
    var now = machine.deadline!
    for number in 2...3 {
      #expect(
        machine.timePassed(now: now) == [.tellWaiting(Self.absent, pause: .seconds(1), try: number, of: 3)])
      now = machine.deadline!
    }
    #expect(machine.timePassed(now: now) == [.tellFailed(Self.absent), .forget])
  }

  @Test func anAwaitedAccessoryIsOpenedWhenItReturns() {
    var machine = attached()
    _ = machine.unplugged(Self.gone, now: Self.start)
    _ = machine.ended(Self.gone, now: Self.start)
    #expect(machine.plugged(now: Self.start + .milliseconds(500)) == [.open])
    #expect(machine.state == .opening && machine.deadline == nil)
    #expect(machine.opened(now: Self.start + .seconds(1)) == [.reportAttached])
    #expect(machine.problem == nil && machine.tries == 0)
  }

  /// Who waits for ever for what is told by an event needs no timer.
  @Test func waitingForEverNeedsNoTimer() {
    var machine = attached { $0.reconnect.tries = nil }
    _ = machine.unplugged(Self.gone, now: Self.start)
    #expect(
      machine.ended(Self.gone, now: Self.start).last
        == .tellWaiting(Self.gone, pause: .seconds(1), try: 1, of: nil))
    #expect(machine.deadline == nil)
    #expect(machine.plugged(now: Self.start + .seconds(500)) == [.open])

    // The link ended first: there is a try to be made, until it is known that nothing is plugged in.
    machine = attached { $0.reconnect.tries = nil }
    _ = machine.ended(Self.gone, now: Self.start)
    #expect(machine.deadline == Self.start + .seconds(1))
    #expect(machine.unplugged(Self.gone, now: Self.start) == [])
    #expect(machine.deadline == nil && machine.state == .waiting)
  }

  // MARK: - On the air

  private static func withoutLimit(_ policies: inout AttachmentPolicies) {
    for policy in [\AttachmentPolicies.reconnect, \.retry] {
      (policies[keyPath: policy].tries, policies[keyPath: policy].backoffThousandths) = (nil, 2_000)
    }
  }

  /// A device that leaves at once each time: neither its links nor that it is heard shorten the pauses. It leaves while it is opened,
  /// or soon after.
  @Test(arguments: [false, true]) func theOwnConnectionDoesNotShortenThePauses(isOpened: Bool) {
    var machine = machine(Self.withoutLimit)
    var now = Self.start
    for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
      if isOpened {
        #expect(machine.opened(now: now) == [.reportAttached])
        now = now + .milliseconds(300)
        _ = machine.ended(Self.gone, now: now)
      } else {
        _ = machine.openingFailed(Self.gone, wasInReach: now == Self.start, now: now)
      }
      #expect(machine.state == .waiting && machine.deadline == now + .seconds(pause))
      // bluetoothd forgets it, and it is heard again at once.
      _ = machine.unplugged(Self.gone, now: now)
      #expect(machine.deadline == nil)
      #expect(machine.heard(now: now) == [])
      #expect(machine.heard(now: now) == [] && machine.deadline == now + .seconds(pause))
      now = machine.deadline!
      #expect(machine.timePassed(now: now) == [.open])
    }
    // It answers now: what is lost afterwards is opened soon again, and as soon as it is heard.
    _ = machine.opened(now: now)
    machine.proved()
    _ = machine.ended(Self.gone, now: now)
    #expect(machine.deadline == now + .seconds(1) && machine.tries == 1)
    #expect(machine.heard(now: now) == [.open])
  }

  /// Also without an answer: it carries bytes for somebody, or is quiet.
  @Test func aLinkThatHasStoodIsOfUse() {
    var machine = attached(Self.withoutLimit)
    for _ in 0..<3 {
      _ = machine.ended(Self.gone, now: Self.start)
      _ = machine.timePassed(now: machine.deadline!)
      _ = machine.opened(now: Self.start)
    }
    let end = Self.start + GrowingPauses.proof
    _ = machine.ended(Self.gone, now: end)
    #expect(machine.deadline == end + .seconds(1) && machine.heard(now: end) == [.open])
  }

  /// A device that couldn't be reached is opened as soon as it is heard; its pauses go on growing where it still can't be.
  @Test func whatWasOutOfReachIsOpenedWhenItIsHeard() {
    var machine = machine(Self.withoutLimit)
    for number in 1...3 {
      // Without bluetoothd it isn't heard, either.
      _ = machine.openingFailed(number == 2 ? Self.gone : Self.silent, now: Self.start)
      #expect(machine.tries == number && machine.heard(now: Self.start) == [.open])
    }
  }

  @Test func withoutReconnectingAnUnpluggedOneIsForgotten() {
    var machine = attached { $0.reconnect.isEnabled = false }
    _ = machine.unplugged(Self.gone, now: Self.start)
    #expect(
      machine.ended(Self.gone, now: Self.start)
        == [.close, .tellGone(Self.gone), .tellFailed(Self.gone), .forget])
  }

  /// The cable is pulled while it is being opened: what the opening comes to is still awaited.
  @Test func anUnplugWhileOpeningIsAwaited() {
    var machine = machine()
    #expect(machine.unplugged(Self.gone, now: Self.start) == [])
    var other = machine
    #expect(machine.opened(now: Self.start).first == .close)
    #expect(machine.state == .waiting)
    _ = other.openingFailed(Self.refused, now: Self.start)
    #expect(other.state == .waiting)
    // Plugged in again before the first opening has ended: that one counts.
    other = self.machine()
    _ = other.unplugged(Self.gone, now: Self.start)
    #expect(other.plugged(now: Self.start) == [])
    #expect(other.opened(now: Self.start) == [.reportAttached])
  }

  @Test func anUnpluggedFailedAccessoryIsForgotten() {
    var machine = machine { $0.retry.isEnabled = false }
    _ = machine.openingFailed(Self.silent, now: Self.start)
    #expect(machine.unplugged(Self.gone, now: Self.start) == [.forget])
  }

  @Test func aLentAccessoryIsOpenedAgainWhenReturned() {
    var machine = attached()
    var isLent = machine.lend()
    #expect(isLent && machine.state == .lent)
    isLent = machine.lend()
    #expect(!isLent)
    #expect(machine.ended(Self.gone, now: Self.start) == [])
    #expect(machine.returned(nil, now: Self.start) == [.open])
    #expect(machine.state == .opening)
  }

  @Test func anUnplugWhileLentIsToldWhenReturned() {
    var machine = attached()
    _ = machine.lend()
    #expect(machine.unplugged(Self.gone, now: Self.start) == [.end])
    #expect(machine.state == .lent)
    #expect(
      machine.returned(nil, now: Self.start)
        == [.tellGone(Self.absent), .tellWaiting(Self.absent, pause: .seconds(1), try: 1, of: 3)])
  }

  /// Its client saw it go, and nobody has told so far: it is gone, and comes back as another contact.
  @Test func anAccessoryGoneWhileLentIsOpenedAgain() {
    var machine = attached()
    _ = machine.lend()
    #expect(
      machine.returned(Self.gone, now: Self.start)
        == [.tellGone(Self.gone), .tellWaiting(Self.gone, pause: .seconds(1), try: 1, of: 3)])
    #expect(machine.state == .waiting && machine.isPresent)
    #expect(machine.timePassed(now: Self.start + .seconds(1)) == [.open])
  }

  @Test func onlyWhatIsAttachedIsLent() {
    var machine = machine()
    var isLent = machine.lend()
    #expect(!isLent)
    _ = machine.openingFailed(Self.silent, now: Self.start)
    isLent = machine.lend()
    #expect(!isLent)
  }

  @Test func aRestingAccessoryIsWoken() {
    var machine = attached()
    #expect(machine.rest() == [.close])
    #expect(machine.state == .waiting && machine.isResting && machine.deadline == nil)
    #expect(machine.wake(now: Self.start) == [.open])
    #expect(machine.state == .opening && !machine.isResting)
    _ = machine.opened(now: Self.start)
    _ = machine.rest()
    let isLent = machine.lend()
    #expect(isLent)
    _ = machine.returned(nil, now: Self.start)
    _ = machine.opened(now: Self.start)
    _ = machine.rest()
    #expect(machine.unplugged(Self.gone, now: Self.start) == [.forget])
  }

  /// One that gives its connection to others is opened again when its turn comes, and looked for then if it went away meanwhile.
  @Test func aRestUntilATimeEndsThen() {
    var machine = attached()
    #expect(machine.rest(until: Self.start + .seconds(20)) == [.close])
    #expect(machine.isResting && machine.deadline == Self.start + .seconds(20) && machine.tries == 0)
    #expect(machine.timePassed(now: Self.start + .seconds(19)) == [])
    #expect(machine.timePassed(now: Self.start + .seconds(20)) == [.open])
    _ = machine.opened(now: Self.start)
    _ = machine.rest(until: Self.start + .seconds(50))
    #expect(machine.unplugged(Self.gone, now: Self.start) == [])
    let later = machine.timePassed(now: Self.start + .seconds(50))
    #expect(later.contains { if case .tellWaiting = $0 { true } else { false } })
    #expect(machine.plugged(now: Self.start) == [.open])
  }

  /// The line is lent while one on it is being opened: that try comes to nothing, and another one follows.
  @Test func aLineLentWhileOpeningIsOpenedAgain() {
    var machine = AttachmentMachine(policies: AttachmentPolicies(), isUnit: true, now: Self.start)
    #expect(machine.state == .opening)
    let isLent = machine.lendLine()
    #expect(isLent && machine.state == .lent)
    #expect(machine.returned(nil, now: Self.start) == [.open])
    #expect(machine.opened(now: Self.start) == [.reportAttached])
  }

  @Test func aRefusedAccessoryIsOpenedOnceThereIsRoom() {
    var machine = AttachmentMachine(refused: Self.refused, policies: AttachmentPolicies(), now: Self.start)
    #expect(machine.state == .failed && machine.isRefused && machine.problem == Self.refused)
    #expect(machine.plugged(now: Self.start) == [.open])
    #expect(!machine.isRefused)
  }

  /// One of several on a line that keeps silent is asked for ever, less and less often; without its line it is like any other.
  @Test func aSilentUnitIsAskedLessAndLessOften() {
    var machine = AttachmentMachine(policies: AttachmentPolicies(), isUnit: true, now: Self.start)
    var now = Self.start
    var pauses: [Duration] = []
    for number in 1...9 {
      guard case .tellWaiting(_, let pause, number, nil) = machine.openingFailed(Self.silent, now: now).first else {
        Issue.record("try \(number)")
        return
      }
      #expect(machine.state == .waiting && machine.problem == Self.silent)
      pauses.append(pause)
      now = now + pause
      #expect(machine.timePassed(now: now) == [.open])
    }
    #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300].map { .seconds($0) })
    // It answers, and keeps silent again.
    #expect(machine.opened(now: now) == [.reportAttached])
    #expect(
      machine.ended(Self.silent, now: now) == [
        .close, .tellGone(Self.silent), .tellWaiting(Self.silent, pause: .seconds(5), try: 1, of: nil),
      ])
    // The line is pulled: nothing is told of one that was not attached, and it is given up like any other.
    #expect(machine.unplugged(Self.gone, now: now) == [])
    for _ in 0..<10 {
      guard let deadline = machine.deadline else { break }
      now = deadline
      if machine.timePassed(now: now).contains(.forget) { return }
    }
    Issue.record("it is waited for although its line is gone")
  }
}
