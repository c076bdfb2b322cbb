// SPDX-License-Identifier: Apache-2.0

@_spi(Benchmarks) import AccessoryIO
import CFloor
import Glibc

/// A device with a bulk pair, for the plain program and for ours, one after the other.
protocol PluggedDevice {
  /// Opens it for the plain program.
  func openForC() throws(Failure) -> OpaquePointer
  /// Opens it for ours.
  func openTransport() async throws -> USBTransport
  /// What was opened is closed.
  func closed()
}

extension PluggedDevice {
  func asCProgram<Result>(_ body: (OpaquePointer) throws -> Result) throws -> Result {
    let host = try openForC()
    defer {
      cfloor_usb_close(host)
      closed()
    }
    return try body(host)
  }

  func withTransport<Result>(_ body: (USBTransport) async throws -> Result) async throws -> Result {
    let transport = try await openTransport()
    do {
      let result = try await body(transport)
      await transport.close()
      closed()
      return result
    } catch {
      await transport.close()
      closed()
      throw error
    }
  }

  fileprivate func open(_ descriptor: CInt) throws(Failure) -> OpaquePointer {
    guard let host = cfloor_usb_open(descriptor) else { throw Failure("opening a USB device in C failed") }
    return host
  }

  fileprivate func configuration(_ path: String) -> USBTransportConfiguration {
    var configuration = USBTransportConfiguration(path: path)
    configuration.transfersInFlight = Int(cfloor_usb_flight)
    return configuration
  }
}

/// A device, which is a C process, on the kernel's virtual USB bus.
final class KernelDevice: PluggedDevice {
  private var device = cfloor_usb_device()
  private let node: String

  init(_ role: cfloor_usb_role, total: Int) throws(Failure) {
    try Failure.check(cfloor_usb_plug(role, total, &device), "plugging a USB device in (root, modprobe vhci-hcd)")
    node = withUnsafeBytes(of: device.node) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  deinit { cfloor_usb_unplug(&device) }

  func openForC() throws(Failure) -> OpaquePointer {
    try open(Failure.check(Glibc.open(node, O_RDWR | O_CLOEXEC), "opening \(node)"))
  }

  func openTransport() async throws -> USBTransport { try await USBTransport.open(configuration(node)) }

  func closed() {}
}

/// A device on the faked usbfs, which can be opened once: each opening plugs in another.
final class FakedDevice: PluggedDevice {
  private let role: cfloor_usb_role
  private let total: Int
  private let interval: Int
  private var device: OpaquePointer?

  init(role: cfloor_usb_role, total: Int, interval: Int) {
    (self.role, self.total, self.interval) = (role, total, interval)
  }

  private func plug() throws(Failure) -> CInt {
    device = cfloor_usb_fake_plug(role, total, interval)
    guard let device else { throw Failure("plugging a faked USB device in failed") }
    return try Failure.check(cfloor_usb_fake_open(device), "opening a faked USB device")
  }

  func openForC() throws(Failure) -> OpaquePointer { try open(plug()) }

  func openTransport() async throws -> USBTransport {
    let descriptors = withUnsafeBytes(of: cfloor_usb_fake_descriptors) { Array($0) }
    return try await USBTransport.open(
      configuration("/dev/bus/usb/001/001"), descriptor: plug(), descriptors: descriptors)
  }

  func closed() {
    if let device { cfloor_usb_fake_unplug(device) }
    device = nil
  }
}
