// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// The state machine of one attachment. It has no clock and does no I/O: its owner reports events, carries out the
/// actions that are returned, and calls `timePassed` at the deadline.
///
/// The states are those of the control socket's protocol: `opening`, `attached`, `lent`, `waiting`, `failed`.
struct AttachmentMachine: Sendable, Equatable {
  typealias State = Bridge.AttachmentState

  /// What the owner is to do.
  enum Action: Sendable, Equatable {
    /// Open the device and make contact; then report `opened` or `openingFailed`.
    case open
    /// Reset the device on its bus before the `open` that follows.
    case resetBus
    /// Report what is done with a silent device, as the error says.
    case tellRecovery(AccessoryError)
    /// Close the device.
    case close
    /// End the link because the device is gone; then report `ended`.
    case end
    /// Report that the accessory is attached.
    case reportAttached
    /// Report that an attached accessory is no longer attached.
    case tellGone(AccessoryError)
    /// Report that the next attempt follows after a pause, with its number and the number of attempts that the policy allows (nil: no
    /// limit).
    case tellWaiting(AccessoryError, pause: Duration, try: Int, of: Int?)
    /// Report that there are no more tries.
    case tellFailed(AccessoryError)
    /// Remove the attachment.
    case forget
  }

  private(set) var state = State.opening
  private var pauses = GrowingPauses()
  /// The number of tries since the last success.
  var tries: Int { pauses.tries }
  /// The recoveries since the device answered last, of a device that is there and silent.
  private(set) var recoveries = 0
  /// Whether the next opening begins with a reset.
  private var mustReset = false
  /// How many tries the policy allows; nil for no limit.
  private(set) var triesLimit: Int?
  /// Why the accessory isn't attached.
  private(set) var problem: AccessoryError?
  /// When `timePassed` is to be called.
  private(set) var deadline: MonotonicTime?
  /// Whether the device was closed because it was idle. It is opened again for the next call.
  private(set) var isResting = false
  /// Whether the device is plugged in, as far as is known.
  private(set) var isPresent = true
  /// Whether the device isn't opened because the limit of attached accessories is reached.
  private(set) var isRefused = false
  /// Whether it is to be opened as soon as fewer accessories are attached.
  var awaitsPlace: Bool { state == .failed && isRefused && isPresent }
  /// Whether an `open` is in progress.
  private(set) var isOpening = false
  private(set) var hasBeenAttached = false
  /// Whether the last link has ended without use: the device was connected, and left before it answered or had stayed for a while.
  private var hasQuit = false
  /// Whether the accessory is one of several units on a line. The line stays when a unit doesn't answer, so a unit is
  /// tried without limit.
  private let isUnit: Bool
  /// Until this time, an opening that fails because udev hasn't finished is repeated and doesn't count as a try.
  private var graceEnd: MonotonicTime
  private var policies: AttachmentPolicies

  /// How long after plugging in a device's permissions and names may still change: udev's rules run in this time, and
  /// other programs that probe new devices (ModemManager) close them.
  static let grace = Duration.seconds(2)
  /// The pause between tries during `grace`.
  static let graceInterval = Duration.milliseconds(100)

  /// The policy for a unit that doesn't answer while its line is there: no limit of tries, with growing pauses.
  static let silence: RetryPolicy = {
    var policy = RetryPolicy()
    (policy.tries, policy.interval, policy.backoffThousandths) = (nil, .seconds(5), 2_000)
    policy.longestInterval = .seconds(300)
    return policy
  }()

  /// A device that was just plugged in, or a unit on a line. The owner opens it first.
  init(policies: AttachmentPolicies, isUnit: Bool = false, now: MonotonicTime) {
    self.policies = policies
    self.isUnit = isUnit
    graceEnd = now + Self.grace
    isOpening = true
  }

  /// A device that isn't opened, because the limit of attached accessories is reached.
  init(refused problem: AccessoryError, policies: AttachmentPolicies, isUnit: Bool = false, now: MonotonicTime) {
    self.init(policies: policies, isUnit: isUnit, now: now)
    isOpening = false
    state = .failed
    isRefused = true
    self.problem = problem
  }

