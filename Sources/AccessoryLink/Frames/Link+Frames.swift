// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

extension Link {
  /// Sends a request and waits for its reply. Throws what `request` throws, and `misconfigured`, with nothing sent, for
  /// one that isn't answered.
  public func ask<Codec>(
    _ request: FrameRequest<Codec.Header>
  ) async throws(AccessoryError) -> Frame<Codec.Header> where Rules == FrameExchange<Codec> {
    guard request.isAnswered, let reply = try await self.request(request) else {
      throw AccessoryError(.misconfigured, "\(request.name) is a request without a reply: use tell for \(label)")
    }
    return reply
  }

  /// Sends a frame that nothing answers; returns when it is on its way. Throws what `request` throws.
  public func tell<Codec>(
    _ frame: Frame<Codec.Header>, name: String
  ) async throws(AccessoryError) where Rules == FrameExchange<Codec> {
    _ = try await request(FrameRequest(frame, name: name, isAnswered: false))
  }
}
