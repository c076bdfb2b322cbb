// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The state of an accessory of a service. This is the only type for that on the client's side of the socket.
package struct MirroredAccessory: Sendable, Hashable, Identifiable {
  /// The accessory's number in its mirror. It stays the same when the accessory comes back, also at another port.
  package let id: UInt64
  /// The socket of the accessory's service, as passed to the mirror.
  package let service: String
  /// The device, as the service describes it.
  package var device: Device
  /// Whether the service has the accessory open, or has lent it to a client.
  package var isConnected = true
  /// Whether the service has reported it since the service was found, or found again.
  package var isReported = true
  /// Whether it isn't connected, and another accessory is where it was last.
  package var isReplaced = false
  /// Why it isn't connected; nil while it is.
  package var problem: AccessoryError?
  /// The service's record of the accessory in the last list; nil before the first list, and after a disconnection. If the mirror
  /// follows absent accessories, the next list has it again.
  @Boxed package var record: Bridge.Accessory?
  /// The driver and the profile by which the service opened the accessory last; nil if unknown.
  package var driver, profile: String?
  package var identity: AccessoryIdentity?
  package var battery: BatteryReading?
  package var status: AccessoryStatus?
  package var values = ValuesReading()
  /// What was read last while it was connected; nil while it is, and where nothing is known. Nothing of it is current.
  @Boxed package var last: Bridge.LastReadings?
  /// When battery and status were read or reported last. All times are on the mirror's clock.
  package var batteryTime, statusTime: MonotonicTime?
  /// The commands that the service permits; nil unless the mirror has asked for them.
  package var commands: [CommandDescription]?
  /// The raised alarms, if the mirror follows alarms; nil before the first list, and if the service is too old for
  /// alarms.
  package var alarms: [AccessoryAlarm]?
  /// The raised alarms by rules of the view, beside those of the service.
  package var ownAlarms: [AccessoryAlarm] = []
  /// Whether readings have come since the accessory was connected, or it has none.
  package var isRead = false
  /// Whether the requests after the accessory was connected have been answered.
  package var isAsked = false
  /// Whether the service says that readings are older than they should be.
  package var isStale = false
  /// What the accessory doesn't answer or refuses, in the service's words; nil if nothing is known to be missing.
  package var missing: String?
  /// When the oldest of the regular readings was made, or of the last ones while it isn't connected; nil before the first one.
  package var readTime: MonotonicTime?
  /// When the readings become stale unless they are renewed; nil if unknown.
  package var staleTime: MonotonicTime?
  /// Counts of disconnections, failed requests, and failed readings.
  package var disconnectCount = 0
  package var requestFailureCount = 0
  package var readingFailureCount = 0

  /// A connected accessory without readings.
  package init(id: UInt64 = 0, service: String, device: Device) {
    (self.id, self.service, self.device) = (id, service, device)
  }

  /// The manufacturer: as reported by the accessory, otherwise by USB; empty if unknown.
  package var manufacturer: String { first(identity?.manufacturer, device.manufacturer) }
  /// The model, in the same way.
  package var model: String { first(identity?.model, identity?.name, device.model, device.name) }
  /// The serial number, in the same way.
  package var serialNumber: String { first(identity?.serialNumber, device.serialNumber) }

  private func first(_ texts: String?...) -> String { texts.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? "" }

  // MARK: - Readings with their ages

  /// The last battery reading with its age at the time `now`; nil until there is one.
  package func battery(at now: MonotonicTime) -> Read<BatteryReading>? { read(battery, batteryTime, now) }

  /// The last status with its age, in the same way.
  package func status(at now: MonotonicTime) -> Read<AccessoryStatus>? { read(status, statusTime, now) }

  /// Only the service decides what is stale, because it knows how often readings are renewed.
  private func read<Value>(_ value: Value?, _ time: MonotonicTime?, _ now: MonotonicTime) -> Read<Value>? {
    value.map { value in
      var read = Read(value, age: time.map { max(.zero, now - $0) }, isStale: isStale || !isConnected)
      (read.missing, read.alarms) = (missing, alarms)
      return read
    }
  }

  // MARK: - Size

  /// The longest text of a problem, in bytes.
  private static let problemBytes = 1_000
  /// The memory of one text or one field in addition to its bytes.
  private static let overhead = 32

  /// The approximate size of everything whose size the service decides, in bytes.
  var textByteCount: Int {
    var count = device.textByteCount + 2 * Self.problemBytes
    for entry in values.entries {
      count += entry.value.name.utf8.count + 2 * Self.overhead
      if case .text(let text) = entry.value.content { count += text.utf8.count }
    }
    for alarm in (alarms ?? []) + ownAlarms {
      count += alarm.name.utf8.count + alarm.rule.utf8.count + (alarm.value?.utf8.count ?? 0) + 4 * Self.overhead
    }
    for command in commands ?? [] {
      count += command.name.utf8.count + (8 + 8 * command.arguments.count) * Self.overhead
    }
    for value in last?.values ?? [] { count += value.value.name.utf8.count + 2 * Self.overhead }
    if let record {
      let texts = [record.holder, record.problem?.message, record.profile, record.driver] + (record.protocols ?? [])
      count += texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) + Self.overhead }
    }
    if let battery {
      count += (battery.cellMillivolts.count + battery.temperatures.count + battery.derived.count) * Self.overhead
      for name in (battery.faults ?? []) + (battery.warnings ?? []) { count += name.utf8.count + Self.overhead }
    }
    return count
  }

  // MARK: - Changes

  mutating func take(_ battery: BatteryReading, _ age: Bridge.ReadingsAge?, at time: MonotonicTime) {
    (self.battery, batteryTime) = (battery, time)
    wasRead(age, at: time)
  }

  mutating func take(_ status: AccessoryStatus, _ age: Bridge.ReadingsAge?, at time: MonotonicTime) {
    (self.status, statusTime) = (status, time)
    wasRead(age, at: time)
  }

  mutating func take(_ values: [AccessoryValue], _ age: Bridge.ReadingsAge?, at time: MonotonicTime) {
    self.values.take(values, at: time)
    wasRead(age, at: time)
  }

  private mutating func wasRead(_ age: Bridge.ReadingsAge?, at time: MonotonicTime) {
    isRead = true
    // With an older service, only the next list shows whether they are stale.
    if let age { take(age, at: time) } else { readTime = time }
  }

  private mutating func take(_ age: Bridge.ReadingsAge, at now: MonotonicTime) {
    (readTime, isStale, staleTime) = (now + (.zero - age.oldest), age.isStale, age.fresh.map { now + $0 })
    take(missing: age.missing)
  }

  private mutating func take(missing text: String?) {
    missing = text.map { ReadingLimits.cut($0, to: Self.problemBytes) }
  }

  mutating func take(_ alarm: AccessoryAlarm, _ state: AlarmChange) {
    var raised = alarms ?? []
    raised.take(alarm, state)
    alarms = raised
  }

  /// Takes the service's record, which says how old the readings are.
  mutating func take(_ record: Bridge.Accessory, at now: MonotonicTime) {
    (isConnected, isReported, problem) = (true, true, nil)
    (self.record, driver, profile) = (record, record.driver, record.profile)
    (alarms, device.given) = (record.alarms, record.device.given)
    if let age = record.readingsAge { take(age, at: now) } else { (isStale, staleTime) = (record.stale == true, nil) }
    take(missing: record.missing)
  }

  /// Takes the record of an accessory that the service doesn't have open.
  mutating func takeAbsent(_ record: Bridge.Accessory, isReplaced: Bool, at now: MonotonicTime) {
    (device, self.record, alarms) = (record.device, record, record.alarms)
    (isConnected, isReported, self.isReplaced) = (false, true, isReplaced)
    (driver, profile) = (record.driver ?? driver, record.profile ?? profile)
    if let last = record.last {
      (self.last, identity) = (last, last.identity ?? identity)
      readTime = record.readingsAge.map { now + (.zero - $0.oldest) } ?? readTime
      // The record has them no longer, so that they are kept once.
      self.record?.last = nil
    }
  }

  /// What was read last: now, while it is connected, otherwise before it went.
  package var lastReadings: Bridge.LastReadings {
    isConnected
      ? Bridge.LastReadings(
        battery: battery, status: status, values: values.entries.isEmpty ? nil : values.values.map { Read($0) },
        identity: identity)
      : last ?? Bridge.LastReadings(identity: identity)
  }

  /// Takes the answers to the questions after a connect.
  mutating func take(_ answers: MirrorAnswers, at now: MonotonicTime) {
    guard isConnected else { return }
    func time(_ age: Duration?) -> MonotonicTime { now + (.zero - (age ?? .zero)) }
    if let identity = answers.identity { self.identity = identity }
    if let read = answers.status { (status, statusTime) = (read.value, time(read.age)) }
    if let read = answers.battery { (battery, batteryTime) = (read.value, time(read.age)) }
    if let values = answers.values { self.values.take(values, at: now) }
    if let commands = answers.commands { self.commands = commands }
    if answers.hasReadings { readTime = readTime ?? now }
    readingFailureCount += answers.failureCount
    isRead = isRead || answers.hasReadings || answers.failureCount == 0
    isAsked = true
  }

  /// The accessory is connected, perhaps again: no readings from before are valid. Alarms stay: the service clears them.
  mutating func connect(_ device: Device) {
    (self.device, isConnected, isReported, isReplaced, problem) = (device, true, true, false, nil)
    forgetReadings()
  }

  mutating func disconnect(_ error: AccessoryError) {
    guard isConnected else { return }
    // The service may send any text as the reason.
    problem = AccessoryError(error.kind, code: error.code, ReadingLimits.cut(error.message, to: Self.problemBytes))
    disconnectCount += 1
    let (last, time) = (lastReadings, readTime)
    isConnected = false
    forgetReadings()
    if last != Bridge.LastReadings(identity: last.identity) { (self.last, readTime) = (last, time) }
  }

  private mutating func forgetReadings() {
    (battery, status, values) = (nil, nil, ValuesReading())
    (batteryTime, statusTime, readTime, staleTime, last) = (nil, nil, nil, nil, nil)
    (isRead, isAsked, isStale, record, commands, missing) = (false, false, false, nil, nil, nil)
  }
}

/// The replies to the requests that are made when an accessory is connected; nil for readings that it doesn't have.
package struct MirrorAnswers: Sendable {
  package var identity: AccessoryIdentity?
  package var status: Read<AccessoryStatus>?
  package var battery: Read<BatteryReading>?
  package var values: [AccessoryValue]?
  package var commands: [CommandDescription]?
  /// When the first request was made; nil if no events can have come since.
  package var askTime: MonotonicTime?
  /// The number of failed requests, except those for readings that the accessory doesn't have.
  package var failureCount = 0

  package init() {}

  var hasReadings: Bool { status != nil || battery != nil || values != nil }
}

extension [AccessoryAlarm] {
  /// An alarm was raised or cleared.
  package mutating func take(_ alarm: AccessoryAlarm, _ state: AlarmChange) {
    let place = firstIndex { $0.name == alarm.name }
    switch (state, place) {
    case (.raised, let place?): self[place] = alarm
    case (.raised, nil): if count < AlarmRule.countLimit { append(alarm) }
    case (.cleared, let place?): remove(at: place)
    case (.cleared, nil): break
    }
  }
}
