// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryDrivers

// Named commands, carried out by the service.

extension HeldDevice {
  /// The commands of the accessory's driver, and the driver's name.
  func commands() async throws -> (driver: String, commands: [CommandDescription]) {
    try requireDriver()
    return try await calls.descriptions()
  }

  /// Has the service carry out commands. Returns the device, and the replies to the commands.
  func perform(
    _ calls: [CommandCall], isAnswered: Bool, write: Bool
  ) async throws -> (device: Bridge.Device, replies: [CommandReply]) {
    try requireDriver()
    return try await self.calls.perform(calls, isAnswered: isAnswered, write: write)
  }
}
