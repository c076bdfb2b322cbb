// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import SystemPackage

/// A host that a simulated USB device can be plugged into.
public protocol USBHost: Sendable {
  /// Plugs in a device of this speed (the kernel's numbers: 2 is full, 3 is high speed), at `path` if that port is
  /// free, so that a device can return to its port. May block.
  func attach(speed: Int, preferring path: String?) throws(AccessoryError) -> USBCable
}

/// The device's end of the cable to a host.
public struct USBCable: Sendable {
  /// A non-blocking stream socket over which the host speaks USB/IP. Closing it unplugs the device.
  public let descriptor: FileDescriptor
  /// The device's directory in sysfs, or a name of the port.
  public let path: String

  /// A cable of the device at `path`.
  public init(descriptor: FileDescriptor, path: String) {
    self.descriptor = descriptor
    self.path = path
  }
}
