// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// A device that the service holds or tries to hold, with its state. Used on the service's actor only.
final class Attachment {
  let key: Int
  /// As it was last told, with its usual way in.
  var device: Device
  var profile: Profile?
  /// Nil where clients bring their own.
  var driver: Driver?
  /// Somebody asked for it; otherwise a profile did.
  let isByHand: Bool
  /// The profile that somebody chose, whatever fits.
  let chosenProfile: String?
  /// What programs written for ExternalAccessory ask for.
  var protocolStrings: [String]
  var machine: AttachmentMachine
  /// While it is attached.
  var open: OpenAccessory?
  /// A new number for each opening, so that late events of an earlier one are ignored.
  var generation = 0
  var listening: Task<Void, Never>?
  /// What is opening it.
  var opening: Task<Void, Never>?
  /// The attachment that has replaced this one: the same device with another profile, or with a better known identity.
  var successor: Attachment?
  /// What is being closed; the next opening waits for it.
  var closing: Task<Void, Never>?
  /// Subscribers know that it is connected. Loans and rests in between aren't reported.
  var isTold = false
  /// To whom it is lent, while it is.
  var lending = Lending()
  /// What it was last heard to say.
  var readings = Readings()

  /// Whether what changes something in it is let through; nil where its protocol has nothing of the kind.
  var writes: Bridge.Writes?
  /// What it is asked by itself.
  var polls = PollSchedule()

  let taps: TapHub
  var timer: (deadline: MonotonicTime, token: TimerToken)?
  var pollTimer: (deadline: MonotonicTime, token: TimerToken)?
  var idleTimer: TimerToken?
  var valuesTimer: TimerToken?
  /// What the accessory is being asked.
  private(set) var callCount = 0
  /// Files that are on their way; each is a call, too.
  private(set) var transferCount = 0
  /// Tasks that wait for the state to change.
  var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
  private var nextWaiting = 0

  init(
    key: Int, device: Device, profile: Profile?, driver: Driver?, isByHand: Bool, chosenProfile: String?,
    protocolStrings: [String], machine: AttachmentMachine, taps: TapHub
  ) {
    self.key = key
    self.device = device
    self.profile = profile
    self.driver = driver
    self.isByHand = isByHand
    self.chosenProfile = chosenProfile
    self.protocolStrings = protocolStrings
    self.machine = machine
    self.taps = taps
  }

  /// The device by the way in that the profile prefers.
  var target: Device { profile?.choosingTransport(device) ?? device }

  /// What it is called in the log: its identity, made harmless.
  var name: String { SafeText.escape(device.id) }

  /// This one, or what has taken its place since.
  var latest: Attachment {
    var latest = self
    while let next = latest.successor { latest = next }
    return latest
  }

  /// As the interface tells it.
  func facts(_ clock: any TimerClock) -> Bridge.Accessory {
    var facts = Bridge.Accessory(
      device: Bridge.Device(target), state: machine.state, tries: machine.tries, holder: lending.holder,
      problem: machine.problem.map(Bridge.Problem.init), profile: profile?.name, driver: driver?.name,
      protocols: protocolStrings)
    facts.writes = writes
    if machine.state == .waiting {
      facts.tries_limit = machine.triesLimit
      facts.next_try_ms = machine.deadline.map { Self.milliseconds(max(.zero, $0 - clock.now)) }
    }
    if let age = readings.age(now: clock.bootTime) {
      facts.readings_age_ms = Self.milliseconds(age.oldest)
      if age.isStale { facts.stale = true }
    }
    return facts
  }

  static func milliseconds(_ duration: Duration) -> Int { Int(duration.inNanoseconds / 1_000_000) }

  /// Ends with the next change of the state.
  func change() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    waiting[nextWaiting] = continuation
    nextWaiting += 1
    return stream
  }

  func beginCall() { callCount += 1 }

  func endCall() {
    callCount -= 1
    if callCount == 0 { changed() }
  }

  func beginTransfer() {
    beginCall()
    transferCount += 1
  }

  /// Whoever began it ends the call, too.
  func endTransfer() { transferCount -= 1 }

  func changed() {
    defer { waiting = [:] }
    for continuation in waiting.values { continuation.finish() }
  }

  /// Whether `other` is this device, by whatever way in.
  func isSame(_ other: Device) -> Bool {
    device.unit == other.unit && (device.isOnLine(of: other) || target.address == other.address)
  }

  /// Whether both are on one line, of which they are units.
  func sharesLine(with other: Attachment) -> Bool {
    device.unit != nil && other.device.unit != nil
      && (device.isOnLine(of: other.device) || target.address == other.target.address)
  }
}
