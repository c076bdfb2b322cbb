// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// A device that the service holds or tries to attach, with its state. Used on the service's actor only.
final class Attachment {
  let key: Int
  var claim: AttachmentClaim { didSet { roster?.placeChanged(of: self) } }
  /// The name of its alarms: the identity that it was attached with.
  var alarmKey: String
  /// The name of its history; see `BridgeService.historyKey(for:of:)`.
  var historyKey: String
  var machine: AttachmentMachine { didSet { roster?.stateChanged(of: self) } }
  /// The timer for the machine's deadline.
  var timer = DeadlineTimer()
  /// The roster that contains it.
  weak var roster: AttachmentRoster?
  var contact: Contact {
    didSet {
      guard (oldValue.open == nil) != (contact.open == nil) else { return }
      readings.toldTime = { [accessory = contact.open?.accessory] in accessory?.toldTime(of: $0) }
    }
  }
  /// The loan to a client, if there is one.
  var lending = Lending()
  /// The clients that share its line; nil until the first one asks for it.
  var sharing: Sharing?
  /// The last readings.
  var readings = Readings()
  /// What was known of it when it came, if it was here before and gone.
  var before: Bridge.Accessory?
  /// What the user calls it; nil where nobody has said.
  var given: GivenName?
  /// When it was connected last, and when it was last there while it isn't, in seconds since 1970.
  private(set) var connectedSince, lastSeen: Double?
  /// The clients that use it or wait for it.
  private(set) var use = AttachmentUse()

  init(
    key: Int, _ claim: AttachmentClaim, historyKey: String? = nil, _ machine: AttachmentMachine,
    taps: TapHub, after closing: Task<Void, Never>? = nil
  ) {
    (self.key, self.claim, alarmKey, self.machine) = (key, claim, claim.device.id, machine)
    self.historyKey = historyKey ?? claim.device.id
    contact = Contact(taps: taps, after: closing)
  }

  var device: Device { claim.device }
  var profile: Profile? { claim.profile }
  var driver: Driver? { claim.driver }
  /// The device as it is opened and told.
  var target: Device { claim.target.called(given) }
  var open: OpenAccessory? { contact.open }
  var generation: Int { contact.generation }

  /// The device's name in the log: its identity, escaped.
  var name: String { SafeText.escape(device.id) }

  /// The names by which rules identify the accessory.
  var subject: CommandRules.Subject {
    CommandRules.Subject(
      id: device.id, serial: device.serialNumber, profile: profile?.name, driver: driver?.name)
  }

  /// This attachment, or the last one that has replaced it: the same device with another profile, or with its identity known now.
  var latest: Attachment {
    var latest = self
    while let next = latest.use.successor { latest = next }
    return latest
  }

  /// Another attachment replaces this one.
  func replace(by successor: Attachment) { use.successor = successor }

  /// What was read last: of this contact, and otherwise of the one before.
  func last(now: MonotonicTime, wallClock: Double) -> (readings: Bridge.LastReadings, age: Int?) {
    var last = readings.last(now: now)
    guard let before = before?.aged(since: before?.last_seen, wallClock), let old = before.last else {
      return (last, nil)
    }
    let age = readings.hasAny ? nil : before.readings_age_ms
    (last.battery, last.status) = (last.battery ?? old.battery, last.status ?? old.status)
    (last.values, last.identity) = (last.values ?? old.values, last.identity ?? old.identity)
    return (last, age)
  }

  func connected(at time: Double) { (connectedSince, lastSeen) = (time, nil) }

  func disconnected(at time: Double) { lastSeen = time }

  /// The attachment in the terms of the control socket's protocol.
  func facts(_ clock: any TimerClock) -> Bridge.Accessory {
    var facts = Bridge.Accessory(
      device: target, state: machine.state, tries: machine.tries, holder: lending.holder,
      problem: machine.problem.map(Bridge.Problem.init), profile: profile?.name, driver: driver?.name,
      protocols: claim.protocolStrings)
    facts.writes = claim.writes
    facts.lowLimit = profile?.lowLimit
    facts.key = device.key
    if machine.state == .waiting {
      facts.tries_limit = machine.triesLimit
      facts.next_try_ms = machine.deadline.map { Self.milliseconds(max(.zero, $0 - clock.now)) }
    }
    facts.readingsAge = readings.age(now: clock.bootTime)
    facts.missing = open == nil ? nil : readings.missing
    (facts.connected_since, facts.last_seen) = (connectedSince, lastSeen)
    return facts
  }

  static func milliseconds(_ duration: Duration) -> Int { duration.inMilliseconds }

  /// A stream that finishes at the next change of the state.
  func change() -> AsyncStream<Void> { use.change() }

  func changed() { use.changed() }
  func beginCall() { use.callCount += 1 }

  func endCall() {
    use.callCount -= 1
    if use.callCount == 0 { changed() }
  }

  func beginTransfer() {
    beginCall()
    use.transferCount += 1
  }

  /// Ends a transfer. The caller also ends the call that `beginTransfer` has begun.
  func endTransfer() { use.transferCount -= 1 }

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

/// The clients that use an attachment or wait for it.
struct AttachmentUse {
  /// The number of calls to the accessory that haven't ended.
  fileprivate(set) var callCount = 0
  /// The number of file transfers that haven't ended. Each is also counted as a call.
  fileprivate(set) var transferCount = 0
  /// The attachment that has replaced this one.
  fileprivate var successor: Attachment?
  /// Tasks that wait for a change of the state.
  private var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
  private var nextWaiting = 0

  fileprivate mutating func change() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    waiting[nextWaiting] = continuation
    nextWaiting += 1
    return stream
  }

  fileprivate mutating func changed() {
    defer { waiting = [:] }
    for continuation in waiting.values { continuation.finish() }
  }
}
