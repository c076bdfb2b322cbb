// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Wraps every opened accessory. Refuses writes that aren't permitted; and makes numbers unknown that can't be, so that no driver has to
/// care for that.
///
/// It must forward every requirement of `Accessory`, even those with a default implementation; otherwise the default
/// would run in place of the driver's implementation.
struct GuardedAccessory: Accessory {
  let base: any Accessory
  let rules: WriteRules
  /// Whether the caller asks for permission to write.
  var isAsked: Bool

  func commands() async throws(AccessoryError) -> [CommandDescription] { try await base.commands() }
  func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    try rules.check(calls, isAsked: isAsked)
    return try await base.perform(calls.map { $0.permitted() }, isAnswered: isAnswered)
  }

  func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    try rules.checkBytes(isAsked: isAsked)
    return try await base.request(code, payload: payload)
  }

  fileprivate var isPermitted: Bool { !rules.hasWrites || isAsked && rules.allowsWrites }
  var files: (any AccessoryFiles)? { isPermitted ? base.files : nil }

  var label: String { base.label }
  var protocolDetails: ProtocolDetails? { base.protocolDetails }
  var unanswered: String? { base.unanswered }
  func toldTime(of part: AccessoryPoll.Part) -> MonotonicTime? { base.toldTime(of: part) }
  func identify() async throws(AccessoryError) -> AccessoryIdentity { try await base.identify() }
  func status() async throws(AccessoryError) -> AccessoryStatus { try await base.status() }
  func readIdentity() async throws(AccessoryError) -> Read<AccessoryIdentity> { try await base.readIdentity() }
  func battery() async throws(AccessoryError) -> BatteryReading {
    try await base.battery().believed(from: label).reading
  }
  func values() async throws(AccessoryError) -> [AccessoryValue] { try await base.values().map(\.bounded) }
  func readBattery() async throws(AccessoryError) -> Read<BatteryReading> {
    try believed(try await base.readBattery())
  }
  func readStatus() async throws(AccessoryError) -> Read<AccessoryStatus> { try await base.readStatus() }
  func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> {
    try await base.readValues().map { $0.map(\.bounded) }
  }
  func news() -> EventStream<AccessoryNews> { base.news().converted { try? believed($0) } }
  func close() async { await base.close() }

  func batteryAndNews() async throws(AccessoryError) -> (
    reading: Read<BatteryReading>, news: EventStream<AccessoryNews>
  ) {
    let (reading, news) = try await base.batteryAndNews()
    return (try believed(reading), news.converted { try? believed($0) })
  }

  func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews] {
    var news: [AccessoryNews] = []
    var disbelief: AccessoryError?
    for one in try await base.poll(poll) {
      do throws(AccessoryError) { news.append(try believed(one)) } catch { disbelief = error }
    }
    if let disbelief, news.isEmpty { throw disbelief }
    return news
  }

  private func believed(_ read: Read<BatteryReading>) throws(AccessoryError) -> Read<BatteryReading> {
    let (reading, numbers) = try read.value.believed(from: label)
    let text = numbers.isEmpty ? nil : "what can't be is unknown: \(numbers.joined(separator: ", "))"
    return read.map { _ in reading }.lacking(text)
  }

  private func believed(_ news: AccessoryNews) throws(AccessoryError) -> AccessoryNews {
    switch news {
    case .battery(let reading): .battery(try reading.believed(from: label).reading)
    case .values(let values): .values(values.map(\.bounded))
    case .status, .other: news
    }
  }
}

extension Accessory {
  /// The same accessory for a caller that asks for permission to write, or doesn't. If its protocol has writes, its
  /// profile must allow them as well.
  package func asking(toWrite isAsked: Bool) -> any Accessory {
    guard var guarded = self as? GuardedAccessory else { return self }
    guarded.isAsked = isAsked
    return guarded
  }

  /// The same accessory as one of a narrower protocol, for example one of accessories with a radio; nil where it isn't one. If its
  /// protocol has writes, they must be permitted: what only some accessories can do may change them.
  public func narrowed<Narrower>(to _: Narrower.Type) -> Narrower? {
    guard let guarded = self as? GuardedAccessory else { return self as? Narrower }
    return guarded.isPermitted ? guarded.base as? Narrower : nil
  }
}
