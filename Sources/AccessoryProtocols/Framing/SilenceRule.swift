// SPDX-License-Identifier: Apache-2.0

/// Which frames behind an unfinished one are delivered when the line falls silent.
///
/// An unfinished frame either lost bytes, and whole frames behind its start are real; or it is only late, and they are
/// its payload. Nothing on the line tells which.
public enum SilenceRule: Sendable, Hashable {
  /// Every finished frame, as the AF1 specification has it.
  ///
  /// Fits a host: what arrives are replies, which their numbers protect, and events.
  case everyFinished

  /// Only those with which the line fell silent: whole frames, one after another, up to the last byte that arrived.
  ///
  /// Fits an accessory, which runs what it is sent. If a frame that carries others lost a byte, its own checksum follows
  /// them, so they are not taken for commands; with `everyFinished` they are, as soon as the sender waits for its reply.
  case onlyLast
}
