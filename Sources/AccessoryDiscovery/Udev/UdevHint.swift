// SPDX-License-Identifier: Apache-2.0

/// A hint from a message of the kernel or udev that something happened to a device. A scan of the file system finds out
/// what is present now; only removals are taken from the message itself.
struct UdevHint: Sendable, Hashable {
  /// The kind of event.
  enum Action: Sendable, Hashable {
    case removed
    /// The device has another devpath now.
    case moved(from: String)
    /// The device was added, a driver was bound or unbound, or a property changed.
    case changed
  }

  var action: Action
  var devpath: String
  /// The address on the bus, for a USB device.
  var address: Int?
  /// The properties that udev has for the device; nil when the message is from the kernel.
  var properties: UdevProperties?
}

/// A message from a monitor.
enum UdevMessage: Sendable, Hashable {
  case hint(UdevHint)
  /// The kernel dropped messages, so the devices must be scanned.
  case overflow
}
