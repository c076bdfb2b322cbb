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

  /// Carries out commands of its driver, one after another; where its protocol has batches, as one. With `isAnswered`
  /// false nobody waits for it where that is possible, and nothing comes back.
  func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply]

  /// Its files; nil where its protocol has none.
  var files: (any AccessoryFiles)? { get }

  /// What the accessory tells of its own accord, from now on. Throws the link's error when the accessory goes, at once
  /// and whether or not it tells anything else, and ends normally when it is closed here.
  func news() -> AsyncThrowingStream<AccessoryNews, any Error>

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

  /// It has no files.
  public var files: (any AccessoryFiles)? { nil }

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
  /// Something that only its driver knows.
  case other
}
