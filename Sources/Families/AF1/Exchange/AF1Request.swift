// SPDX-License-Identifier: Apache-2.0

import AccessoryLink
import AccessoryProtocols

/// A request to an AF1 accessory.
public struct AF1Request: Sendable, Hashable {
  /// The command.
  public var command: AF1Command
  /// The command's arguments.
  public var payload: [UInt8]
  /// Whether running the request twice does no harm. A request that isn't idempotent is repeated only if the accessory
  /// certainly hasn't restarted, and so still knows whether it ran the request.
  public var isIdempotent: Bool
  /// The size of the largest payload that the reply may have, in bytes, for the timeout; nil means the largest that the
  /// accessory supports.
  public var largestReply: Int?
  /// Whether requests of this kind may overlap, as many as the accessory's window allows, if the pacing is `reply`.
  /// Used for the pieces of a file, whose replies contain their position.
  public var mayOverlap: Bool

  /// A request. By default, the command decides whether it is idempotent.
  public init(
    _ command: AF1Command, payload: [UInt8] = [], isIdempotent: Bool? = nil, largestReply: Int? = nil,
    mayOverlap: Bool = false
  ) {
    self.mayOverlap = mayOverlap
    self.command = command
    self.payload = payload
    self.isIdempotent = isIdempotent ?? command.isIdempotent
    self.largestReply = largestReply
  }
}

/// A reply or an event of an AF1 accessory.
public struct AF1Message: Sendable, Hashable {
  /// The command that is answered, or the kind of event.
  public var command: AF1Command
  /// The number of the request, or of the event.
  public var number: UInt16
  /// The payload.
  public var payload: [UInt8]

  /// A message with these parts.
  public init(command: AF1Command, number: UInt16, payload: [UInt8]) {
    self.command = command
    self.number = number
    self.payload = payload
  }
}
