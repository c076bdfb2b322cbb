// SPDX-License-Identifier: Apache-2.0

/// A device that can be opened as an accessory, with what is known about it without opening it.
///
/// An accessory on USB may have two addresses: a terminal that a kernel driver provides, and its USB endpoints. Both
/// belong to one device. An accessory with several terminals (an FT2232, a composite CDC device) is several devices,
/// one for each terminal, each with the interfaces that belong to its terminal; and a power device beside a terminal is
/// a device of its own. So every endpoint belongs to exactly one device.
///
/// All strings except the addresses may come from the accessory itself: escape them before showing them, and don't
/// build commands or paths from them.
public struct Device: Sendable, Hashable {
  /// In a box, since many types contain devices.
  private struct Fields: Sendable, Hashable {
    var address: DeviceAddress
    var unit: Int?
    var link: String?
    var source: Source
    var driver: String?
    var name: String?
    var manufacturer: String?
    var model: String?
    var serialNumber: String?
    var firmwareRevision: String?
    var hardwareRevision: String?
    var terminal: String?
    var usb: USBIdentity?
    var hid: HIDIdentity?
    var supply: PowerSupplyIdentity?
    var bluetooth: BluetoothIdentity?
    var links: [String] = []
    var isInitialized = true
    var hasTwin = false
    var toldID: String?
    var toldWays: [String]?
    var given: GivenName?
  }

  @Boxed private var fields: Fields

  /// The kind of source that reported the device.
  public enum Source: String, Sendable, Hashable {
    /// A simulator that announced itself.
    case simulator
    /// The user, who gave its path or address.
    case named
    /// The system: the kernel, and udev if it runs.
    case udev
    /// The system's Bluetooth: BlueZ.
    case bluetooth
  }

  /// The address at which the device is opened, with links resolved: its terminal if it has one, otherwise its USB
  /// endpoints, or the address that the user gave.
  public var address: DeviceAddress {
    get { fields.address }
    set { fields.address = newValue }
  }
  /// The unit number of an accessory that shares its line with others; nil when it is alone on its line, and for the
  /// line itself.
  public var unit: Int? {
    get { fields.unit }
    set { fields.unit = newValue }
  }
  /// A symbolic link that leads to the device's node.
  public var link: String? {
    get { fields.link }
    set { fields.link = newValue }
  }
  /// The kind of source that reported the device.
  public var source: Source {
    get { fields.source }
    set { fields.source = newValue }
  }
  /// The name of the driver for the device's protocol; nil when that isn't known.
  public var driver: String? {
    get { fields.driver }
    set { fields.driver = newValue }
  }
  /// The name that the user gave the device, otherwise the name that the device reports.
  public var name: String? {
    get { fields.name }
    set { fields.name = newValue }
  }
  /// What the user calls the accessory, and where it is; nil where nobody has said. A service tells it, no source does.
  public var given: GivenName? {
    get { fields.given }
    set { fields.given = newValue }
  }
  /// The manufacturer's name.
  public var manufacturer: String? {
    get { fields.manufacturer }
    set { fields.manufacturer = newValue }
  }
  /// The name of the product.
  public var model: String? {
    get { fields.model }
    set { fields.model = newValue }
  }
  /// The serial number.
  public var serialNumber: String? {
    get { fields.serialNumber }
    set { fields.serialNumber = newValue }
  }
  /// The version of its firmware.
  public var firmwareRevision: String? {
    get { fields.firmwareRevision }
    set { fields.firmwareRevision = newValue }
  }
  /// The version of its hardware.
  public var hardwareRevision: String? {
    get { fields.hardwareRevision }
    set { fields.hardwareRevision = newValue }
  }
  /// The node of the device's terminal; nil when it has none.
  public var terminal: String? {
    get { fields.terminal }
    set { fields.terminal = newValue }
  }
  /// The device's identity on USB; nil when it isn't a USB device.
  public var usb: USBIdentity? {
    get { fields.usb }
    set { fields.usb = newValue }
  }
  /// What the kernel knows of the HID reports of a power device, or of a device whose reports may carry text; nil for other devices. A
  /// service doesn't tell it.
  public var hid: HIDIdentity? {
    get { fields.hid }
    set { fields.hid = newValue }
  }
  /// What the kernel says a power supply is; nil for other devices. A service doesn't tell it.
  public var supply: PowerSupplyIdentity? {
    get { fields.supply }
    set { fields.supply = newValue }
  }
  /// What the system's Bluetooth knows of the device; nil when it isn't a Bluetooth device, or isn't known there.
  public var bluetooth: BluetoothIdentity? {
    get { fields.bluetooth }
    set { fields.bluetooth = newValue }
  }
  /// The links below /dev that udev maintains for the terminal, by name (by-id) and by place (by-path), sorted. For a
  /// device without a terminal, the links to its usbfs node.
  public var links: [String] {
    get { fields.links }
    set { fields.links = newValue }
  }
  /// Whether udev's rules have been applied to the device, so that its permissions and names are final. Always true
  /// when udev doesn't run, because then they are final from the start.
  public var isInitialized: Bool {
    get { fields.isInitialized }
    set { fields.isInitialized = newValue }
  }
  /// Whether another accessory has the same identity, so that the port belongs to it; see `Twins`.
  package var hasTwin: Bool {
    get { fields.hasTwin }
    set { fields.hasTwin = newValue }
  }
  /// The identity that a service told, where this program would derive another: only the service may know that one accessory
  /// is several devices, and one of another version may have another rule.
  var toldID: String? {
    get { fields.toldID }
    set { fields.toldID = newValue }
  }
  /// The transports that a service told, where this program would derive others.
  var toldWays: [String]? {
    get { fields.toldWays }
    set { fields.toldWays = newValue }
  }

