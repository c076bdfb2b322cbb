// SPDX-License-Identifier: Apache-2.0

/// What the system's Bluetooth knows of a device. Everything here comes from the device itself, which may be a stranger's.
public struct BluetoothIdentity: Sendable, Hashable {
  /// The device's address. A random one changes from time to time.
  public var address: BluetoothAddress
  /// The kernel's name of the adapter that knows the device, such as `hci0`.
  public var adapter: String
  /// The name that the device itself tells; nil when it tells none. The user may have given it another one.
  public var toldName: String?
  /// The services that it tells, sorted.
  public var services: [BluetoothUUID] = []
  /// The numbers of the companies whose data it sends, sorted.
  public var manufacturers: [UInt16] = []
  /// How the data of these companies begin. Isn't told in documents, and changes with every packet of some.
  package var manufacturerData: [UInt16: [UInt8]] = [:]
  /// The class of a Bluetooth Classic device; nil for others.
  public var deviceClass: UInt32?
  /// The strength of the last signal in dBm; nil when nobody searches for devices.
  public var signalStrength: Int?
  /// Whether the device is connected, by this program or another.
  public var isConnected = false
  /// Whether it is paired with this computer.
  public var isPaired = false
  /// Whether the user has told the system to trust it.
  public var isTrusted = false
  /// Whether it tells a service by which devices send bytes.
  public var hasSerialPort = false

  /// Whether the address is one that the device changes from time to time. Isn't told in documents.
  package var hasPassingAddress = false

  /// A device of which only the address and the adapter are known.
  public init(_ address: BluetoothAddress, adapter: String) { (self.address, self.adapter) = (address, adapter) }

  /// Whether somebody has made the device known to this computer: it is connected, paired or trusted. Anybody can advertise; these
  /// are no strangers.
  public var isKnown: Bool { Self.isKnown(connected: isConnected, paired: isPaired, trusted: isTrusted) }
  /// The same, of what has no identity yet.
  package static func isKnown(connected: Bool, paired: Bool, trusted: Bool) -> Bool { connected || paired || trusted }
  /// Whether the device can be heard now.
  public var isInReach: Bool { isConnected || signalStrength != nil }

  /// Whether the device could be an accessory. A stranger's could be one only if it has a serial port.
  package var mayBeAccessory: Bool {
    if hasSerialPort { return !hasOtherClass }
    return isKnown && !hasOtherClass && !services.contains(where: Self.otherServices.contains)
  }

  /// Computers, phones, access points, headphones and screens, keyboards, printers and cameras: the major classes 1 to 6
  /// of the Bluetooth SIG's Assigned Numbers.
  private var hasOtherClass: Bool { deviceClass.map { (1...6).contains($0 >> 8 & 0x1F) } ?? false }
  /// Keyboards and mice, by GATT and by Classic; audio, hands-free sets and remote controls.
  private static let otherServices: Set<BluetoothUUID> = Set(
    [0x1812, 0x1124, 0x1108, 0x110A, 0x110B, 0x110C, 0x110D, 0x110E, 0x1112, 0x111E, 0x111F, 0x1844, 0x184E]
      .map { BluetoothUUID(short: $0) })
}

extension BluetoothIdentity: Codable {
  private enum CodingKeys: String, CodingKey {
    case address, adapter, services, manufacturers, connected, paired, trusted
    case toldName = "told_name"
    case deviceClass = "class"
    case signalStrength = "rssi_dbm"
    case hasSerialPort = "serial_port"
  }

  /// Writes the fields of the service's interface and of JSON documents.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(address.description, forKey: .address)
    try fields.encode(adapter, forKey: .adapter)
    try fields.encodeIfPresent(toldName, forKey: .toldName)
    try fields.encode(services.map(\.text), forKey: .services)
    try fields.encode(manufacturers, forKey: .manufacturers)
    try fields.encodeIfPresent(deviceClass, forKey: .deviceClass)
    try fields.encodeIfPresent(signalStrength, forKey: .signalStrength)
    try fields.encode(isConnected, forKey: .connected)
    try fields.encode(isPaired, forKey: .paired)
    try fields.encode(isTrusted, forKey: .trusted)
    try fields.encode(hasSerialPort, forKey: .hasSerialPort)
  }

  /// Reads what `encode` writes. A service with another form than a UUID's is left out; numbers beyond their limits are
  /// errors.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    guard let address = BluetoothAddress(try fields.decode(String.self, forKey: .address)) else {
      throw DecodingError.dataCorruptedError(forKey: .address, in: fields, debugDescription: "no Bluetooth address")
    }
    self.init(address, adapter: try fields.decode(String.self, forKey: .adapter))
    toldName = try fields.decodeIfPresent(String.self, forKey: .toldName)
    services = try fields.decode([String].self, forKey: .services).compactMap { BluetoothUUID($0) }
    manufacturers = try fields.decode([UInt16].self, forKey: .manufacturers)
    deviceClass = try fields.decodeIfPresent(UInt32.self, forKey: .deviceClass)
    signalStrength = try fields.decodeIfPresent(Int16.self, forKey: .signalStrength).map { Int($0) }
    isConnected = try fields.decode(Bool.self, forKey: .connected)
    isPaired = try fields.decode(Bool.self, forKey: .paired)
    isTrusted = try fields.decode(Bool.self, forKey: .trusted)
    hasSerialPort = try fields.decode(Bool.self, forKey: .hasSerialPort)
  }
}
