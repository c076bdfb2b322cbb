// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Reads the descriptors of a device from their bytes: the device descriptor, then each configuration with its
/// interfaces and endpoints. The sysfs file `descriptors` and reading the usbfs device node both give this format.
///
/// The bytes come from the device and may be invalid. Invalid parts are left out and described in `damage`. Every step
/// advances by at least two bytes, and no length in the data makes the result larger than the data.
package enum USBDescriptorReader {
  /// The most bytes that are read. USB allows 255 configurations, but real devices have one of a few hundred bytes, and
  /// the kernel reads at most 64 KiB of each.
  package static let sizeLimit = 65_536
  /// The most interfaces, including alternate settings, that are kept of a configuration.
  static let interfaceLimit = 256
  /// The most endpoints that are kept of an interface: 15 in each direction (USB 2.0, 9.6.6).
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
      device.damage = "the device announces \(bytes[17]) configurations and has \(device.configurations.count)"
    }
    return device
  }

  /// The report descriptors that the HID descriptors among a device's descriptors tell of: the interface, and how many bytes (HID 1.11,
  /// 6.2.1).
  package static func reportDescriptors(_ bytes: [UInt8]) -> [(interface: UInt8, length: Int)] {
    var (found, interface, rest) = ([(interface: UInt8, length: Int)](), UInt8(0), bytes.prefix(sizeLimit))
    while let length = rest.first, length >= 2, Int(length) <= rest.count {
      let descriptor = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
      if descriptor[1] == Kind.interface, descriptor.count > 2 { interface = descriptor[2] }
      guard descriptor.count >= 9, descriptor[1] == 0x21 else { continue }
      // A list of descriptors, each with its type and its length.
      for start in stride(from: 6, to: descriptor.count - 2, by: 3) where descriptor[start] == 0x22 {
        found.append((interface, Int(word(descriptor, start + 1))))
      }
    }
    return found
  }

  /// Adds one descriptor to the description. Returns its defect, if it has one.
  private static func add(_ bytes: ArraySlice<UInt8>, to device: inout USBDeviceDescription) -> String? {
    let bytes = Array(bytes)
    switch bytes[1] {
    case Kind.configuration:
      guard bytes.count >= 9 else { return "is a configuration of \(Amount.bytes(bytes.count))" }
      device.configurations.append(
        USBConfigurationDescription(
          value: bytes[5], isSelfPowered: bytes[7] & 0x40 != 0, maxPowerSteps: bytes[8], interfaces: []))
    case Kind.interface:
      guard bytes.count >= 9 else { return "is an interface of \(Amount.bytes(bytes.count))" }
      return add(
        USBInterfaceDescription(
          number: bytes[2], alternateSetting: bytes[3],
          function: USBClass(code: bytes[5], subclass: bytes[6], protocol: bytes[7]), endpoints: []), to: &device)
    case Kind.endpoint:
      guard bytes.count >= 7 else { return "is an endpoint of \(Amount.bytes(bytes.count))" }
      return add(
        USBEndpointDescription(
          address: bytes[2], transfer: transfer(bytes[3]), maxPacketSize: Int(word(bytes, 4) & 0x7FF),
          packetsPerInterval: min(3, Int(word(bytes, 4) >> 11 & 3) + 1), interval: bytes[6]), to: &device)
    default: break  // class-specific and other descriptors aren't needed
    }
    return nil
  }

  private static func add(_ interface: USBInterfaceDescription, to device: inout USBDeviceDescription) -> String? {
    guard let configuration = device.configurations.indices.last else {
      return "is an interface outside a configuration"
    }
    let present = device.configurations[configuration].interfaces
    guard present.count < interfaceLimit else { return "is more than the limit of interfaces" }
    guard
      !present.contains(where: {
        $0.number == interface.number && $0.alternateSetting == interface.alternateSetting
      })
    else { return "repeats interface \(interface.number)" }
    device.configurations[configuration].interfaces.append(interface)
    return nil
  }

  private static func add(_ endpoint: USBEndpointDescription, to device: inout USBDeviceDescription) -> String? {
    guard let configuration = device.configurations.indices.last,
      let interface = device.configurations[configuration].interfaces.indices.last
    else { return "is an endpoint outside an interface" }
    let present = device.configurations[configuration].interfaces[interface].endpoints
    guard endpoint.number != 0 else { return "is endpoint 0, which belongs to no interface" }
    guard endpoint.address & 0x70 == 0 else { return "has an endpoint address with reserved bits" }
    guard present.count < endpointLimit else { return "is more than the limit of endpoints" }
    guard !present.contains(where: { $0.address == endpoint.address }) else {
      return "repeats endpoint \(endpoint.address)"
    }
    device.configurations[configuration].interfaces[interface].endpoints.append(endpoint)
    return endpoint.maxPacketSize == 0 ? "is an endpoint with a packet size of 0" : nil
  }

  private static func transfer(_ attributes: UInt8) -> USBEndpointDescription.Transfer {
    switch attributes & 3 {
    case 0: .control
    case 1: .isochronous
    case 2: .bulk
    default: .interrupt
    }
  }

  /// Reads two bytes as a little-endian integer, as everywhere on USB.
  private static func word(_ bytes: [UInt8], _ offset: Int) -> UInt16 {
    UInt16(bytes[offset]) | UInt16(bytes[offset + 1]) << 8
  }
}
