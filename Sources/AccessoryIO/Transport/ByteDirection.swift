// SPDX-License-Identifier: Apache-2.0

/// Which way bytes go.
public enum ByteDirection: String, Sendable, Hashable, CaseIterable {
  /// From the device to us.
  case fromDevice = "from_device"
  /// From us to the device.
  case toDevice = "to_device"
}
