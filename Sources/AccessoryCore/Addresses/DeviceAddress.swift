// SPDX-License-Identifier: Apache-2.0

/// The address of a device: which transport opens it, and where.
///
/// As a text, for people and on the control socket, an address is the path of a node (`/dev/ttyACM0`,
/// `/dev/bus/usb/001/005`, `/dev/hidraw0`) or a scheme and a place (`tcp:HOST:PORT`, `unix:PATH`, `ble:AA:BB:CC:DD:EE:FF`, and
/// `ble:hci1/AA:BB:CC:DD:EE:FF` with the adapter `hci1`, `esphome://HOST/PORT`, `power_supply:BAT0`, `hid-text:/dev/hidraw0`).
/// `init(_:in:)` reads what `description` writes.
public enum DeviceAddress: Sendable, Hashable {
  /// A serial port or another terminal: the path of its node.
  case terminal(String)
  /// A device's USB endpoints: the path of its usbfs node.
  case usb(String)
  /// A human interface device (HID), whose reports the kernel hands over unchanged: the path of its hidraw node.
  case hidraw(String)
  /// Text that a human interface device carries in its reports, as UPSs with a serial port inside do: the path of its hidraw node.
  case hidText(String)
  /// What the kernel itself knows of a battery or a charger: its name in `/sys/class/power_supply`.
  case powerSupply(String)
  /// A device behind a TCP connection, which carries the device's bytes unchanged.
  case tcp(NetworkAddress)
  /// A serial port of another machine, by RFC 2217: its bytes, settings and modem lines.
  case rfc2217(NetworkAddress)
  /// A serial port of an ESPHome node, by its native API: its bytes, settings and modem lines.
  case esphome(ESPHomeAddress)
  /// A device behind a stream socket of this machine, by the socket's path. A connection carries the device's bytes
  /// unchanged.
  case unix(String)
  /// A Bluetooth Low Energy device, whose bytes pass by characteristics of GATT. `adapter` is the one that connects it; nil
  /// means the one that knows it.
  case ble(BluetoothAddress, adapter: BluetoothAdapterName? = nil)
  /// A serial port of a Bluetooth Classic device, by RFCOMM. `channel` is 1…30; nil means the one that the device tells.
  /// `adapter` is the one that connects it; nil means the one that knows it.
  case rfcomm(BluetoothAddress, channel: UInt8?, adapter: BluetoothAdapterName? = nil)

  /// Parses an address: an absolute path, or a scheme and a place. Returns nil for anything else, such as a serial
  /// number or a relative path. A socket's relative path is resolved against `folder`; without `folder` it isn't
  /// accepted.
  public init?(_ text: String, in folder: String? = nil) {
    if text.hasPrefix("/") {
      self = .node(text)
    } else if let place = Self.place(in: text, behind: .tcp) {
      self = .tcp(place)
    } else if let place = Self.place(in: text, behind: .rfc2217) {
      self = .rfc2217(place)
    } else if let place = Self.rest(of: text, behind: .esphome).flatMap({ ESPHomeAddress($0) }) {
      self = .esphome(place)
    } else if let name = Self.rest(of: text, behind: .powerSupply) {
      guard Self.isSupplyName(name) else { return nil }
      self = .powerSupply(name)
    } else if let path = Self.rest(of: text, behind: .hidText) {
      guard path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
      self = .hidText(path)
    } else if let path = Self.path(in: text, folder) {
      self = .unix(path)
    } else if let (adapter, rest) = Self.adapter(in: text, behind: .ble), let address = BluetoothAddress(rest) {
      self = .ble(address, adapter: adapter)
    } else if let (adapter, rest) = Self.adapter(in: text, behind: .rfcomm),
      let (address, channel) = Self.port(in: rest)
    {
      self = .rfcomm(address, channel: channel, adapter: adapter)
    } else {
      return nil
    }
  }

