// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage

/// Who a simulated USB device is plugged into.
public protocol USBHost: Sendable {
  /// Plugs in a device of this speed (2 is full, 3 is high, as the kernel counts), at `path` if that is free: where it
  /// was before. May block.
  func attach(speed: Int, preferring path: String?) throws(AccessoryError) -> USBCable
}

/// A plugged-in device's end of the cable.
public struct USBCable: Sendable {
  /// A non-blocking stream socket on which the host speaks USB/IP; closing it pulls the cable.
  public let descriptor: FileDescriptor
  /// Where the device is: its directory in sysfs, or what a person would call the port.
  public let path: String

  /// A device at `path` whose cable ends in `descriptor`.
  public init(descriptor: FileDescriptor, path: String) {
    self.descriptor = descriptor
    self.path = path
  }
}
