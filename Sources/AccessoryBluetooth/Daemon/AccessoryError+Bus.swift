// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension AccessoryError {
  /// bluetoothd has ended while it was needed.
  package static let bluetoothdEnded = AccessoryError(
    .disconnected, "bluetoothd has ended: systemctl status bluetooth says why")

  /// The error of a failed call to bluetoothd.
  init(starting failure: BusFailure) {
    switch failure.name {
    case "org.freedesktop.DBus.Error.NameHasNoOwner":
      self.init(
        .disconnected,
        "Bluetooth isn't running on this computer: install the package bluez, and start it: sudo systemctl start bluetooth"
      )
    case "System.Error.2", "System.Error.111":
      self.init(
        .disconnected,
        "Bluetooth needs the system bus (D-Bus), which isn't running here: is dbus installed and started?")
    case "System.Error.65":
      self.init(.unsupported, "Bluetooth needs libsystemd, which isn't installed: the package libsystemd0 has it")
    case "org.freedesktop.DBus.Error.AccessDenied", "System.Error.13":
      self.init(.permissionDenied, "the system bus doesn't let this user talk to bluetoothd" + Self.words(failure))
    case _ where failure.isTimeout:
      self.init(.timedOut, "the system bus or bluetoothd doesn't answer: systemctl status dbus bluetooth says more")
    default:
      self.init(.ioFailure, "talking to bluetoothd failed" + Self.words(failure))
    }
  }

  /// The error of a call that bluetoothd has refused. `action` says what was tried ("connecting to ble:…").
  init(refusal failure: BusFailure, _ action: String) {
    if failure == .cancelled {
      self.init(.cancelled, "\(action) was cancelled")
      return
    }
    if failure.isByEnd {
      self = .bluetoothdEnded
      return
    }
    if failure.isTimeout {
      self.init(.timedOut, "\(action): bluetoothd doesn't answer")
      return
    }
    let kind: Kind =
      switch failure.name {
      case "org.bluez.Error.NotPermitted" where failure.text.contains("acquired"), "org.bluez.Error.InProgress": .busy
      case "org.bluez.Error.NotPermitted", "org.bluez.Error.NotAuthorized", "org.freedesktop.DBus.Error.AccessDenied",
        "org.bluez.Error.AuthenticationFailed", "org.bluez.Error.AuthenticationRejected":
        .permissionDenied
      case "org.bluez.Error.NotSupported", "org.freedesktop.DBus.Error.UnknownMethod": .unsupported
      case "org.bluez.Error.NotReady": .misconfigured
      case "org.bluez.Error.DoesNotExist", "org.freedesktop.DBus.Error.UnknownObject": .notFound
      case "org.bluez.Error.NotConnected", BusFailure.disconnected.name: .disconnected
      default: .ioFailure
      }
    self.init(kind, action + Self.words(failure) + Self.advice(failure))
  }

  private static func words(_ failure: BusFailure) -> String {
    let text = failure.text.isEmpty ? failure.name : failure.text
    return ": " + SafeText.escape(text, limit: 200)
  }

  private static func advice(_ failure: BusFailure) -> String {
    switch failure.name {
    case "org.bluez.Error.NotPermitted" where failure.text.contains("acquired"):
      "; another program uses it: end that one"
    case "org.bluez.Error.InProgress": "; another program uses it, or has just begun to"
    case "org.bluez.Error.NotReady": "; the adapter is off: bluetoothctl power on"
    case "org.bluez.Error.AuthenticationFailed", "org.bluez.Error.AuthenticationRejected":
      "; it must be paired first: bluetoothctl pair ADDRESS"
    default: ""
    }
  }
}
