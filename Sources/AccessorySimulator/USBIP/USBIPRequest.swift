// SPDX-License-Identifier: Apache-2.0

/// A kernel's request to a USB device, over USB/IP (Documentation/usb/usbip_protocol.rst, version 1.1.1).
enum USBIPRequest: Sendable, Hashable {
  case submit(USBIPTransfer)
  /// Cancels the transfer that was submitted with the sequence number `target`.
  case unlink(sequence: UInt32, target: UInt32)
}

/// A USB transfer.
struct USBIPTransfer: Sendable, Hashable {
  /// The sequence number, which identifies the transfer.
  var sequence: UInt32
  /// The endpoint, with bit 7 set for IN. 0x00 and 0x80 are the control endpoint.
  var endpoint: UInt8
  /// The kernel's URB flags.
  var flags: USBIPTransferFlags = []
  /// The size of the host's buffer (IN), or of `data` (OUT), in bytes.
  var length: Int
  /// The setup packet of a control transfer.
  var setup = USBSetup()
  /// The data for the device.
  var data: [UInt8] = []

  /// Whether data goes to the host.
  var isIn: Bool { endpoint & 0x80 != 0 }
}

/// The flags of a transfer that concern the device (include/linux/usb.h).
struct USBIPTransferFlags: OptionSet, Sendable, Hashable {
  let rawValue: UInt32

  /// Less data than the buffer's size is an error (URB_SHORT_NOT_OK).
  static let shortNotOK = USBIPTransferFlags(rawValue: 0x1)
}

/// The setup packet of a control transfer (USB 2.0, 9.3). It is little-endian, unlike the rest of USB/IP.
struct USBSetup: Sendable, Hashable {
  /// Direction (bit 7), kind (bits 5 and 6) and recipient (bits 0 to 4).
  var requestType: UInt8 = 0
  /// The request's number (bRequest).
  var request: UInt8 = 0
  /// The request's value (wValue).
  var value: UInt16 = 0
  /// The request's index (wIndex), often an interface or an endpoint.
  var index: UInt16 = 0
  /// The size of the data stage, in bytes (wLength).
  var length: UInt16 = 0

  /// Which specification defines the request.
  enum Kind: Sendable, Hashable { case standard, classSpecific, vendor, reserved }

  /// Which specification defines the request.
  var kind: Kind { [.standard, .classSpecific, .vendor, .reserved][Int(requestType >> 5 & 3)] }
}

/// An error that makes a stream of requests unreadable. The next request can't be found, so the device must be unplugged.
enum USBIPError: Error, Hashable, Sendable {
  /// The header has an unknown command.
  case unknownCommand(UInt32)
  /// The direction is neither 0 nor 1.
  case badDirection(UInt32)
  /// The endpoint's number is larger than 15.
  case badEndpoint(UInt32)
  /// The transfer is too large, with this many bytes.
  case tooLong(UInt32)
  /// The transfer is isochronous. Simulated devices have no endpoints for that.
  case isochronous
  /// There are more transfers at a time than any driver has.
  case tooMany
}
