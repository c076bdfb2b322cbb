// SPDX-License-Identifier: Apache-2.0

/// A hint from a message of the kernel or udev that something happened to a device. The file system tells what is there
/// now; only removals are taken from the message itself.
struct UdevHint: Sendable, Hashable {
  /// The kind of event.
  enum Action: Sendable, Hashable {
    case removed
    /// It has another devpath now.
    case moved(from: String)
    /// It was added, a driver was bound or unbound, or a property changed.
    case changed
  }

  var action: Action
  var devpath: String
  /// Address on the bus, of a device on USB.
  var address: Int?
  /// What udev knows of it; nil when the message is the kernel's.
  var properties: UdevProperties?
}

/// What comes from a monitor.
enum UdevMessage: Sendable, Hashable {
  case hint(UdevHint)
  /// More happened than was kept: look for yourself.
  case overflow
}
