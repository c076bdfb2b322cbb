// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension Link {
  /// Sends a request and waits for its reply. Throws the errors of `request`, and `misconfigured` without sending
  /// anything, for a request that has no reply.
  public func ask<Codec>(
    _ request: FrameRequest<Codec.Header>
  ) async throws(AccessoryError) -> Frame<Codec.Header> where Rules == FrameExchange<Codec> {
    guard request.isAnswered, let reply = try await self.request(request) else {
      throw AccessoryError(.misconfigured, "\(request.name) has no reply: send it to \(label) with tell")
    }
    return reply
  }

  /// Sends a frame that has no reply, and returns when it is queued for the transport. Throws the errors of `request`.
  public func tell<Codec>(
    _ frame: Frame<Codec.Header>, name: String
  ) async throws(AccessoryError) where Rules == FrameExchange<Codec> {
    _ = try await request(FrameRequest(frame, name: name, isAnswered: false))
  }
}
