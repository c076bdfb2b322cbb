// SPDX-License-Identifier: Apache-2.0

extension USBIdentity: Codable {
  private enum CodingKeys: String, CodingKey {
    case bus, address, node, port, configuration, interfaces, damage, release
    case vendorID = "vendor_id"
    case productID = "product_id"
    case speed = "speed_mbps"
  }

  /// Writes the fields of the service's interface and of JSON documents.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(vendorID, forKey: .vendorID)
    try fields.encode(productID, forKey: .productID)
    try fields.encode(bus, forKey: .bus)
    try fields.encode(address, forKey: .address)
    try fields.encode(node, forKey: .node)
    try fields.encode(port, forKey: .port)
    try fields.encodeIfPresent(speed, forKey: .speed)
    try fields.encodeIfPresent(configuration, forKey: .configuration)
    try fields.encode(interfaces, forKey: .interfaces)
    try fields.encodeIfPresent(damage, forKey: .damage)
    try fields.encodeIfPresent(release, forKey: .release)
  }

  /// Reads what `encode` writes. Numbers beyond their limits are errors.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      vendorID: try fields.decode(UInt16.self, forKey: .vendorID),
      productID: try fields.decode(UInt16.self, forKey: .productID),
      release: try fields.decodeIfPresent(UInt16.self, forKey: .release),
      bus: try fields.decode(Int.self, forKey: .bus),
      address: try fields.decode(Int.self, forKey: .address), node: try fields.decode(String.self, forKey: .node),
      port: try fields.decode(String.self, forKey: .port),
      speed: try fields.decodeIfPresent(Double.self, forKey: .speed),
      damage: try fields.decodeIfPresent(String.self, forKey: .damage),
      configuration: try fields.decodeIfPresent(UInt8.self, forKey: .configuration),
      interfaces: try fields.decode([USBInterface].self, forKey: .interfaces))
    try ReplyLimits.check(counts: [CodingKeys.bus.rawValue: bus, CodingKeys.address.rawValue: address])
    try ReplyLimits.check(speed, ReplyLimits.speed, CodingKeys.speed.rawValue)
  }
}

extension USBInterface: Codable {
  private enum CodingKeys: String, CodingKey {
    case number, `class`, subclass, `protocol`, driver, endpoints
    case alternateSetting = "alternate_setting"
    case className = "class_name"
  }

  /// Writes the fields of the service's interface and of JSON documents.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(description.number, forKey: .number)
    try fields.encode(description.alternateSetting, forKey: .alternateSetting)
    try fields.encode(description.function.code, forKey: .class)
    try fields.encode(description.function.subclass, forKey: .subclass)
    try fields.encode(description.function.protocol, forKey: .protocol)
    try fields.encodeIfPresent(description.function.name, forKey: .className)
    try fields.encodeIfPresent(driver, forKey: .driver)
    try fields.encode(description.endpoints.map(Endpoint.init), forKey: .endpoints)
  }

  /// Reads what `encode` writes. An endpoint whose transfer type this version doesn't know is left out.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      description: USBInterfaceDescription(
        number: try fields.decode(UInt8.self, forKey: .number),
        alternateSetting: try fields.decode(UInt8.self, forKey: .alternateSetting),
        function: USBClass(
          code: try fields.decode(UInt8.self, forKey: .class),
          subclass: try fields.decode(UInt8.self, forKey: .subclass),
          protocol: try fields.decode(UInt8.self, forKey: .protocol)),
        endpoints: try fields.decode([Endpoint].self, forKey: .endpoints).compactMap(\.description)),
      driver: try fields.decodeIfPresent(String.self, forKey: .driver))
    for endpoint in description.endpoints {
      try ReplyLimits.check(endpoint.maxPacketSize, ReplyLimits.count, Endpoint.CodingKeys.maxPacketSize.rawValue)
    }
  }

  /// An endpoint with its published keys.
  private struct Endpoint: Codable {
    enum CodingKeys: String, CodingKey {
      case address, interval, direction, transfer
      case maxPacketSize = "max_packet_bytes"
    }

    let address, interval: UInt8
    let direction, transfer: String
    let maxPacketSize: Int

    init(_ endpoint: USBEndpointDescription) {
      (address, interval, maxPacketSize) = (endpoint.address, endpoint.interval, endpoint.maxPacketSize)
      (direction, transfer) = (endpoint.direction.rawValue, endpoint.transfer.rawValue)
    }

    var description: USBEndpointDescription? {
      USBEndpointDescription.Transfer(rawValue: transfer).map {
        USBEndpointDescription(
          address: address, transfer: $0, maxPacketSize: maxPacketSize, packetsPerInterval: 1, interval: interval)
      }
    }
  }
}
