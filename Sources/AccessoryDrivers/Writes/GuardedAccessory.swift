// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Wraps an accessory whose protocol has writes, and refuses those that aren't permitted.
///
/// It must forward every requirement of `Accessory`, even those with a default implementation; otherwise the default
/// would run in place of the driver's implementation.
struct GuardedAccessory: Accessory {
  let base: any Accessory
  let rules: WriteRules
  /// Whether the caller asks for permission to write.
  var isAsked: Bool

  func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    try rules.check(calls, isAsked: isAsked)
    return try await base.perform(calls.map { $0.permitted() }, isAnswered: isAnswered)
  }

  func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    try rules.checkBytes(isAsked: isAsked)
    return try await base.request(code, payload: payload)
  }

  fileprivate var isPermitted: Bool { isAsked && rules.allowsWrites }
  var files: (any AccessoryFiles)? { isPermitted ? base.files : nil }

  var label: String { base.label }
  var protocolDetails: ProtocolDetails? { base.protocolDetails }
  var missing: String? { base.missing }
  func toldTime(of part: AccessoryPoll.Part) -> MonotonicTime? { base.toldTime(of: part) }
  func identify() async throws(AccessoryError) -> AccessoryIdentity { try await base.identify() }
  func status() async throws(AccessoryError) -> AccessoryStatus { try await base.status() }
  func battery() async throws(AccessoryError) -> BatteryReading { try await base.battery() }
  func values() async throws(AccessoryError) -> [AccessoryValue] { try await base.values() }
  func readBattery() async throws(AccessoryError) -> Read<BatteryReading> { try await base.readBattery() }
  func readStatus() async throws(AccessoryError) -> Read<AccessoryStatus> { try await base.readStatus() }
  func readValues() async throws(AccessoryError) -> Read<[AccessoryValue]> { try await base.readValues() }
  func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews] { try await base.poll(poll) }
  func news() -> EventStream<AccessoryNews> { base.news() }
  func close() async { await base.close() }

  func batteryAndNews() async throws(AccessoryError) -> (
    reading: BatteryReading, news: EventStream<AccessoryNews>
  ) {
    try await base.batteryAndNews()
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
