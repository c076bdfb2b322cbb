// SPDX-License-Identifier: Apache-2.0

/// Which pair of endpoints to open, and how to use them.
public struct USBTransportConfiguration: Sendable, Hashable {
  /// The usbfs device node ("/dev/bus/usb/001/004").
  public var path: String
  /// The device's name for people; the path by default.
  public var label: String
  /// The interface to claim; nil selects the first vendor-specific one that has an IN and an OUT endpoint.
  public var interface: UInt8?
  /// The interface's alternate setting; nil selects the first that has both endpoints.
  public var alternateSetting: UInt8?
  /// The address of the IN endpoint; nil selects the interface's first bulk or interrupt one.
  public var inEndpoint: UInt8?
  /// The address of the OUT endpoint; nil selects the interface's first bulk or interrupt one.
  public var outEndpoint: UInt8?
  /// How bytes are put into transfers. Nil selects padded messages for a HID interface, whose reports have a fixed
  /// size, and a stream for all others.
  public var shape: Shape?
  /// Transfers of each direction that are with libusb at once, 1 to 64; 4 by default. With fewer than 4, the bus is
  /// idle between transfers.
  public var transfersInFlight = 4
  /// The largest transfer in bytes, 16 KiB by default. It is rounded down to whole packets, from 1 packet to 1 MiB. A
  /// transfer of an interrupt endpoint is one packet. For a stream, transfers are up to four times as large: to the
  /// device while that many bytes wait, and from the device while it fills them quickly.
  public var transferSize = 16_384

  /// How bytes are put into transfers.
  public enum Shape: String, Sendable, Hashable, CaseIterable {
    /// A byte stream. The boundaries of transfers have no meaning.
    case stream
    /// A transfer from the device is a message, and each write to the device is one message.
    case messages
    /// Like `messages`, and each message to the device is padded with zeros to whole packets, as HID accessories with
    /// reports of a fixed size expect.
    case paddedMessages = "padded"
  }

  /// A configuration for the device at `path`, whose endpoints are found from its descriptors.
  public init(path: String, label: String? = nil) {
    self.path = path
    self.label = label ?? path
  }

  /// The number of unread bytes at which reading pauses. It is the size of several rounds of transfers, so that the bus
  /// stays busy while a consumer wakes up.
  static let inputHighWater = 524_288

  /// The largest transfer of a fast stream in bytes. Larger transfers take less work for as many bytes.
  var streamTransferSize: Int { 4 * min(max(transferSize, 1), 1 << 18) }

  /// If two full transfers follow each other within this time, the stream counts as fast. Larger transfers would delay
  /// the bytes of a slow stream, because a device that sends only full packets doesn't end a transfer early.
  static let quickly = Duration.milliseconds(4)

  /// The number of unsent bytes at which a producer has to wait. It continues at half of that: then all transfers are
  /// filled, so the bus stays busy until the producer has woken up.
  var outputHighWater: Int { 2 * max(transfersInFlight, 2) * streamTransferSize }
}
