// SPDX-License-Identifier: Apache-2.0

/// What a simulated USB device is and who it says it is.
public struct SimulatedUSBIdentity: Sendable, Hashable {
  /// How its bytes reach the host.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A vendor's own interface with two bulk endpoints.
    case bulk
    /// A modem of the communications class: the kernel makes a `/dev/ttyACM` of it.
    case modem
    /// An FTDI FT232R adapter: the kernel makes a `/dev/ttyUSB` of it.
    case ftdi
    /// A HID interface with reports of 1024 bytes.
    case reports

    /// How fast the device is on the bus.
    var speed: USBSpeed { self == .ftdi ? .full : .high }

    var function: any USBFunction {
      switch self {
      case .bulk: BulkFunction()
      case .modem: ModemFunction()
      case .ftdi: FTDIFunction()
      case .reports: ReportFunction()
      }
    }
  }

  /// How its bytes reach the host.
  public var kind: Kind
  /// The vendor's number; 1209 is pid.codes', which keeps some products for tests like this.
  public var vendorID: UInt16
  /// The product's number.
  public var productID: UInt16
  /// The device's release, in binary-coded decimals.
  public var release: UInt16 = 0x0100
  /// Who makes it; the first 126 units of UTF-16, as with the other strings.
  public var manufacturer = "Accessory Bridge"
  /// What it is.
  public var product = "Simulated accessory"
  /// Which one of these.
  public var serialNumber = "SIM0001"

  /// A device of this kind with numbers that belong to no product: 1209:0001 to 1209:0003. An FTDI adapter is known to
  /// its driver by its own, 0403:6001, and has those.
  public init(_ kind: Kind) {
    self.kind = kind
    (vendorID, productID) =
      switch kind {
      case .bulk: (0x1209, 0x0001)
      case .modem: (0x1209, 0x0002)
      case .reports: (0x1209, 0x0003)
      case .ftdi: (0x0403, 0x6001)
      }
    // By the release the driver tells the chips apart.
    if kind == .ftdi { release = 0x0600 }
  }
}

/// How fast a device is on the bus, by the kernel's numbers (include/uapi/linux/usb/ch9.h).
enum USBSpeed: Int, Sendable, Hashable {
  /// 12 Mbit/s.
  case full = 2
  /// 480 Mbit/s.
  case high = 3
}
