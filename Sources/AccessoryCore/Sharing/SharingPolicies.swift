// SPDX-License-Identifier: Apache-2.0

/// Whose bytes are sent to a device that several programs share.
public enum SharingWriters: String, Sendable, Hashable, CaseIterable {
  /// No client's bytes: all clients only read.
  case none
  /// Only the bytes of the client that writes first, until it leaves.
  case one
  /// The bytes of all clients, in the order of arrival. Bytes that a client sends at once stay together.
  case many
}

/// What happens to the clients of a shared device when it is unplugged.
public enum SharingUnplug: String, Sendable, Hashable, CaseIterable {
  /// They are disconnected.
  case hangUp = "hang-up"
  /// They stay connected, and continue when the device is back. Bytes that they send meanwhile are discarded.
  case keep
}
