// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// A device that can be opened as an accessory, with what is known of it without opening it.
///
/// An accessory on USB may have two addresses: a terminal that a driver of the kernel makes of it, and its endpoints. Both
/// lead to one device. One that has several terminals (an FT2232, a composite CDC device) is several devices, one
/// a terminal, each with those of its interfaces that belong to that terminal; so every endpoint is one device's.
///
/// All strings but the addresses may come from the accessory itself: show them escaped, and build nothing from them.
public struct Device: Sendable, Hashable {
  /// Who told of the device.
  public enum Source: String, Sendable, Hashable {
    /// A simulator that announced itself.
    case simulator
    /// The user named its path.
    case named
    /// The system: the kernel, and udev where it runs.
    case udev
  }

  /// Where it is opened, with links resolved: its terminal where it has one, otherwise its endpoints, or the
  /// address that its user named.
  public var address: DeviceAddress
  /// Which of the accessories on a shared line it is; nil where it is alone on its line, and for the line itself.
  public var unit: Int?
  /// A link that its owner keeps to the node.
  public var link: String?
  /// Who told of it.
  public var source: Source
  /// The driver that speaks its protocol; nil when that isn't known.
  public var driver: String?
  /// What its user calls it, or else what it calls itself.
  public var name: String?
  /// The manufacturer's name.
  public var manufacturer: String?
  /// The name of the product.
  public var model: String?
  /// The serial number.
  public var serialNumber: String?
  /// Version of its software.
  public var firmwareRevision: String?
  /// Version of its hardware.
  public var hardwareRevision: String?
  /// The node of its terminal; nil when it has none.
  public var terminal: String?
  /// What it is on USB; nil when it is not there.
  public var usb: USBIdentity?
  /// The links below /dev that udev keeps to its terminal, by its name (by-id) and its place (by-path), sorted; to its
  /// usbfs node when it has no terminal.
  public var links: [String] = []
  /// Whether udev's rules have been applied to it, so that its permissions and names are final. Where no udev runs they
  /// are so from the start, and this is true.
  public var isInitialized = true

  /// A device at `address`.
  public init(
    _ address: DeviceAddress, link: String? = nil, source: Source, driver: String? = nil, name: String? = nil,
    manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil, terminal: String? = nil,
    usb: USBIdentity? = nil
  ) {
    self.address = address
    self.link = link
    self.source = source
    self.driver = driver
    self.name = name
    self.manufacturer = manufacturer
    self.model = model
    self.serialNumber = serialNumber
    self.terminal = terminal ?? (address.transport == .terminal ? address.node : nil)
    self.usb = usb
  }

  /// Stays the same when the accessory is unplugged and comes back: the serial number; without one, for USB, product and
  /// port ("2341:0043@1-1.4"); otherwise the address. Where one accessory is several devices, the interface follows:
  /// "FT4X1-if01". One of several on a line has its unit behind that: "FT4X1-if01@2".
  public var id: String { lineID + unitSuffix }

  private var lineID: String {
    let suffix = usb?.terminalInterface.map { "-if" + Hexadecimal.string($0) } ?? ""
    if let serialNumber, !serialNumber.isEmpty { return serialNumber + suffix }
    if let usb { return "\(usb.product)@\(usb.port)\(suffix)" }
    return address.description
  }

  /// Where it is, which no other accessory is at the same time: the address, and on a shared line the unit behind it,
  /// "/dev/ttyUSB0@2".
  public var place: String { address.description + unitSuffix }

  /// What stands behind its line's name, "@2"; empty where it is alone on its line.
  public var unitSuffix: String { unit.map { "@\($0)" } ?? "" }

  /// The line that it is on: what is known of it, without the unit.
  public var line: Device { onLine(unit: nil) }

  /// The accessory with this number on the same line.
  public func onLine(unit: Int?) -> Device {
    var device = self
    device.unit = unit
    return device
  }

  /// Where it can be opened: by each transport that leads to it, the usual one first.
  public var addresses: [DeviceAddress] {
    var addresses = terminal.map { [DeviceAddress.terminal($0)] } ?? []
    if let usb {
      if usb.interfaces.contains(where: { $0.description.hasPair }) { addresses.append(.usb(usb.node)) }
    } else if address.transport != .terminal {
      addresses.append(address)
    }
    return addresses
  }

  /// The transports by which it can be opened, the usual one first.
  public var transports: [TransportKind] { addresses.map(\.transport) }

  /// The same device with another of its transports as the one to open; nil when it doesn't have that one.
  public func choosing(_ transport: TransportKind) -> Device? {
    guard let other = addresses.first(where: { $0.transport == transport }) else { return nil }
    var device = self
    device.address = other
    return device
  }

  /// Whether both are the same device, by any transport, as far as the addresses tell. Both are there at the same time:
  /// an address may be another device's later. Units of one line are different devices.
  public func isSame(as other: Device) -> Bool { unit == other.unit && isOnLine(of: other) }

  /// Whether both are on the same line, as far as the addresses tell, even if they are different units of it.
  public func isOnLine(of other: Device) -> Bool {
    if address == other.address || terminal != nil && terminal == other.terminal { return true }
    guard usb != nil || other.usb != nil, usb?.node ?? address.node == other.usb?.node ?? other.address.node else {
      return false
    }
    // One that has several terminals is several devices.
    return terminal == nil || other.terminal == nil
  }

  /// False for what is on USB and is something else: hubs, keyboards, discs, and what the kernel uses itself.
  public var mayBeAccessory: Bool { terminal != nil || (usb?.mayBeAccessory ?? true) }
}

/// A device that came, went or changed.
public enum DeviceEvent: Sendable, Hashable {
  /// It can be opened now.
  case added(Device)
  /// A device that is still there, with the same `id`, has changed: it has got a terminal, a driver or a name.
  case changed(Device, from: Device)
  /// The device was removed. The value is the one that was last reported.
  case removed(Device)
}

/// Where devices come from.
public protocol DeviceSource: Sendable {
  /// The devices that are there now. Throws when the source can't be asked.
  func devices() async throws(AccessoryError) -> [Device]
  /// Whether a device is there now, by its identity and its path. Throws when the source can't be asked.
  func isPresent(_ device: Device) async throws(AccessoryError) -> Bool
  /// The devices that are there now, as `added`, then what changes; until the task that reads it is cancelled.
  /// Every subscriber has a sequence of its own. Throws when the source can't be watched.
  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent>
}

extension DeviceSource {
  /// Looks among all devices.
  public func isPresent(_ device: Device) async throws(AccessoryError) -> Bool {
    try await devices().contains { $0.id == device.id && $0.address == device.address }
  }
}
