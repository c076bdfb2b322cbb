// SPDX-License-Identifier: Apache-2.0

import MessageBus

extension RadioFailure {
  /// The failure behind an error of bluetoothd's GATT client. bluetoothd has names for some error codes of the Attribute Protocol,
  /// one name and text for three of them (5, 12, 15: "Not paired"), and sends the number of the others. Names that its manual lists
  /// but it doesn't send, such as InvalidOffset, are also understood.
  init(_ failure: BusFailure, isWrite: Bool) {
    // "Operation failed with ATT error: 0x81"
    if let range = failure.text.firstRange(of: "ATT error: 0x"),
      let number = UInt8(failure.text[range.upperBound...].prefix(2), radix: 16), number != 0
    {
      self = .refused(number)
      return
    }
    self =
      switch (failure.name, failure.text) {
      case ("org.bluez.Error.NotPermitted", let text) where text.contains("acquired"): .failed
      case ("org.bluez.Error.NotPermitted", "Not paired"): .refused(5)
      case ("org.bluez.Error.NotPermitted", "Read not permitted"): .refused(2)
      case ("org.bluez.Error.NotPermitted", "Write not permitted"): .refused(3)
      case ("org.bluez.Error.NotPermitted", _): .refused(isWrite ? 3 : 2)
      case ("org.bluez.Error.NotAuthorized", _): .refused(8)
      case ("org.bluez.Error.NotSupported", _): .refused(6)
      case ("org.bluez.Error.InvalidArguments", "Invalid offset"), ("org.bluez.Error.InvalidOffset", _): .refused(7)
      case ("org.bluez.Error.InvalidArguments", "Invalid Length"), ("org.bluez.Error.InvalidValueLength", _):
        .refused(13)
      case ("org.bluez.Error.Failed", "Not connected"), ("org.bluez.Error.NotConnected", _),
        (BusFailure.disconnected.name, _):
        .notConnected
      case ("org.bluez.Error.DoesNotExist", _), ("org.freedesktop.DBus.Error.UnknownObject", _): .noAttribute
      case ("org.freedesktop.DBus.Error.UnknownMethod", _): .unsupported
      default: .failed
      }
  }
}
