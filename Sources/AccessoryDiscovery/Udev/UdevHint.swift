// SPDX-License-Identifier: Apache-2.0

/// What a message of the kernel or of udev tells: that something happened to a device. What is there now, the file
/// system says; only that something is gone is believed as it stands.
struct UdevHint: Sendable, Hashable {
  /// What happened, as far as it makes a difference.
  enum Action: Sendable, Hashable {
    case removed
    /// It has another devpath now.
    case moved(from: String)
    /// It came, a driver took it or let it go, or something of it is otherwise.
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
