// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A frame as a value.
public struct Frame<Header: Sendable>: Sendable {
  /// What it says besides its payload, in the form that its codec has for that.
  public var header: Header
  /// Its contents.
  public var payload: [UInt8]

  /// A frame of these parts.
  public init(_ header: Header, payload: [UInt8] = []) {
    self.header = header
    self.payload = payload
  }
}

extension Frame: Equatable where Header: Equatable {}
extension Frame: Hashable where Header: Hashable {}

/// A request of a `FrameExchange`.
public struct FrameRequest<Header: Sendable>: Sendable {
  /// What is sent; the exchange puts the request's number into it where the protocol has numbers.
  public var frame: Frame<Header>
  /// What errors call it, such as `BATTERY`.
  public var name: String
  /// Whether a reply is awaited. If not, the request is over when it is sent.
  public var isAnswered: Bool
  /// Whether running it twice does no harm. Only then it is repeated when there is no answer.
  public var isIdempotent: Bool
  /// Time for an answer, without the time on the wire; nil: as long as the exchange's options say.
  public var timeout: Duration?

  /// A request of these parts.
  public init(
    _ frame: Frame<Header>, name: String, isAnswered: Bool = true, isIdempotent: Bool = false, timeout: Duration? = nil
  ) {
    self.frame = frame
    self.name = name
    self.isAnswered = isAnswered
    self.isIdempotent = isIdempotent
    self.timeout = timeout
  }
}

/// How a frame relates to a request that waits for its reply.
public enum FrameAnswer: Sendable, Hashable {
  /// It is the reply.
  case reply
  /// The accessory refuses the request: the reason's number, if it gives one, and what that means.
  case refusal(UInt8?, String)
  /// It has nothing to do with this request.
  case unrelated
}
