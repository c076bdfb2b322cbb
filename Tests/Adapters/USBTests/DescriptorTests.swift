// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Testing

/// The reader of descriptors, which are the device's word.
@Suite struct DescriptorTests {
  @Test func rightDescriptorsAreReadWhole() throws {
    let device = try #require(USBDescriptorReader.read(Descriptors.reports))
    #expect(device.vendorID == 0x1209 && device.productID == 1)
    #expect(device.damage == nil)
    let configuration = try #require(device.configuration(1))
    #expect(configuration.maxPowerSteps == 50 && !configuration.isSelfPowered)
    let interface = try #require(configuration.interfaces.first)
    #expect(interface.function.code == USBClass.humanInterface)
    #expect(interface.endpoints.map(\.maxPacketSize) == [1_024, 1_024])
    #expect(interface.endpoints.map(\.transfer) == [.interrupt, .interrupt])
    #expect(interface.endpoint(.in)?.address == 0x81 && interface.endpoint(.out)?.address == 0x02)
  }

  @Test func highBandwidthEndpointsCarrySeveralPackets() throws {
    let bytes =
      Descriptors.device()
      + Descriptors.configuration([Descriptors.interface(0, [Descriptors.endpoint(0x81, 3, size: 0x1400)])])
    let endpoint = try #require(
      USBDescriptorReader.read(bytes)?.configurations.first?.interfaces.first?.endpoints.first)
    #expect(endpoint.maxPacketSize == 1_024 && endpoint.packetsPerInterval == 3)
  }

  @Test func whatIsNoDeviceIsNil() {
    #expect(USBDescriptorReader.read([]) == nil)
    #expect(USBDescriptorReader.read([18, 1, 0]) == nil)
    #expect(USBDescriptorReader.read([UInt8](repeating: 0, count: 64)) == nil)
    #expect(USBDescriptorReader.read([17, 1] + [UInt8](repeating: 0, count: 64)) == nil)
  }

  @Test(arguments: [0, 1, 200]) func aWrongLengthEndsTheReadingAndIsSaid(_ length: UInt8) throws {
    var bytes = Descriptors.bulk
    bytes[18 + 9] = length  // the interface's
    let device = try #require(USBDescriptorReader.read(bytes))
    #expect(device.damage == "the descriptor at byte 27 has a length of \(length)")
    #expect(device.configurations.first?.interfaces.isEmpty == true)
  }

  @Test func whatIsTooShortForItsKindIsLeftOut() throws {
    let bytes = Descriptors.device() + Descriptors.configuration([[5, 4, 0, 0, 0], [4, 5, 0x81, 2]])
    let device = try #require(USBDescriptorReader.read(bytes))
    #expect(device.configurations.first?.interfaces.isEmpty == true)
    #expect(device.damage == "the descriptor at byte 27 is an interface of 5 bytes")
  }

  @Test func repetitionsAndReservedAddressesAreLeftOut() throws {
    let endpoints = [
      Descriptors.endpoint(0x81), Descriptors.endpoint(0x81), Descriptors.endpoint(0x80), Descriptors.endpoint(0x71),
      Descriptors.endpoint(0x02, 2, size: 0),
    ]
    let bytes =
      Descriptors.device()
      + Descriptors.configuration([Descriptors.interface(0, endpoints), Descriptors.interface(0)])
    let device = try #require(USBDescriptorReader.read(bytes))
    let interfaces = try #require(device.configurations.first?.interfaces)
    #expect(interfaces.count == 1)
    #expect(interfaces[0].endpoints.map(\.address) == [0x81, 0x02])
    #expect(!interfaces[0].hasPair, "an endpoint whose packets hold nothing is of no use")
    #expect(device.damage != nil)
  }

  @Test func manyInterfacesAreBounded() throws {
    let interfaces = (0..<1_000).map { Descriptors.interface(UInt8($0 & 255), alternate: UInt8($0 >> 8)) }
    let bytes = Descriptors.device() + Descriptors.configuration(interfaces, count: 255)
    let device = try #require(USBDescriptorReader.read(bytes))
    #expect(device.configurations.first?.interfaces.count == 256)
    let thirtyTwo = try #require(
      USBDescriptorReader.read(
        Descriptors.device() + Descriptors.configuration((0..<32).map { Descriptors.interface($0) })))
    #expect(thirtyTwo.configurations.first?.interfaces.count == 32 && thirtyTwo.damage == nil)
  }

  @Test func moreThanIsLookedAtIsNot() throws {
    let bytes = Descriptors.bulk + [UInt8](repeating: 2, count: 10_000_000)
    let device = try #require(USBDescriptorReader.read(bytes))
    #expect(device.configurations.count == 1)
  }

  /// Every prefix, and every byte changed to each of a few values: never a trap, and never more than was there.
  @Test func damagedDescriptorsNeverTrap() {
    let bytes = Descriptors.reports + Array(Descriptors.bulk.dropFirst(18))
    for count in 0...bytes.count { _ = USBDescriptorReader.read(bytes.prefix(count)) }
    for index in bytes.indices {
      for value: UInt8 in [0, 1, 2, 4, 5, 9, 0x7F, 0x80, 0xFF] {
        var changed = bytes
        changed[index] = value
        let device = USBDescriptorReader.read(changed)
        #expect((device?.configurations.count ?? 0) <= 3)
      }
    }
  }
}
