// SPDX-License-Identifier: Apache-2.0

/// A frame that is whole but for its check.
public struct DamagedFrame<Header: Sendable>: Sendable {
  /// What the frame says besides its payload.
  public let header: Header
  /// What is wrong with its check.
  public let mismatch: CheckMismatch
  /// All its bytes. They are also counted as skipped.
  public let bytes: [UInt8]
  /// How many frames were in the batch when it was found: it lies behind so many of them.
  public let position: Int

  package init(header: Header, mismatch: CheckMismatch, bytes: [UInt8], position: Int) {
    (self.header, self.mismatch, self.bytes, self.position) = (header, mismatch, bytes, position)
  }
}
