// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// A device that the service holds or tries to attach, with its state. Used on the service's actor only.
final class Attachment {
  let key: Int
  /// The device as its source last reported it, with its default transport.
  var device: Device { didSet { roster?.placeChanged(of: self) } }
  var profile: Profile? { didSet { roster?.placeChanged(of: self) } }
  /// The name of its alarms; see `BridgeService.alarmKey(for:)`.
  var alarmKey = ""
  /// Nil where clients speak the protocol themselves.
  var driver: Driver?
  /// Whether a client asked for the attachment. Otherwise a profile matched the device.
  let isByHand: Bool
  /// The name of the profile that a client chose. It applies even where another profile matches.
  let chosenProfile: String?
  /// The protocol strings that programs written for ExternalAccessory ask for.
  var protocolStrings: [String]
  var machine: AttachmentMachine { didSet { roster?.stateChanged(of: self) } }
  /// Where it is listed.
  weak var roster: AttachmentRoster?
  /// The open accessory; nil while it isn't attached.
  var open: OpenAccessory? {
    didSet { readings.toldTime = { [accessory = open?.accessory] in accessory?.toldTime(of: $0) } }
  }
  /// Increased at each opening and closing, so that late events of an earlier opening are ignored.
  var generation = 0
  var listening: Task<Void, Never>?
  /// The task that opens the device.
  var opening: Task<Void, Never>?
  /// The attachment that has replaced this one: the same device with another profile, or with its identity known now.
  var successor: Attachment?
  /// The task that closes the device; the next opening waits for it.
  var closing: Task<Void, Never>?
  /// Whether subscribers were told that the device is connected. Loans and idle closings in between aren't reported.
  var isTold = false
  /// The loan to a client, if there is one.
  var lending = Lending()
  /// The clients that share its line; nil until the first one asks for it.
  var sharing: Sharing?
  /// The last readings.
  var readings = Readings()

  /// Whether writes are allowed; nil where the protocol has no writes.
  var writes: Bridge.Writes?
  /// The schedule of the polls.
  var polls = PollSchedule()

  let taps: TapHub
  var timer: (deadline: MonotonicTime, token: TimerToken)?
  var pollTimer: (deadline: MonotonicTime, token: TimerToken)?
  var idleTimer: TimerToken?
  var valuesTimer: TimerToken?
  /// The number of calls to the accessory that haven't ended.
  private(set) var callCount = 0
  /// The number of file transfers that haven't ended. Each is also counted as a call.
  private(set) var transferCount = 0
  /// Tasks that wait for a change of the state.
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

  /// The device, with the transport that the profile prefers.
  var target: Device { profile?.choosingTransport(device) ?? device }

  /// The device's name in the log: its identity, escaped.
  var name: String { SafeText.escape(device.id) }

  /// What rules know the accessory by.
  var subject: CommandRules.Subject {
    CommandRules.Subject(
      id: device.id, serial: device.serialNumber, profile: profile?.name, driver: driver?.name)
  }

  /// This attachment, or the last one that has replaced it.
  var latest: Attachment {
    var latest = self
    while let next = latest.successor { latest = next }
    return latest
  }

  /// The attachment in the terms of the control socket's protocol.
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
      facts.fresh_ms = age.fresh.map { Self.milliseconds($0) }
    }
    return facts
  }

  static func milliseconds(_ duration: Duration) -> Int { duration.inMilliseconds }

  /// A stream that finishes at the next change of the state.
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

  /// Ends a transfer. The caller also ends the call that `beginTransfer` has begun.
  func endTransfer() { transferCount -= 1 }

  func changed() {
    defer { waiting = [:] }
    for continuation in waiting.values { continuation.finish() }
  }

  /// Whether `other` is this device, on any of its transports.
  func isSame(_ other: Device) -> Bool {
    device.unit == other.unit && (device.isOnLine(of: other) || target.address == other.address)
  }

  /// Whether both are units on the same line.
  func sharesLine(with other: Attachment) -> Bool {
    device.unit != nil && other.device.unit != nil
      && (device.isOnLine(of: other.device) || target.address == other.target.address)
  }
}