  /// A device at `address`.
  public init(
    _ address: DeviceAddress, link: String? = nil, source: Source, driver: String? = nil, name: String? = nil,
    manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil, terminal: String? = nil,
    usb: USBIdentity? = nil
  ) {
    fields = Fields(
      address: address, link: link, source: source, driver: driver, name: name, manufacturer: manufacturer,
      model: model, serialNumber: serialNumber,
      terminal: terminal ?? (address.transport == .terminal ? address.node : nil), usb: usb)
    // The kernel has one form for all files in a folder.
    if let files = address.files, driver == nil { self.driver = files.driver }
  }

  /// Identifies the accessory, also after it was unplugged and plugged in again. It is the serial number; without one,
  /// the product and the port for a USB device ("2341:0043@1-1.4"); the name of a power supply ("BAT0"); otherwise the
  /// address. If one accessory is several devices, the interface follows: "FT4X1-if01". A unit on a shared line is
  /// appended: "FT4X1-if01@2". Where two accessories have one serial number, the port is a part of it: "0001@1-1.4".
  /// A service's device keeps the identity that the service told.
  public var id: String { toldID ?? derivedID }

  /// The identity that follows from what is known of the device.
  var derivedID: String { (hasTwin ? identityAtPort : lineIdentity) + unitSuffix }

  /// The identity of the line, whether or not another accessory has the same.
  package var lineIdentity: String {
    let suffix = usb?.terminalInterface.map { "-if" + Hexadecimal.string($0) } ?? ""
    if let serialNumber, !serialNumber.isEmpty { return serialNumber + suffix }
    if let usb { return usb.place + suffix }
    if let files = address.files { return files.name }
    return address.ofAnyAdapter.description
  }

  /// Identifies the place of the accessory, where no other accessory can be at the same time: the address, and the unit
  /// on a shared line, as in "/dev/ttyUSB0@2".
  public var place: String { address.description + unitSuffix }

  /// The suffix for the unit, such as "@2"; empty when the accessory is alone on its line.
  public var unitSuffix: String { unit.map { "@\($0)" } ?? "" }

  /// The same device without its unit, which stands for the whole line.
  public var line: Device { onLine(unit: nil) }

  /// The accessory with this unit number on the same line.
  public func onLine(unit: Int?) -> Device {
    var device = self
    device.unit = unit
    if unit != self.unit { device.given = nil }
    if let id = toldID {
      device.toldID = (id.hasSuffix(unitSuffix) ? String(id.dropLast(unitSuffix.count)) : id) + device.unitSuffix
    }
    return device
  }