  // MARK: - Opening

  mutating func opened(now: MonotonicTime) -> [Action] {
    isOpening = false
    guard state == .opening else { return [.close] }
    guard isPresent else { return [.close] + tryAgain(Self.absent, now: now) }
    state = .attached
    (problem, deadline) = (nil, nil)
    pauses.opened(now: now)
    hasBeenAttached = true
    // A limit counts the tries for one loss. Growing pauses are for what is lost again and again.
    if policies.reconnect.tries != nil { pauses.reset() }
    return [.reportAttached]
  }

  /// `wasInReach`: it is a device on the air that could be heard when the opening began.
  mutating func openingFailed(
    _ error: AccessoryError, wasInReach: Bool = false, now: MonotonicTime
  ) -> [Action] {
    isOpening = false
    guard state == .opening else { return [] }
    if isPresent, now < graceEnd, Self.mayPass(error.kind) {
      problem = error
      deadline = min(now + Self.graceInterval, graceEnd)
      return []
    }
    hasQuit = error.kind == .disconnected && (wasInReach || hasQuit)
    // A device that was there before and isn't found now counts as unplugged, although udev hasn't reported that yet.
    let isGone = error.kind == .notFound && (hasBeenAttached || !isPresent)
    return tryAgain(isGone ? AccessoryError(.disconnected, code: error.code, error.message) : error, now: now)
  }

  /// Whether an error may disappear when udev has processed the device.
  private static func mayPass(_ kind: AccessoryError.Kind) -> Bool {
    [.permissionDenied, .notFound, .busy].contains(kind)
  }

  private static let absent = AccessoryError(.disconnected, "it is not plugged in")

  // MARK: - Trying again

  private var policy: RetryPolicy { hasBeenAttached ? policies.reconnect : policies.retry }

  private mutating func tryAgain(_ error: AccessoryError, now: MonotonicTime) -> [Action] {
    if let policy = policies.recovery, isPresent, !isUnit, error.kind == .timedOut {
      return recover(policy, error, now: now)
    }
    problem = error
    let isSilent = isUnit && isPresent && error.kind == .timedOut
    let policy = isSilent ? Self.silence : policy
    guard let pause = pauses.next(policy) else {
      deadline = nil
      guard isPresent else { return [.tellFailed(error), .forget] }
      state = .failed
      return [.tellFailed(error)]
    }
    triesLimit = policy.tries
    state = .waiting
    isResting = false
    // Without a limit of tries, an absent device needs no timer: its source reports when it is back.
    deadline = isPresent || policy.tries != nil ? now + pause : nil
    return [.tellWaiting(error, pause: pause, try: tries, of: policy.tries)]
  }

  /// The device is there and doesn't answer: opens it again after a pause, from the second time on after a reset.
  private mutating func recover(_ policy: RecoveryPolicy, _ error: AccessoryError, now: MonotonicTime) -> [Action] {
    recoveries += 1
    mustReset = policy.resetsBus && recoveries > 1
    let error = AccessoryError(
      .timedOut, code: error.code,
      "\(error.message): it is \(mustReset ? "reset on its bus" : "closed") and opened again (\(recoveries) since it answered)"
    )
    problem = error
    pauses.count()
    (triesLimit, state, isResting) = (nil, .waiting, false)
    let pause = policy.pause(before: recoveries)
    deadline = now + pause
    return [.tellRecovery(error), .tellWaiting(error, pause: pause, try: tries, of: nil)]
  }

  /// Whether a device that has left this many polls in a row unanswered counts as silent. After a recovery one is enough.
  func isSilent(after silences: Int) -> Bool {
    guard let policy = policies.recovery, !isUnit, silences > 0 else { return false }
    return silences >= (recoveries > 0 ? 1 : policy.polls)
  }

  /// The device has answered, or its link has stood for a while: it is of use.
  mutating func proved() {
    pauses.proved()
    (recoveries, hasQuit) = (0, false)
  }

