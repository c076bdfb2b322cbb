// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryExport

/// What clients are told of a port's device.
@Suite struct NativePortDeviceTests {
  private func interface(_ number: UInt8, _ code: UInt8) -> USBInterface {
    USBInterface(
      description: USBInterfaceDescription(
        number: number, alternateSetting: 0, function: USBClass(code: code, subclass: 0, protocol: 0), endpoints: []))
  }

  private func device(_ link: String?, _ interfaces: [USBInterface]) -> Device {
    var device = Device(
      .terminal("/dev/ttyUSB0"), source: .udev, name: "USB serial adapter", manufacturer: "Example",
      serialNumber: "SN0001", terminal: "/dev/ttyUSB0",
      usb: USBIdentity(
        vendorID: 0x1A86, productID: 0x7523, release: 0x0264, bus: 1, address: 5, node: "/dev/bus/usb/001/005",
        port: "1-1", interfaces: interfaces))
    device.links = ["/dev/serial/by-path/pci-0-if07-port9"] + (link.map { ["/dev/serial/by-id/\($0)"] } ?? [])
    return device
  }

  @Test func aUSBDeviceIsToldByItsDescriptors() {
    let port = NativePort("meter", device("usb-Example_USB_serial_adapter_SN0001-if01-port2", [interface(1, 255)]))
    #expect(port.name == "meter" && port.kind == .usb && port.hasModemLines && port.isConnected)
    let usb = NativePort.USB(
      manufacturer: "Example", product: "USB serial adapter", serial: "SN0001", vendorID: 0x1A86, productID: 0x7523,
      version: 0x0264, interface: 1, interfaceClass: 255, portNumber: 2)
    #expect(port.usb == usb)
  }

  /// The name of a device of a class has no port, and without udev there is no name.
  @Test func theInterfaceIsKnownWithoutAName() {
    let modem = NativePort("modem", device("usb-Example_-port-if00", [interface(0, 2), interface(1, 10)])).usb
    #expect(modem?.interface == 0 && modem?.interfaceClass == 2 && modem?.portNumber == 0)
    let bare = NativePort("bare", device(nil, [interface(3, 255)])).usb
    #expect(bare?.interface == 3 && bare?.interfaceClass == 255 && bare?.portNumber == 0)
  }

  @Test func otherLinesAreConfigured() {
    let board = NativePort("board", Device(.terminal("/dev/ttyS1"), source: .udev))
    #expect(board.kind == .rs232 && board.hasModemLines && board.usb == nil)
    let terminal = NativePort("pts", Device(.terminal("/dev/pts/4"), source: .named))
    #expect(terminal.kind == .ttl && !terminal.hasModemLines)
    let address = NetworkAddress(host: "10.0.0.7", port: 7_001)
    #expect(NativePort("far", Device(.rfc2217(address), source: .named)).hasModemLines)
    #expect(!NativePort("raw", Device(.tcp(address), source: .named)).hasModemLines)
  }
}
