// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import MessageBus

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

  /// The error of a call that bluetoothd has refused. `action` says what was tried ("connecting to ble:…"). `unpaired` is the address
  /// for pairing the device; nil when it is paired or needs no pairing.
  init(refusal failure: BusFailure, _ action: String, unpaired: DeviceAddress? = nil) {
    if failure == .cancelled {
      self.init(.cancelled, "\(action) was cancelled")
      return
    }
    if failure.isByEnd {
      self = .bluetoothdEnded
      return
    }
    if failure.isTimeout {
      // If a device requires pairing and nobody pairs it, bluetoothd and the kernel report nothing: no answer comes.
      let words = "\(action): bluetoothd doesn't answer"
      self.init(.timedOut, words + (unpaired.map { Self.pairingHint($0) } ?? ""))
      return
    }
    let kind: Kind =
      switch failure.name {
      case "org.bluez.Error.NotPermitted" where failure.text.contains("acquired"), "org.bluez.Error.InProgress": .busy
      case "org.bluez.Error.NotPermitted", "org.freedesktop.DBus.Error.AccessDenied": .permissionDenied
      case _ where Self.wantsPairing(failure): .permissionDenied
      case "org.bluez.Error.NotSupported", "org.freedesktop.DBus.Error.UnknownMethod": .unsupported
      case "org.bluez.Error.NotReady": .misconfigured
      case "org.bluez.Error.DoesNotExist", "org.freedesktop.DBus.Error.UnknownObject": .notFound
      case "org.bluez.Error.NotConnected", BusFailure.disconnected.name: .disconnected
      default: .ioFailure
      }
    self.init(kind, action + Self.words(failure) + Self.advice(failure, unpaired))
  }

  /// The error for a device that must be paired first.
  static func mustBePaired(_ label: String, _ address: DeviceAddress) -> AccessoryError {
    AccessoryError(.permissionDenied, "\(label) must be paired first: \(pairing(address))")
  }

  /// Advice for an unpaired device that doesn't answer for an unknown reason.
  static func pairingHint(_ address: DeviceAddress) -> String { "; if it must be paired first: \(pairing(address))" }

  private static func pairing(_ address: DeviceAddress) -> String { "bridge-cli bluetooth pair \(address)" }

  /// Whether the device has refused because the link isn't encrypted or authenticated.
  private static func wantsPairing(_ failure: BusFailure) -> Bool {
    switch failure.name {
    case "org.bluez.Error.AuthenticationFailed", "org.bluez.Error.AuthenticationRejected",
      "org.bluez.Error.NotAuthorized":
      true
    // ATT errors: the value requires a paired device, or a longer encryption key.
    case "org.bluez.Error.NotPermitted": failure.text.contains("Insufficient")
    case "org.bluez.Error.Failed":
      ["0x05", "0x08", "0x0c", "0x0f"].contains { failure.text.contains("ATT error: \($0)") }
    default: false
    }
  }

  private static func words(_ failure: BusFailure) -> String {
    let text = failure.text.isEmpty ? failure.name : ConnectionFailure.words(failure.text) ?? failure.text
    return ": " + SafeText.escape(text, limit: 200)
  }

  private static func advice(_ failure: BusFailure, _ unpaired: DeviceAddress?) -> String {
    switch failure.name {
    case _ where wantsPairing(failure):
      unpaired.map { "; it must be paired first: \(pairing($0))" }
        ?? "; it must be paired again: bridge-cli bluetooth unpair, and then pair"
    case "org.bluez.Error.NotPermitted" where failure.text.contains("acquired"):
      "; another program uses it: end that one"
    case "org.bluez.Error.InProgress": "; another program uses it, or has just begun to"
    case "org.bluez.Error.NotReady": "; the adapter is off: bluetoothctl power on"
    default: ""
    }
  }
}
