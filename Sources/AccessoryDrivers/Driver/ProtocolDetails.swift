// SPDX-License-Identifier: Apache-2.0

/// What is known of an accessory's protocol since it was opened.
public struct ProtocolDetails: Sendable, Hashable {
  /// The protocol's name.
  public var name: String
  /// The boot id, which changes when the accessory restarts; nil when the protocol has none.
  public var bootID: UInt32?
  /// The size of the largest payload that the accessory accepts, in bytes.
  public var largestPayload: Int
  /// How many requests may be unanswered at a time.
  public var window: Int
  /// How many fields of received frames were missing or had impossible values since the accessory was opened. They
  /// count as unknown. Nil for protocols in Swift, which don't count them.
  public var unreadableFields: UInt64?

  /// Details with these values.
  public init(
    name: String, bootID: UInt32? = nil, largestPayload: Int, window: Int, unreadableFields: UInt64? = nil
  ) {
    self.unreadableFields = unreadableFields
    self.name = name
    self.bootID = bootID
    self.largestPayload = largestPayload
    self.window = window
  }
}
