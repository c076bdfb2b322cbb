// SPDX-License-Identifier: Apache-2.0

/// The header of a framing whose frames are nothing but payload.
public struct NoHeader: Sendable, Hashable {
  /// The one value there is.
  @inlinable public init() {}
}
