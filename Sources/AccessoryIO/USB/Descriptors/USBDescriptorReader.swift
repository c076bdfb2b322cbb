// SPDX-License-Identifier: Apache-2.0

/// Reads the descriptors of a device from their bytes: its device descriptor, then each configuration with all that
/// belongs to it. So sysfs gives them in the file `descriptors`, and usbfs to whoever reads the device node.
///
/// The bytes come from the device and may be anything. Invalid parts are left out and described in `damage`; every step
/// goes forward by at least two bytes, and no length in the data makes anything larger than the data.
package enum USBDescriptorReader {
  /// The most bytes that are read: USB has at most 255 configurations, real devices have one of a few hundred bytes,
  /// and the kernel reads no more than 64 KiB of each.
  package static let sizeLimit = 65_536
  /// Interfaces, alternate settings counted, that are kept of a configuration.
  static let interfaceLimit = 256
  /// Endpoints that are kept of an interface: 15 in each direction (USB 2.0, 9.6.6).
  static let endpointLimit = 30

  /// Descriptor types (bDescriptorType) of USB 2.0, table 9-5.
  private enum Kind {
    static let device: UInt8 = 1
    static let configuration: UInt8 = 2
    static let interface: UInt8 = 4
    static let endpoint: UInt8 = 5
  }

  /// The description in `bytes`; nil when they don't begin with a device descriptor.
  package static func read(_ bytes: some Collection<UInt8>) -> USBDeviceDescription? {
    let bytes = Array(bytes.prefix(sizeLimit))
    guard bytes.count >= 18, bytes[0] >= 18, bytes[1] == Kind.device else { return nil }
    var device = USBDeviceDescription(
      vendorID: word(bytes, 8), productID: word(bytes, 10), release: word(bytes, 12), usbRelease: word(bytes, 2),
      function: USBClass(code: bytes[4], subclass: bytes[5], protocol: bytes[6]), configurations: [])
    var offset = Int(bytes[0])
    while offset < bytes.count {
      let length = Int(bytes[offset])
      guard length >= 2, offset + length <= bytes.count else {
        device.damage = device.damage ?? "the descriptor at byte \(offset) has a length of \(length)"
        break
      }
      let problem = add(bytes[offset..<offset + length], to: &device)
      device.damage = device.damage ?? problem.map { "the descriptor at byte \(offset) \($0)" }
      offset += length
    }
    if device.configurations.count != Int(bytes[17]), device.damage == nil {
      device.damage = "\(bytes[17]) configurations are announced and \(device.configurations.count) are there"
    }
    return device
  }

  /// Adds one descriptor to the description. Returns its defect, if it has one.
  private static func add(_ bytes: ArraySlice<UInt8>, to device: inout USBDeviceDescription) -> String? {
    let bytes = Array(bytes)
    switch bytes[1] {
    case Kind.configuration:
      guard bytes.count >= 9 else { return "is a configuration of \(bytes.count) bytes" }
      device.configurations.append(
        USBConfigurationDescription(
          value: bytes[5], isSelfPowered: bytes[7] & 0x40 != 0, maxPowerSteps: bytes[8], interfaces: []))
    case Kind.interface:
      guard bytes.count >= 9 else { return "is an interface of \(bytes.count) bytes" }
      return add(
        USBInterfaceDescription(
          number: bytes[2], alternateSetting: bytes[3],
          function: USBClass(code: bytes[5], subclass: bytes[6], protocol: bytes[7]), endpoints: []), to: &device)
    case Kind.endpoint:
      guard bytes.count >= 7 else { return "is an endpoint of \(bytes.count) bytes" }
      return add(
        USBEndpointDescription(
          address: bytes[2], transfer: transfer(bytes[3]), maxPacketSize: Int(word(bytes, 4) & 0x7FF),
          packetsPerInterval: min(3, Int(word(bytes, 4) >> 11 & 3) + 1), interval: bytes[6]), to: &device)
    default: break  // class-specific ones, associations, companions: not for us
    }
    return nil
  }

  private static func add(_ interface: USBInterfaceDescription, to device: inout USBDeviceDescription) -> String? {
    guard let configuration = device.configurations.indices.last else { return "is an interface of no configuration" }
    let present = device.configurations[configuration].interfaces
    guard present.count < interfaceLimit else { return "is one interface too many" }
    guard
      !present.contains(where: {
        $0.number == interface.number && $0.alternateSetting == interface.alternateSetting
      })
    else { return "is interface \(interface.number) for the second time" }
    device.configurations[configuration].interfaces.append(interface)
    return nil
  }

  private static func add(_ endpoint: USBEndpointDescription, to device: inout USBDeviceDescription) -> String? {
    guard let configuration = device.configurations.indices.last,
      let interface = device.configurations[configuration].interfaces.indices.last
    else { return "is an endpoint of no interface" }
    let present = device.configurations[configuration].interfaces[interface].endpoints
    guard endpoint.number != 0 else { return "is endpoint 0, which is no interface's" }
    guard endpoint.address & 0x70 == 0 else { return "has an endpoint address with reserved bits" }
    guard present.count < endpointLimit else { return "is one endpoint too many" }
    guard !present.contains(where: { $0.address == endpoint.address }) else {
      return "is endpoint \(endpoint.address) for the second time"
    }
    device.configurations[configuration].interfaces[interface].endpoints.append(endpoint)
    return endpoint.maxPacketSize == 0 ? "is an endpoint whose packets hold nothing" : nil
  }

  private static func transfer(_ attributes: UInt8) -> USBEndpointDescription.Transfer {
    switch attributes & 3 {
    case 0: .control
    case 1: .isochronous
    case 2: .bulk
    default: .interrupt
    }
  }

  /// Two bytes, the lower first, as everything on USB.
  private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt16 {
    UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8
  }
}
