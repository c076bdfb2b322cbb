// SPDX-License-Identifier: Apache-2.0

import MessageBus
import Testing

@testable import AccessoryBluetooth

/// What bluetoothd says when a device refuses something (create_gatt_dbus_error in its src/gatt-client.c).
@Suite struct RadioFailureTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let failure: RadioFailure
    let ofRead: RadioFailure?

    init(_ name: String, _ text: String, _ failure: RadioFailure, ofRead: RadioFailure? = nil) {
      (self.name, self.text, self.failure, self.ofRead) = ("org.bluez.Error." + name, text, failure, ofRead)
    }

    var testDescription: String { "\(name) \(text)" }
  }

  @Test(
    arguments: [
      // Numbers with a name of their own.
      Refusal("NotPermitted", "Read not permitted", .refused(2)),
      Refusal("NotPermitted", "Write not permitted", .refused(3)),
      Refusal("NotPermitted", "Not paired", .refused(5)),
      Refusal("NotSupported", "Operation is not supported", .refused(6)),
      Refusal("InvalidArguments", "Invalid offset", .refused(7)),
      Refusal("NotAuthorized", "Operation Not Authorized", .refused(8)),
      Refusal("InvalidArguments", "Invalid Length", .refused(13)),
      // All others.
      Refusal("Failed", "Operation failed with ATT error: 0x01", .refused(1)),
      Refusal("Failed", "Operation failed with ATT error: 0x0e", .refused(14)),
      Refusal("Failed", "Operation failed with ATT error: 0x11", .refused(17)),
      Refusal("Failed", "Operation failed with ATT error: 0x80", .refused(0x80)),
      Refusal("Failed", "Operation failed with ATT error: 0xff", .refused(0xFF)),
      // Without a number.
      Refusal("Failed", "Operation failed", .failed),
      Refusal("Failed", "Operation failed with ATT error: 0x00", .failed),
      Refusal("Failed", "Operation failed with ATT error: 0xzz", .failed),
      Refusal("Failed", "Failed to initiate write", .failed),
      Refusal("Failed", "Not connected", .notConnected),
      Refusal("NotConnected", "Not Connected", .notConnected),
      Refusal("InProgress", "In Progress", .failed),
      Refusal("InvalidArguments", "Invalid arguments in method call", .failed),
      Refusal("NotPermitted", "Notify acquired", .failed),
      Refusal("NotPermitted", "Write acquired", .failed),
      Refusal("DoesNotExist", "Does Not Exist", .noAttribute),
      // Of its manual, and of other versions.
      Refusal("InvalidOffset", "", .refused(7)),
      Refusal("InvalidValueLength", "", .refused(13)),
      Refusal("NotPermitted", "", .refused(3), ofRead: .refused(2)),
    ])
  func whatBluetoothdSays(_ refusal: Refusal) {
    let failure = BusFailure(refusal.name, refusal.text)
    #expect(RadioFailure(failure, isWrite: true) == refusal.failure)
    #expect(RadioFailure(failure, isWrite: false) == refusal.ofRead ?? refusal.failure)
  }
}