  /// The address of the device node at `path`: USB endpoints if the path is one of usbfs, HID reports if it is one of hidraw, a power
  /// supply if it is the folder of one, otherwise a terminal.
  public static func node(_ path: String) -> DeviceAddress {
    if path.hasPrefix(usbNodes) { return .usb(path) }
    if path.hasPrefix(powerSupplies) {
      let name = String(path.dropFirst(powerSupplies.count))
      if isSupplyName(name) { return .powerSupply(name) }
    }
    return path.hasPrefix(hidNodes) ? .hidraw(path) : .terminal(path)
  }

  /// The kind of transport that opens this address.
  public var transport: TransportKind {
    switch self {
    case .terminal: .terminal
    case .usb: .usb
    case .hidraw: .hidraw
    case .hidText: .hidText
    case .powerSupply: .powerSupply
    case .tcp: .tcp
    case .rfc2217: .rfc2217
    case .esphome: .esphome
    case .unix: .unix
    case .ble: .ble
    case .rfcomm: .rfcomm
    }
  }

  /// The path of the device node that is opened; nil for addresses that have no node on this machine.
  public var node: String? {
    switch self {
    case .terminal(let path), .usb(let path), .hidraw(let path), .hidText(let path): path
    default: nil
    }
  }

  /// The files of the kernel that tell about the device; nil where a device is opened.
  package var files: KernelFiles? {
    switch self {
    case .powerSupply(let name): KernelFiles(Self.powerSupplies, name, driver: PowerSupplyIdentity.driverName)
    default: nil
    }
  }

  /// The path of the file that is opened: a node or a socket. The file's permissions decide who may open it. Nil for a
  /// place on the network.
  public var file: String? {
    if case .unix(let path) = self { path } else { node }
  }

  /// The address of the Bluetooth device; nil for other transports.
  package var bluetooth: BluetoothAddress? {
    switch self {
    case .ble(let address, _), .rfcomm(let address, _, _): address
    default: nil
    }
  }

  /// The Bluetooth adapter that is to connect the device; nil where none is named, and for other transports, which ignore it.
  package var adapter: BluetoothAdapterName? {
    get {
      switch self {
      case .ble(_, let adapter), .rfcomm(_, _, let adapter): adapter
      default: nil
      }
    }
    set {
      switch self {
      case .ble(let address, _): self = .ble(address, adapter: newValue)
      case .rfcomm(let address, let channel, _): self = .rfcomm(address, channel: channel, adapter: newValue)
      default: break
      }
    }
  }

  /// The same address without a named adapter: one device has it, whichever adapter connects it.
  package var ofAnyAdapter: DeviceAddress {
    guard adapter != nil else { return self }
    var address = self
    address.adapter = nil
    return address
  }

  /// Where the kernel keeps the nodes of USB devices (usbfs).
  private static let usbNodes = "/dev/bus/usb/"
  /// What the nodes of hidraw begin with.
  private static let hidNodes = "/dev/hidraw"
  /// Where the kernel has its power supplies.
  package static let powerSupplies = "/sys/class/power_supply/"

  /// Whether this may be the name of a power supply: it becomes one part of a path.
  private static func isSupplyName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 255 && name != "." && name != ".."
      && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
  }

  private static func place(in text: String, behind scheme: TransportKind) -> NetworkAddress? {
    rest(of: text, behind: scheme).flatMap { NetworkAddress($0) }
  }

  private static func path(in text: String, _ folder: String?) -> String? {
    guard let path = rest(of: text, behind: .unix), !path.isEmpty, !path.utf8.contains(0) else { return nil }
    if path.hasPrefix("/") { return path }
    return folder.map { $0 + "/" + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path) }
  }

  /// The adapter in front of a Bluetooth address, `hci1/` or its own address and a slash, and the rest of the text.
  private static func adapter(
    in text: String, behind scheme: TransportKind
  ) -> (adapter: BluetoothAdapterName?, rest: String)? {
    rest(of: text, behind: scheme).map { BluetoothAdapterName.prefix(of: $0) }
  }

  /// `AA:BB:CC:DD:EE:FF` or `AA:BB:CC:DD:EE:FF/CHANNEL`.
  private static func port(in text: String) -> (BluetoothAddress, channel: UInt8?)? {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = BluetoothAddress(String(parts[0])) else { return nil }
    guard parts.count == 2 else { return (address, nil) }
    guard let channel = UInt8(parts[1]), 1...30 ~= channel, String(channel) == parts[1] else { return nil }
    return (address, channel)
  }

  private static func rest(of text: String, behind scheme: TransportKind) -> String? {
    let prefix = scheme.rawValue + ":"
    return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
  }
}

