// SPDX-License-Identifier: Apache-2.0

/// Which pair of endpoints to open, and how.
public struct USBTransportConfiguration: Sendable, Hashable {
  /// The device node that usbfs has for it ("/dev/bus/usb/001/004").
  public var path: String
  /// The device's name for people; the path by default.
  public var label: String
  /// The interface to claim; nil takes the first vendor-specific one that has an IN and an OUT endpoint.
  public var interface: UInt8?
  /// The interface's alternate setting; nil takes the first that has both endpoints.
  public var alternateSetting: UInt8?
  /// The address of the IN endpoint; nil takes the interface's first bulk or interrupt one.
  public var inEndpoint: UInt8?
  /// The address of the OUT endpoint; nil takes the interface's first bulk or interrupt one.
  public var outEndpoint: UInt8?
  /// How bytes are put into transfers; nil takes padded messages for a HID interface, whose reports have one size, and a
  /// stream for all others.
  public var shape: Shape?
  /// Transfers of each direction that are with libusb at once, 1 to 64; 4 by default. With less than 4 the bus is idle
  /// between transfers.
  public var transfersInFlight = 4
  /// The most bytes of a transfer, 16 KiB by default; rounded down to whole packets, from 1 packet to 1 MiB. Interrupt
  /// endpoints take one packet a transfer. Where bytes are a stream, transfers are up to four times as large: to the
  /// device when as many wait, from the device while it fills them quickly.
  public var transferSize = 16_384

  /// How bytes are put into transfers.
  public enum Shape: String, Sendable, Hashable, CaseIterable {
    /// A stream; how it is split into transfers has no meaning.
    case stream
    /// One transfer from the device is one message, and one write is one transfer to it.
    case messages
    /// As messages, and each to the device is filled up with zeros to a whole packet: what a HID accessory with reports
    /// of a fixed size expects.
    case paddedMessages = "padded"
  }

  /// The endpoints of the device at `path`, found from its descriptors.
  public init(path: String, label: String? = nil) {
    self.path = path
    self.label = label ?? path
  }

  /// The number of unread bytes at which reading pauses. It is several rounds of transfers, so that a consumer may take
  /// a moment to wake up while the bus stays busy.
  static let inputHighWater = 524_288

  /// Bytes of a transfer at most, where bytes are a stream and there are many: less work for as many bytes.
  var streamTransferSize: Int { 4 * min(max(transferSize, 1), 1 << 18) }

  /// Two full transfers that follow each other within this are a stream with many bytes. One with few would come late in
  /// large transfers: a device that sends full packets only ends none of them early.
  static let quickly = Duration.milliseconds(4)

  /// The number of unsent bytes at which a writer waits. It continues at half of that: then all transfers are filled,
  /// so the bus stays busy until the writer has woken up.
  var outputHighWater: Int { 2 * max(transfersInFlight, 2) * streamTransferSize }
}
