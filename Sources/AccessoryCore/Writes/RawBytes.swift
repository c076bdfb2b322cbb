// SPDX-License-Identifier: Apache-2.0

/// What raw bytes can do to an accessory: bytes that its driver hasn't made, for example those that a user types.
public enum RawBytes: String, Sendable, Hashable, CaseIterable {
  /// Whoever may use the accessory may send it any bytes.
  case harmless
  /// Bytes may change settings or state that matter. Sending them needs permissions.
  case guarded
  /// Nobody has decided it yet. Sending bytes needs permissions, as with `guarded`.
  case undecided
}
