// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

/// A simulated accessory on endpoints of its own, on this kernel's bus.
struct EndpointPlug: Sendable {
  let simulator: FramedSimulator
  let kind: SimulatedUSBIdentity.Kind
  let path: String
  let node: String

  init(
    _ kind: SimulatedUSBIdentity.Kind, _ change: (inout FramedSimulator.Configuration) -> Void = { _ in }
  ) async throws {
    try #require(Kernel.isReady, "no vhci_hcd: these tests are for the guest of 'make lab'")
    var configuration = FramedSimulator.Configuration(seed: 1)
    var identity = SimulatedUSBIdentity(kind)
    change(&configuration)
    identity.serialNumber = configuration.device.identity.serialNumber
    configuration.connection = .usb(identity)
    let simulator = FramedSimulator(configuration)
    path = try await simulator.plugIn()
    node = try await Kernel.endpointNode(path, isHID: kind == .reports)
    self.simulator = simulator
    self.kind = kind
  }

  func open(_ change: (inout USBConfiguration) -> Void = { _ in }) async throws -> USBTransport {
    var configuration = USBConfiguration(path: node)
    if kind == .reports { configuration.interface = 0 }
    change(&configuration)
    return try await USBTransport.open(configuration)
  }

  func accessory() async throws -> FramedAccessory {
    try await FramedAccessory.open(AccessorySession(try await open()))
  }

  /// The kernel's driver of its interface, now.
  var driver: String? { Kernel.driver(path) }

  /// Pulls the cable for good and waits until the kernel has noticed.
  func stop() async throws {
    await simulator.stop()
    try await Kernel.waitForNo(node)
  }
}

extension Kernel {
  /// The usbfs node of the device at `path` in sysfs, when the kernel has configured it and udev has seen it.
  static func endpointNode(_ path: String, isHID: Bool) async throws -> String {
    var node = ""
    try await eventually("a node for \(path)", within: .seconds(60)) {
      guard let bus = number("\(path)/busnum"), let device = number("\(path)/devnum"),
        number("\(path)/bConfigurationValue") == 1
      else { return false }
      func digits(_ number: Int) -> String { String(String(1_000 + number).dropFirst()) }
      node = "/dev/bus/usb/\(digits(bus))/\(digits(device))"
      let minor = (bus - 1) * 128 + device - 1
      return exists(node) && exists("/run/udev/data/c189:\(minor)") && (!isHID || driver(path) == "usbhid")
    }
    return node
  }

  /// The driver of the first interface of a device.
  static func driver(_ path: String) -> String? {
    linkTarget("\(path)/\(path.split(separator: "/").last ?? ""):1.0/driver")?.split(separator: "/").last.map(
      String.init)
  }

  private static func number(_ path: String) -> Int? {
    guard let bytes = try? SmallFile.read(path, limit: 16) else { return nil }
    return Int(String(decoding: bytes.filter { $0 > 32 }, as: UTF8.self))
  }
}