extension DeviceAddress: Comparable, CustomStringConvertible {
  /// Orders addresses by their descriptions, for lists.
  public static func < (a: DeviceAddress, b: DeviceAddress) -> Bool { a.description < b.description }

  /// The path of the node, or a scheme and a place, like `tcp:HOST:PORT`.
  public var description: String {
    switch self {
    case .terminal(let path), .usb(let path), .hidraw(let path): path
    case .tcp(let place), .rfc2217(let place): "\(transport.rawValue):\(place)"
    case .esphome(let place): "\(transport.rawValue):\(place)"
    case .unix(let path), .hidText(let path): "\(transport.rawValue):\(path)"
    case .powerSupply(let name): "\(transport.rawValue):\(name)"
    case .ble(let address, let adapter): "\(transport.rawValue):\(Self.front(adapter))\(address)"
    case .rfcomm(let address, let channel, let adapter):
      "\(transport.rawValue):\(Self.front(adapter))\(address)" + (channel.map { "/\($0)" } ?? "")
    }
  }
}

extension DeviceAddress {
  private static func front(_ adapter: BluetoothAdapterName?) -> String { adapter.map { "\($0)/" } ?? "" }
}

/// Files of the kernel that tell about a device: every user may read them, and all devices in one folder are read by one driver.
package struct KernelFiles: Sendable, Hashable {
  /// The folder of all such devices, with a slash at its end.
  package let folder: String
  /// The device's name in it, which is its identity.
  package let name: String
  /// The name of the driver that reads them.
  package let driver: String

  init(_ folder: String, _ name: String, driver: String) {
    (self.folder, self.name, self.driver) = (folder, name, driver)
  }
}

/// A kind of transport. The raw value is its name in commands, profiles and JSON.
public enum TransportKind: String, Sendable, Hashable, CaseIterable {
  /// A serial port or another terminal.
  case terminal = "tty"
  /// A pair of USB endpoints.
  case usb
  /// The reports of a human interface device.
  case hidraw
  /// Text in the reports of a human interface device.
  case hidText = "hid-text"
  /// What the kernel itself knows of a battery or a charger.
  case powerSupply = "power_supply"
  /// A TCP connection.
  case tcp
  /// A serial port of another machine, by RFC 2217.
  case rfc2217
  /// A serial port of an ESPHome node.
  case esphome
  /// A connection to a stream socket of this machine.
  case unix
  /// Characteristics of a Bluetooth Low Energy device.
  case ble
  /// A serial port of a Bluetooth Classic device.
  case rfcomm

  /// Whether the transport only carries bytes: it has neither a line with settings, nor endpoints, nor reports.
  package var isConnection: Bool { mustBeNamed && !isNetworkLine }
  /// Whether bytes pass by it.
  package var carriesBytes: Bool { self != .hidraw && self != .powerSupply }
  /// Whether the device's place is on the network.
  package var isNetwork: Bool { self == .tcp || isNetworkLine }
  /// Whether it is a serial line on the network, whose settings are set from here.
  package var isNetworkLine: Bool { self == .rfc2217 || self == .esphome }
  /// The forms of the addresses that somebody must name, for people.
  package static let namedForms = "tcp:HOST:PORT, rfc2217:HOST:PORT, esphome://HOST/PORT, unix:PATH or ble:ADDRESS"
  /// Whether the transport is Bluetooth.
  package var isBluetooth: Bool { self == .ble || self == .rfcomm }
  /// Whether the system reports no devices with this transport, so that somebody must name them.
  package var mustBeNamed: Bool {
    switch self {
    case .terminal, .usb, .hidraw, .hidText, .powerSupply: false
    case .tcp, .rfc2217, .esphome, .unix, .ble, .rfcomm: true
    }
  }
}
