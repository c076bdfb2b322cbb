// SPDX-License-Identifier: Apache-2.0

/// What making contact with an accessory has told of its protocol.
public struct ProtocolDetails: Sendable, Hashable {
  /// What the protocol is called.
  public var name: String
  /// The number by which an accessory that has restarted is recognised; nil where it doesn't tell one.
  public var bootID: UInt32?
  /// Bytes of the longest payload that it takes.
  public var largestPayload: Int
  /// How many requests may be under way at a time.
  public var window: Int
  /// Fields of what the accessory has sent since it was opened that made no sense, and are unknown: they were missing, or
  /// said what can't be. Nil where its protocol isn't a described one, and nobody counts them.
  public var unreadableFields: UInt64?

  /// Details of these values.
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