  mutating func timePassed(now: MonotonicTime) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    self.deadline = nil
    switch state {
    case .opening: return isOpening ? [] : open()
    case .waiting: return isPresent ? open() : tryAgain(Self.absent, now: now)
    case .attached, .lent, .failed: return []
    }
  }

  private mutating func open() -> [Action] {
    state = .opening
    (isResting, isRefused) = (false, false)
    deadline = nil
    guard !isOpening else { return [] }
    isOpening = true
    defer { mustReset = false }
    return mustReset ? [.resetBus, .open] : [.open]
  }

  // MARK: - Plugging and unplugging

  /// The link has ended by itself.
  mutating func ended(_ error: AccessoryError, now: MonotonicTime) -> [Action] {
    guard state == .attached else { return [] }
    hasQuit = pauses.ended(now: now).map { $0 < GrowingPauses.proof } ?? false
    return [.close, .tellGone(error)] + tryAgain(error, now: now)
  }

  /// The device was unplugged.
  mutating func unplugged(_ error: AccessoryError, now: MonotonicTime) -> [Action] {
    isPresent = false
    switch state {
    case .attached, .lent: return [.end]
    case .opening where isOpening: return []
    case .opening: return tryAgain(error, now: now)
    case .failed: return [.forget]
    case .waiting:
      // One whose turn comes again is looked for then.
      if isResting { return deadline == nil ? [.forget] : [] }
      if policy.tries == nil { deadline = nil }
      return []
    }
  }

  /// The device is back, or a client asks for a try at once.
  mutating func plugged(now: MonotonicTime) -> [Action] {
    isPresent = true
    switch state {
    case .attached, .lent: return []
    case .opening, .waiting, .failed:
      graceEnd = now + Self.grace
      pauses.reset()
      return open()
    }
  }

  /// The device, which is on the air, can be heard again: it is opened at once. What was connected and left by itself wasn't away, so it
  /// keeps its pause.
  mutating func heard(now: MonotonicTime) -> [Action] {
    let before = pauses
    guard state == .waiting, hasQuit, let pause = policy.pause(beforeTry: tries) else {
      defer { if policy.tries == nil { pauses = before } }
      return plugged(now: now)
    }
    isPresent = true
    deadline = deadline ?? now + pause
    return []
  }

  // MARK: - Lending

  /// Lends the accessory; false when it isn't attached. The caller then closes the device, and opens it for the client.
  mutating func lend() -> Bool {
    guard state == .attached || isResting else { return false }
    (state, deadline, isResting, problem) = (.lent, nil, false, nil)
    return true
  }

  /// Lends the whole line that the unit is on; false when the line isn't there, or is lent already.
  mutating func lendLine() -> Bool {
    guard isPresent, state != .lent else { return false }
    (state, deadline, isResting, problem) = (.lent, nil, false, nil)
    // An opening in progress is cancelled, and its result isn't reported.
    isOpening = false
    return true
  }

  /// The loan is over and the device is closed. `error` is nil when the client has returned the accessory, and the
  /// reason when it was unplugged.
  mutating func returned(_ error: AccessoryError?, now: MonotonicTime) -> [Action] {
    guard state == .lent else { return [] }
    hasBeenAttached = hasBeenAttached || !isUnit
    if let error = isPresent ? error : Self.absent { return [.tellGone(error)] + tryAgain(error, now: now) }
    pauses.reset()
    graceEnd = now + Self.grace
    return open()
  }

  // MARK: - Idle closing

  /// The accessory was idle for as long as the policy allows, or gives its connection to others until `time`.
  mutating func rest(until time: MonotonicTime? = nil) -> [Action] {
    guard state == .attached else { return [] }
    (state, isResting, deadline, triesLimit) = (.waiting, true, time, nil)
    return [.close]
  }

  /// A client needs the accessory: opens it if it was closed because it was idle.
  mutating func wake(now: MonotonicTime) -> [Action] { isResting ? plugged(now: now) : [] }
}
