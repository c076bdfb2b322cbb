// SPDX-License-Identifier: Apache-2.0

/// The kind of a simulated USB device, and the ids and strings in its descriptors.
public struct SimulatedUSBIdentity: Sendable, Hashable {
  /// The kind of interface that a device has.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A vendor-specific interface with two bulk endpoints.
    case bulk
    /// A modem of the communications class, for which the kernel creates a `/dev/ttyACM`.
    case modem
    /// An FTDI FT232R adapter, for which the kernel creates a `/dev/ttyUSB`.
    case ftdi
    /// A HID interface with reports of 1024 bytes.
    case reports

    /// The device's speed on the bus.
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

  /// The kind of interface that the device has.
  public var kind: Kind
  /// The vendor id. 1209 belongs to pid.codes, which reserves some product ids for tests.
  public var vendorID: UInt16
  /// The product id.
  public var productID: UInt16
  /// The release number, in binary-coded decimal.
  public var release: UInt16 = 0x0100
  /// The manufacturer string. Like the other strings, it is cut off after 126 units of UTF-16.
  public var manufacturer = "Accessory Bridge"
  /// The product string.
  public var product = "Simulated accessory"
  /// The serial number string.
  public var serialNumber = "SIM0001"
  /// The reports of a device that has HID reports of several kinds, in the place of those of `Kind.reports`.
  public var reports: SimulatedReports?
  /// Whether its HID reports have 8 bytes and carry text, in the place of those of `Kind.reports`.
  package var carriesText = false

  var function: any USBFunction {
    carriesText ? TextFunction() : reports.map { HIDFunction($0) } ?? kind.function
  }

  /// A HID device whose reports carry text, with the ids of the usual chip in UPSs, 0665:5161.
  package static let text: SimulatedUSBIdentity = {
    var identity = SimulatedUSBIdentity(.reports)
    (identity.vendorID, identity.productID, identity.carriesText) = (0x0665, 0x5161, true)
    return identity
  }()

  /// A device of this kind. Its ids are those reserved for tests, 1209:0001 to 1209:0003. An FTDI adapter has the ids
  /// by which its driver finds it, 0403:6001.
  public init(_ kind: Kind) {
    self.kind = kind
    (vendorID, productID) =
      switch kind {
      case .bulk: (0x1209, 0x0001)
      case .modem: (0x1209, 0x0002)
      case .reports: (0x1209, 0x0003)
      case .ftdi: (0x0403, 0x6001)
      }
    // The driver recognizes the chip by the release number.
    if kind == .ftdi { release = 0x0600 }
  }
}

/// The speed of a device on the bus, with the kernel's numbers (include/uapi/linux/usb/ch9.h).
enum USBSpeed: Int, Sendable, Hashable {
  /// 12 Mbit/s.
  case full = 2
  /// 480 Mbit/s.
  case high = 3
}
