// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import AccessoryProtocols
import Glibc
import TestSupport
import Testing

@testable import AccessorySimulator

/// A simulated accessory of a described protocol, behind an adapter in a USB port of this kernel's. No rule of the package fits it.
struct PluggedPack {
  let simulator: SerialSimulator<DescribedDevice>
  let path: String
  let node: String

  init(
    _ description: ProtocolDescription, serial: String = "A50285BI", percent: Int = 57,
    _ change: (inout DescribedDevice) throws -> Void = { _ in }
  ) async throws {
    try #require(Kernel.isReady)
    var device = try DescribedDevice(description, serialNumber: serial)
    _ = device.set(percent: percent)
    try change(&device)
    var identity = SimulatedUSBIdentity(.ftdi)
    (identity.manufacturer, identity.product, identity.serialNumber) = ("FTDI", "FT232R USB UART", serial)
    var configuration = SerialSimulator<DescribedDevice>.Configuration(device, seed: 1)
    configuration.connection = .usb(identity)
    simulator = SerialSimulator(configuration, io: Kernel.devices)
    path = try await simulator.plugIn()
    node = try await Kernel.node(path, .ftdi, serial: serial)
  }

  /// Pulls the cable for good.
  func stop() async throws {
    await simulator.stop()
    try await Kernel.waitForNo(node)
    let path = path
    try await eventually("\(path) to go", within: .seconds(60)) { Kernel.text("\(path)/serial") == nil }
  }
}
