// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDiscovery
import AccessoryIO
import BridgeService
import Testing

@testable import AccessoryBridge

/// A device as a service tells of it.
@Suite struct DeviceFactsTests {
  /// One without a terminal is an accessory by its endpoints, and must still be one at the other end.
  @Test func aDeviceOnUSBIsTheSameAfterwards() throws {
    var usb = USBIdentity(
      vendorID: 0x1209, productID: 1, bus: 1, address: 2, node: "/dev/bus/usb/001/002", port: "1-1", devpath: "",
      speed: 480, function: USBClass(code: 0))
    let endpoints = [0x81, 0x02].map { address in
      USBEndpointDescription(
        address: address, transfer: .bulk, maxPacketSize: 512, packetsPerInterval: 1, interval: 0)
    }
    usb.interfaces = [
      USBInterface(
        description: USBInterfaceDescription(
          number: 0, alternateSetting: 0, function: USBClass(code: 0xFF), endpoints: endpoints), driver: "usbfs")
    ]
    var device = Device(
      .usb(usb.node), source: .udev, name: "Thing", manufacturer: "Maker", serialNumber: "A1", usb: usb)
    device.links = ["/dev/one"]
    let told = Device(Bridge.Device(device))
    #expect(told == device)
    #expect(told.mayBeAccessory && told.transports == [.usb])
    #expect(try DeviceName(nil).device(among: [told]) == device)
  }
}
