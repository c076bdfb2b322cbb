// SPDX-License-Identifier: Apache-2.0

/// What a kernel asks of a USB device over USB/IP: Documentation/usb/usbip_protocol.rst, version 1.1.1.
enum USBIPRequest: Sendable, Hashable {
  /// A transfer to do.
  case submit(USBIPTransfer)
  /// A transfer to forget: the one that was submitted as number `target`.
  case unlink(sequence: UInt32, target: UInt32)
}

/// A transfer that the kernel wants done.
struct USBIPTransfer: Sendable, Hashable {
  /// What the kernel knows it by.
  var sequence: UInt32
  /// The endpoint, with bit 7 set when data goes to the host; 0x00 and 0x80 are the control endpoint.
  var endpoint: UInt8
  /// The kernel's URB flags.
  var flags: USBIPTransferFlags = []
  /// Bytes that there is room for (IN), or that follow (OUT).
  var length: Int
  /// The first stage of a control transfer.
  var setup = USBSetup()
  /// What goes to the device.
  var data: [UInt8] = []

  /// True when data goes to the host.
  var isIn: Bool { endpoint & 0x80 != 0 }
}

/// The flags of a transfer that matter to a device (include/linux/usb.h).
struct USBIPTransferFlags: OptionSet, Sendable, Hashable {
  let rawValue: UInt32

  /// Less data than there is room for is an error (URB_SHORT_NOT_OK).
  static let shortNotOK = USBIPTransferFlags(rawValue: 0x1)
}

/// The eight bytes that a control transfer begins with (USB 2.0, 9.3). Little-endian, unlike all around it.
struct USBSetup: Sendable, Hashable {
  /// Direction (bit 7), kind (bits 5 and 6) and recipient (bits 0 to 4).
  var requestType: UInt8 = 0
  /// Which request.
  var request: UInt8 = 0
  /// Its first number.
  var value: UInt16 = 0
  /// Its second number, often an interface or an endpoint.
  var index: UInt16 = 0
  /// Bytes of its data stage.
  var length: UInt16 = 0

  /// Who defines the request.
  enum Kind: Sendable, Hashable { case standard, classSpecific, vendor, reserved }

  /// Who defines the request.
  var kind: Kind { [.standard, .classSpecific, .vendor, .reserved][Int(requestType >> 5 & 3)] }
}

/// What makes a stream of requests unreadable. There is no way to find the next one: the device must be unplugged.
enum USBIPError: Error, Hashable, Sendable {
  /// A header with this command, which is none of a kernel's.
  case unknownCommand(UInt32)
  /// A direction other than 0 and 1.
  case badDirection(UInt32)
  /// An endpoint beyond 15.
  case badEndpoint(UInt32)
  /// A transfer of this many bytes.
  case tooLong(UInt32)
  /// Isochronous packets, which no simulated device has an endpoint for.
  case isochronous
  /// More transfers at a time than any driver has.
  case tooMany
}
