// SPDX-License-Identifier: Apache-2.0

/// The direction in which bytes go.
public enum ByteDirection: String, Sendable, Hashable, CaseIterable {
  /// From the device to this process.
  case fromDevice = "from_device"
  /// From this process to the device.
  case toDevice = "to_device"
}