  /// The node of its terminal, also where a service told nothing but the path.
  private var ownTerminal: String? { terminal ?? (address.transport == .terminal ? address.node : nil) }

  /// All addresses at which the device can be opened, the usual one first.
  public var addresses: [DeviceAddress] {
    var addresses = ownTerminal.map { [DeviceAddress.terminal($0)] } ?? []
    if let usb {
      if let hidNode { addresses.append(.hidraw(hidNode)) }
      if usb.interfaces.contains(where: { $0.description.hasPair }) { addresses.append(.usb(usb.node)) }
      if let textNode { addresses.append(.hidText(textNode)) }
    } else if address.transport != .terminal {
      addresses.append(address)
      if let other = otherBluetoothAddress { addresses.append(other) }
    }
    return addresses
  }

  /// The node of a power device's HID reports, also where a service told nothing but the path.
  private var hidNode: String? {
    if let hid, hid.isPowerDevice { return hid.node }
    return address.transport == .hidraw ? address.node : nil
  }

  /// The node of HID reports that carry text, or may do so.
  private var textNode: String? {
    if let hid, hid.mayCarryText { return hid.node }
    return address.transport == .hidText ? address.node : nil
  }

  /// The serial port of Bluetooth Classic, for a device that is opened by Bluetooth Low Energy and has both.
  private var otherBluetoothAddress: DeviceAddress? {
    guard case .ble = address, let bluetooth, bluetooth.deviceClass != nil, bluetooth.services.contains(.serialPort)
    else { return nil }
    return .rfcomm(bluetooth.address, channel: nil, adapter: address.adapter)
  }

  /// The transports by which the device can be opened, the usual one first.
  public var transports: [TransportKind] { addresses.map(\.transport) }

  /// The names of the transports, as they are published: a service's device has those that the service told.
  package var ways: [String] { toldWays ?? transports.map(\.rawValue) }

  /// The address as a text.
  package var path: String { address.description }

  /// The same device, to be opened by another of its transports; nil when it doesn't have that transport.
  public func choosing(_ transport: TransportKind) -> Device? {
    guard let other = addresses.first(where: { $0.transport == transport }) else { return nil }
    var device = self
    device.address = other
    return device
  }

  /// The same device, connected by this Bluetooth adapter where its address names none.
  package func by(_ adapter: BluetoothAdapterName?) -> Device {
    guard let adapter, address.adapter == nil else { return self }
    var device = self
    device.address.adapter = adapter
    return device
  }

  /// Whether both are the same device, by any of its transports, as far as the addresses show. Compare only devices
  /// that are present at the same time: an address may belong to another device later. Units of one line are different
  /// devices.
  public func isSame(as other: Device) -> Bool { unit == other.unit && isOnLine(of: other) }

  /// Whether both are on the same line, as far as the addresses show, even if they are different units.
  public func isOnLine(of other: Device) -> Bool {
    if address.ofAnyAdapter == other.address.ofAnyAdapter || ownTerminal != nil && ownTerminal == other.ownTerminal {
      return true
    }
    guard usb != nil || other.usb != nil, usb?.node ?? address.node == other.usb?.node ?? other.address.node else {
      return false
    }
    // An accessory with several terminals, or with a power device beside its terminal, is several devices.
    guard let own = ownTerminal ?? hidNode, let others = other.ownTerminal ?? other.hidNode else { return true }
    return own == others
  }

  /// All addresses and nodes of the device: two devices on one line have at least one of them in common.
  package var places: Set<String> {
    Set([address.ofAnyAdapter.description, address.node, terminal, usb?.node, hid?.node].compactMap { $0 })
  }

  /// False for USB devices that aren't accessories: hubs, keyboards, discs, and devices that the kernel uses itself.
  /// False for Bluetooth devices that evidently aren't, and for strangers' that have no serial port. False for chargers.
  public var mayBeAccessory: Bool {
    if let supply { return supply.hasBattery }
    return ownTerminal != nil || [.hidraw, .hidText].contains(address.transport)
      || (usb?.mayBeAccessory ?? bluetooth?.mayBeAccessory ?? true)
  }
}
