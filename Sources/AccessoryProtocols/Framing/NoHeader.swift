// SPDX-License-Identifier: Apache-2.0

/// The header of a framing whose frames consist of a payload only.
public struct NoHeader: Sendable, Hashable {
  /// A header without contents.
  @inlinable public init() {}
}
