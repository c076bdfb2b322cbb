// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An accessory that a driver speaks with, in the terms that all kinds share. What only one kind can do is in the
/// driver's own type.
///
/// Every call throws `disconnected` when the accessory goes, `timedOut` when it doesn't answer, `unsupported` when it has
/// no such thing, `badData` when the answer makes no sense, and what its protocol refuses as `refused`.
public protocol Accessory: Sendable {
  /// The accessory's name for people.
  var label: String { get }

  /// Asks who it is.
  func identify() async throws(AccessoryError) -> AccessoryIdentity
  /// Asks what it is doing.
  func status() async throws(AccessoryError) -> AccessoryStatus
  /// Asks for its battery.
  func battery() async throws(AccessoryError) -> BatteryReading
  /// Asks for its battery, and gives with the answer what it tells from then on, as `news` does. Where the protocol allows
  /// it, nothing of that is older than the answer.
  func batteryAndNews() async throws(AccessoryError) -> (
    reading: BatteryReading, news: EventStream<AccessoryNews>
  )
  /// Asks for all that it measures beside its status and its battery: as it is now, what isn't known without content.
  func values() async throws(AccessoryError) -> [AccessoryValue]

  /// Asks what its driver's `poll` asks, and gives the answers as news. Throws when there is no answer at all: `timedOut`
  /// when it keeps silent, which may be sleep.
  func poll(_ poll: AccessoryPoll) async throws(AccessoryError) -> [AccessoryNews]

  /// What making contact has told of its protocol; nil where its protocol has nothing of the kind.
  var protocolDetails: ProtocolDetails? { get }
  /// Sends a request of its protocol as it is, by the command's number, and gives the reply's payload. Throws
  /// `unsupported` where requests have no such form.
  func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8]

  /// Carries out commands of its driver, one after another; where its protocol has batches, as one. With `isAnswered`
  /// false nobody waits for it where that is possible, and nothing comes back.
  func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply]

  /// Its files; nil where its protocol has none.
  var files: (any AccessoryFiles)? { get }

  /// Its Bluetooth radio, which searches for other devices and connects to them; nil where it has none that can be told
  /// to.
  var radio: (any HM10Radio)? { get }

  /// What the accessory tells of its own accord, from now on. Throws the link's error when the accessory goes, at once
  /// and whether or not it tells anything else, and ends normally when it is closed here.
  func news() -> EventStream<AccessoryNews>

  /// Closes the link; returns when the device is free for others.
  func close() async
}

extension Accessory {
  /// It doesn't say who it is: nothing is known of that.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity { AccessoryIdentity() }

  /// It doesn't say what it is doing.
  public func status() async throws(AccessoryError) -> AccessoryStatus { AccessoryStatus(state: .notInitialized) }

  /// It doesn't tell its battery.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    throw AccessoryError(.unsupported, "\(label) doesn't tell its battery")
  }

  /// It tells no values.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    throw AccessoryError(.unsupported, "\(label) tells no values: only what status and battery show")
  }

  /// One after the other: what it tells while it is being asked is in the news, too.
  public func batteryAndNews() async throws(AccessoryError) -> (
    reading: BatteryReading, news: EventStream<AccessoryNews>
  ) {
    let news = news()
    return (try await battery(), news)
  }

  /// Nothing.
  public var protocolDetails: ProtocolDetails? { nil }

  /// Its protocol has no requests of this form: only AF1 has.
  public func request(_ code: UInt8, payload: [UInt8]) async throws(AccessoryError) -> [UInt8] {
    throw AccessoryError(.unsupported, "\(label) takes no AF1 commands")
  }

  /// It has no files.
  public var files: (any AccessoryFiles)? { nil }

  /// It has no radio that can be told to connect.
  public var radio: (any HM10Radio)? { nil }

  /// It has no commands that are called by name.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    throw AccessoryError(.unsupported, "\(label) has no commands that are called by name")
  }
}

/// What an accessory tells of its own accord.
public enum AccessoryNews: Sendable, Hashable {
  /// Its battery changed.
  case battery(BatteryReading)
  /// Its status changed.
  case status(AccessoryStatus)
  /// Some of its values, as they are now.
  case values([AccessoryValue])
  /// Something that only its driver knows.
  case other
}
