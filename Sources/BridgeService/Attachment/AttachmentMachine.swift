// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers

/// The state machine of one attachment. It has no clock and does no I/O: its owner reports events, carries out the
/// actions that it returns, and calls `timePassed` at its deadline.
///
/// The states are those of the interface: `opening`, `attached`, `lent`, `waiting`, `failed`.
struct AttachmentMachine: Sendable, Equatable {
  typealias State = Bridge.AttachmentState

  /// What is to be done.
  enum Action: Sendable, Equatable {
    /// Open the device and make contact; then report `opened` or `openingFailed`.
    case open
    /// Close the device.
    case close
    /// End the link, since the device is gone; then report `ended`.
    case end
    /// The accessory is attached.
    case tellAttached
    /// It was attached and is no more.
    case tellGone(AccessoryError)
    /// It is tried again after a pause: the number of this try, and of those that the policy allows (nil: any number).
    case tellWaiting(AccessoryError, pause: Duration, try: Int, of: Int?)
    /// It is tried no more.
    case tellFailed(AccessoryError)
    /// There is nothing left to hold: forget it.
    case forget
  }

  private(set) var state = State.opening
  /// Tries since the last success.
  private(set) var tries = 0
  /// How many tries there will be; nil where it is tried for ever.
  private(set) var triesLimit: Int?
  /// Why it isn't attached.
  private(set) var problem: AccessoryError?
  /// When `timePassed` is to be called.
  private(set) var deadline: MonotonicTime?
  /// It was closed because it was idle, and is opened again for the next call.
  private(set) var isResting = false
  /// The device is plugged in, as far as is known.
  private(set) var isPresent = true
  /// It was not opened, or not again, because there are too many.
  private(set) var isRefused = false
  /// An `open` is under way.
  private(set) var isOpening = false
  private var hasBeenAttached = false
  /// It is one of several units on a line. The line is there even when the unit doesn't answer, so it is tried for
  /// ever.
  private let isUnit: Bool
  /// Until this time, an opening that fails because udev hasn't finished is repeated without counting as a try.
  private var graceEnd: MonotonicTime
  private var policies: AttachmentPolicies

  /// How long after plugging in permissions and names may still change: udev's rules are run meanwhile, and other
  /// programs that look at new devices (ModemManager) let go of them.
  static let grace = Duration.seconds(2)
  /// The pause between tries within that time.
  static let graceInterval = Duration.milliseconds(100)

  /// How often a unit is asked again that keeps silent while its line is there: for ever, and less and less often.
  static let silence: RetryPolicy = {
    var policy = RetryPolicy()
    (policy.tries, policy.interval, policy.backoffThousandths) = (nil, .seconds(5), 2_000)
    policy.longestInterval = .seconds(300)
    return policy
  }()

  /// A device that was just plugged in, or one of several on a line; the first action is to open it.
  init(policies: AttachmentPolicies, isUnit: Bool = false, now: MonotonicTime) {
    self.policies = policies
    self.isUnit = isUnit
    graceEnd = now + Self.grace
    isOpening = true
  }

  /// As above, for a device that isn't opened, because there are too many already.
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
    (tries, problem, deadline) = (0, nil, nil)
    hasBeenAttached = true
    return [.tellAttached]
  }

  mutating func openingFailed(_ error: AccessoryError, now: MonotonicTime) -> [Action] {
    isOpening = false
    guard state == .opening else { return [] }
    if isPresent, now < graceEnd, Self.mayPass(error.kind) {
      problem = error
      deadline = min(now + Self.graceInterval, graceEnd)
      return []
    }
    // A device that was there and can't be found counts as unplugged, before udev reports it.
    let isGone = error.kind == .notFound && (hasBeenAttached || !isPresent)
    return tryAgain(isGone ? AccessoryError(.disconnected, code: error.code, error.message) : error, now: now)
  }

  /// Whether an error may disappear when udev has processed the device.
  private static func mayPass(_ kind: AccessoryError.Kind) -> Bool {
    [.permissionDenied, .notFound, .busy].contains(kind)
  }

  private static let absent = AccessoryError(.disconnected, "it is not plugged in")

  // MARK: - Trying again

  private mutating func tryAgain(_ error: AccessoryError, now: MonotonicTime) -> [Action] {
    problem = error
    let isSilent = isUnit && isPresent && error.kind == .timedOut
    let policy = isSilent ? Self.silence : hasBeenAttached ? policies.reconnect : policies.retry
    guard let pause = policy.pause(beforeTry: tries + 1) else {
      deadline = nil
      guard isPresent else { return [.tellFailed(error), .forget] }
      state = .failed
      return [.tellFailed(error)]
    }
    tries += 1
    triesLimit = policy.tries
    state = .waiting
    isResting = false
    // A device that is awaited for ever needs no timer: its connection is reported.
    deadline = isPresent || policy.tries != nil ? now + pause : nil
    return [.tellWaiting(error, pause: pause, try: tries, of: policy.tries)]
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
    return [.open]
  }

  // MARK: - Coming and going

  /// The link has ended of itself.
  mutating func ended(_ error: AccessoryError, now: MonotonicTime) -> [Action] {
    guard state == .attached else { return [] }
    return [.close, .tellGone(error)] + tryAgain(error, now: now)
  }

  /// The device was taken away.
  mutating func unplugged(_ error: AccessoryError, now: MonotonicTime) -> [Action] {
    isPresent = false
    switch state {
    case .attached, .lent: return [.end]
    case .opening where isOpening: return []
    case .opening: return tryAgain(error, now: now)
    case .failed: return [.forget]
    case .waiting:
      if isResting { return [.forget] }
      let policy = hasBeenAttached ? policies.reconnect : policies.retry
      if policy.tries == nil { deadline = nil }
      return []
    }
  }

  /// The device is there again, or a client wants it to be tried at once.
  mutating func plugged(now: MonotonicTime) -> [Action] {
    isPresent = true
    switch state {
    case .attached, .lent: return []
    case .opening, .waiting, .failed:
      graceEnd = now + Self.grace
      tries = 0
      return open()
    }
  }

  // MARK: - Lending

  /// Lends it; false when it isn't attached. The caller then closes the device and opens it for the client.
  mutating func lend() -> Bool {
    guard state == .attached || isResting else { return false }
    (state, deadline, isResting, problem) = (.lent, nil, false, nil)
    return true
  }

  /// Lends the line that it is on with others; false when it isn't there to be lent.
  mutating func lendLine() -> Bool {
    guard isPresent, state != .lent else { return false }
    (state, deadline, isResting, problem) = (.lent, nil, false, nil)
    // An opening that is under way is ended for it, which isn't reported.
    isOpening = false
    return true
  }

  /// The client has given it back, or it went away while it was lent, and the device is closed.
  mutating func returned(_ error: AccessoryError?, now: MonotonicTime) -> [Action] {
    guard state == .lent else { return [] }
    hasBeenAttached = hasBeenAttached || !isUnit
    if let error = isPresent ? error : Self.absent { return [.tellGone(error)] + tryAgain(error, now: now) }
    tries = 0
    graceEnd = now + Self.grace
    return open()
  }

  // MARK: - Rest

  /// It had nothing to do for as long as the policy allows.
  mutating func rest() -> [Action] {
    guard state == .attached else { return [] }
    (state, isResting, deadline, triesLimit) = (.waiting, true, nil, nil)
    return [.close]
  }

  /// Somebody wants something of it.
  mutating func wake(now: MonotonicTime) -> [Action] { isResting ? plugged(now: now) : [] }
}
