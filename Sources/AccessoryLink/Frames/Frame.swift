// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// A decoded frame.
public struct Frame<Header: Sendable>: Sendable {
  /// The parts of the frame besides its payload, in the codec's form.
  public var header: Header
  /// The payload.
  public var payload: [UInt8]

  /// A frame with these parts.
  public init(_ header: Header, payload: [UInt8] = []) {
    self.header = header
    self.payload = payload
  }
}

extension Frame where Header == NoHeader {
  /// A frame that consists of a payload alone, such as a line of text.
  public init(payload: [UInt8]) { self.init(NoHeader(), payload: payload) }
}

extension Frame: Equatable where Header: Equatable {}
extension Frame: Hashable where Header: Hashable {}

/// A request of a `FrameExchange`.
public struct FrameRequest<Header: Sendable>: Sendable {
  /// The frame to send. The exchange writes the request's number into it, if the protocol has numbers.
  public var frame: Frame<Header>
  /// The request's name in error messages, such as `BATTERY`.
  public var name: String
  /// Whether the request has a reply. If not, it is complete when it is sent.
  public var isAnswered: Bool
  /// Whether running the request twice does no harm. Only then is it repeated when there is no reply.
  public var isIdempotent: Bool
  /// Timeout for the reply, not counting the time on the wire; nil means the timeout of the exchange's options.
  public var timeout: Duration?

  /// A request with these parts.
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

/// How a frame relates to an outstanding request.
public enum FrameAnswer: Sendable, Hashable {
  /// The frame is the reply.
  case reply
  /// The accessory refuses the request: the number of the reason, if it gives one, and what that number means.
  case refusal(UInt8?, String)
  /// The frame has nothing to do with this request.
  case unrelated
}
