// SPDX-License-Identifier: Apache-2.0

/// Which frames behind an unfinished one are delivered when the line falls silent.
///
/// Either the unfinished frame has lost bytes, and whole frames behind its start are real; or the rest of it is only
/// late, and they are part of its payload. A receiver can't distinguish the two cases.
public enum SilenceRule: Sendable, Hashable {
  /// Every finished frame.
  ///
  /// For a host, which receives events, and replies that are protected by their numbers.
  case everyFinished

  /// Only frames that end exactly where the line fell silent: whole frames, one after another, up to the last byte that
  /// arrived.
  ///
  /// For an accessory, which executes what it receives. If a frame that contains other frames has lost a byte, its own
  /// checksum follows them, so they are not taken for commands. With `everyFinished` they would be, as soon as the
  /// sender waits for its reply.
  case onlyLast
}
