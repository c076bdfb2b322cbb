// SPDX-License-Identifier: Apache-2.0

/// HELLO: the first request after every open. It clears what the accessory remembers of earlier requests.
public struct AF1HelloRequest: AF1Payload {
  /// A number that the host chooses anew each time.
  public var nonce: UInt32

  /// A request with this nonce.
  public init(nonce: UInt32) { self.nonce = nonce }

  /// Reads the four bytes of a request.
  ///
  /// - Throws: `AF1PayloadError` if there are not four.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) {
    try payload.requireExactly(4)
    nonce = payload.load(littleEndianAt: 0, as: UInt32.self)
  }

  /// Appends the four bytes.
  public func encode(into output: inout [UInt8]) { output.append(littleEndian: nonce) }
}

/// The reply to HELLO.
public struct AF1HelloReply: AF1Payload {
  /// Changes when the accessory restarts.
  public var bootID: UInt32
  /// The longest payload that the accessory takes, in bytes.
  public var largestPayload: UInt16
  /// How many requests may be outstanding at once, at least 1; an accessory that says 0 is read as saying 1.
  public var window: UInt8

  /// What holds for an accessory that does not know HELLO; its boot identifier means nothing.
  public static let assumedWithoutHello = AF1HelloReply(bootID: 0, largestPayload: 256, window: 1)

  /// A reply with these values.
  public init(bootID: UInt32, largestPayload: UInt16, window: UInt8) {
    self.bootID = bootID
    self.largestPayload = largestPayload
    self.window = window
  }

  /// Reads a reply. The eighth byte is reserved and not looked at; bytes behind it are ignored.
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

/// The payload of requests without arguments, and of the reply to TRANSFER_ABORT: nothing.
public struct AF1Empty: AF1Payload {
  /// Nothing.
  public init() {}

  /// Reads nothing.
  ///
  /// - Throws: `AF1PayloadError.tooLong` if there is something.
  public init(decoding payload: RawSpan) throws(AF1PayloadError) { try payload.requireExactly(0) }

  /// Appends nothing.
  public func encode(into output: inout [UInt8]) {}
}
