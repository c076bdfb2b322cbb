// SPDX-License-Identifier: Apache-2.0

extension Device: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, path, source, link, driver, name, manufacturer, model, terminal, links, ways, usb, bluetooth, unit, area
    case givenName = "given_name"
    case serialNumber = "serial"
    case isInitialized = "initialized"
  }

  /// Writes the fields of the service's interface and of JSON documents. The versions of the hardware and the firmware are
  /// parts of an accessory's identity there.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(id, forKey: .id)
    try fields.encode(path, forKey: .path)
    try fields.encode(source.rawValue, forKey: .source)
    try fields.encodeIfPresent(link, forKey: .link)
    try fields.encodeIfPresent(driver, forKey: .driver)
    try fields.encodeIfPresent(name, forKey: .name)
    try fields.encodeIfPresent(manufacturer, forKey: .manufacturer)
    try fields.encodeIfPresent(model, forKey: .model)
    try fields.encodeIfPresent(serialNumber, forKey: .serialNumber)
    try fields.encodeIfPresent(terminal, forKey: .terminal)
    try fields.encode(links, forKey: .links)
    try fields.encode(ways, forKey: .ways)
    try fields.encode(isInitialized, forKey: .isInitialized)
    try fields.encodeIfPresent(usb, forKey: .usb)
    try fields.encodeIfPresent(bluetooth, forKey: .bluetooth)
    try fields.encodeIfPresent(unit, forKey: .unit)
    try fields.encodeIfPresent(given?.name, forKey: .givenName)
    try fields.encodeIfPresent(given?.area, forKey: .area)
  }

  /// Reads what `encode` writes. A source that this version doesn't know is `named`; numbers beyond their limits are errors.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try fields.decodeIfPresent(String.self, forKey: key) }
    self.init(
      id: try fields.decode(String.self, forKey: .id), path: try fields.decode(String.self, forKey: .path),
      source: Source(rawValue: try fields.decode(String.self, forKey: .source)) ?? .named, link: try text(.link),
      driver: try text(.driver), name: try text(.name), manufacturer: try text(.manufacturer), model: try text(.model),
      serialNumber: try text(.serialNumber), terminal: try text(.terminal),
      links: try fields.decode([String].self, forKey: .links), ways: try fields.decode([String].self, forKey: .ways),
      isInitialized: try fields.decode(Bool.self, forKey: .isInitialized),
      usb: try fields.decodeIfPresent(USBIdentity.self, forKey: .usb),
      bluetooth: try fields.decodeIfPresent(BluetoothIdentity.self, forKey: .bluetooth),
      unit: try fields.decodeIfPresent(Int.self, forKey: .unit))
    let given = GivenName(name: try text(.givenName), area: try text(.area))
    if !given.isEmpty { self.given = given }
  }

  /// A device as a service tells of it.
  package init(
    id: String, path: String, source: Source, link: String? = nil, driver: String? = nil, name: String? = nil,
    manufacturer: String? = nil, model: String? = nil, serialNumber: String? = nil, terminal: String? = nil,
    links: [String] = [], ways: [String] = [], isInitialized: Bool = true, usb: USBIdentity? = nil,
    bluetooth: BluetoothIdentity? = nil, unit: Int? = nil
  ) {
    self.init(
      DeviceAddress(path) ?? .node(path), link: link, source: source, driver: driver, name: name,
      manufacturer: manufacturer, model: model, serialNumber: serialNumber, usb: usb)
    (self.terminal, self.links, self.isInitialized, self.unit) = (terminal, links, isInitialized, unit)
    self.bluetooth = bluetooth
    // Only the identity tells which one of several devices it is.
    let line = derivedID.dropLast(unitSuffix.count) + "-if"
    if id.hasPrefix(line) { self.usb?.terminalInterface = UInt8(id.dropFirst(line.count).prefix(2), radix: 16) }
    hasTwin = hasSharableIdentity && id == identityAtPort + unitSuffix
    if id != derivedID { toldID = id }
    if ways != self.ways { toldWays = ways }
  }
}

extension Device {
  /// The approximate size of the device's texts and lists in bytes, for limits of what is kept.
  package var textByteCount: Int {
    let texts = [
      id, path, link, driver, name, manufacturer, model, serialNumber, firmwareRevision, hardwareRevision, terminal,
      usb?.node, usb?.port, usb?.damage, bluetooth?.toldName, bluetooth?.adapter, given?.name, given?.area,
    ]
    var count = 0
    for text in texts { count += text?.utf8.count ?? 0 }
    for text in links + ways { count += text.utf8.count + 16 }
    for interface in usb?.interfaces ?? [] {
      count += 64 + 16 * interface.description.endpoints.count + (interface.driver?.utf8.count ?? 0)
    }
    return count + (bluetooth.map { 256 + 64 * $0.services.count + 8 * $0.manufacturers.count } ?? 0)
  }
}
