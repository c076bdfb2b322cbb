// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// HELLO: the first request after every open. The accessory then forgets earlier requests.
public struct AF1HelloRequest: AF1Payload {
  /// A number that the host chooses anew each time.
  public var nonce: UInt32

  /// A request with this nonce.
  public init(nonce: UInt32) { self.nonce = nonce }

  /// Reads the four bytes of a request.
  ///
  /// - Throws: `AF1PayloadError` if there are fewer or more.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.requireExactly(4)
    nonce = payload.load(littleEndianAt: 0, as: UInt32.self)
  }

  /// Appends the four bytes.
  public func encode(into output: inout [UInt8]) { output.append(littleEndian: nonce) }
}

/// The reply to HELLO.
public struct AF1HelloReply: AF1Payload {
  /// A number that changes when the accessory restarts.
  public var bootID: UInt32
  /// The longest payload that the accessory accepts, in bytes.
  public var largestPayload: UInt16
  /// How many requests may be outstanding at once, at least 1; a 0 from an accessory is read as 1.
  public var window: UInt8

  /// The values for an accessory that does not know HELLO. The boot identifier has no meaning.
  public static let assumedWithoutHello = AF1HelloReply(bootID: 0, largestPayload: 256, window: 1)

  /// A reply with these values.
  public init(bootID: UInt32, largestPayload: UInt16, window: UInt8) {
    self.bootID = bootID
    self.largestPayload = largestPayload
    self.window = window
  }

  /// Reads a reply. The eighth byte is reserved and ignored; bytes behind it are ignored.
  ///
  /// - Throws: `AF1PayloadError.tooShort` if there are fewer than eight bytes.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.require(8)
    bootID = payload.load(littleEndianAt: 0, as: UInt32.self)
    largestPayload = payload.load(littleEndianAt: 4, as: UInt16.self)
    window = max(1, payload.byte(at: 6))
  }

  /// Appends the eight bytes.
  public func encode(into output: inout [UInt8]) {
    output.append(littleEndian: bootID)
    output.append(littleEndian: largestPayload)
    output.append(window)
    output.append(0)
  }
}

/// An empty payload, of requests without arguments and of the reply to TRANSFER_ABORT.
public struct AF1Empty: AF1Payload {
  /// An empty payload.
  public init() {}

  /// Checks that the payload is empty.
  ///
  /// - Throws: `AF1PayloadError.tooLong` if it isn't.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) { try payload.requireExactly(0) }

  /// Appends nothing.
  public func encode(into output: inout [UInt8]) {}
}
