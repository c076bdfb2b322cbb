// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A request to an AF1 accessory.
public struct AF1Request: Sendable, Hashable {
  /// What is asked.
  public var command: AF1Command
  /// Its arguments.
  public var payload: [UInt8]
  /// Whether running it twice does no harm. A request that isn't idempotent is repeated only if the accessory certainly
  /// hasn't restarted and so still knows whether it ran it.
  public var isIdempotent: Bool
  /// Bytes of the largest payload that the reply may have, for the time limit; nil: as large as the accessory's can be.
  public var largestReply: Int?
  /// Whether requests of this kind may overlap, as many as the accessory's window allows, if the pacing only waits for
  /// replies. Used for the pieces of a file, whose answers tell their order.
  public var mayOverlap: Bool

  /// A request. Whether it is idempotent is taken from the command, unless said.
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
  /// What is answered or told.
  public var command: AF1Command
  /// The request's number, or the event's own.
  public var number: UInt16
  /// The contents.
  public var payload: [UInt8]

  /// A message of these parts.
  public init(command: AF1Command, number: UInt16, payload: [UInt8]) {
    self.command = command
    self.number = number
    self.payload = payload
  }
}
