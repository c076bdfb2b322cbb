// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryDrivers

// Commands by name, through the service.

extension HeldDevice {
  /// What it can be told and asked, and the driver's name.
  func commands() async throws -> (driver: String, commands: [CommandDescription]) {
    try requireDriver()
    return try await calls.descriptions()
  }

  /// Has commands carried out; gives which device it was, and what they were answered.
  func perform(
    _ calls: [CommandCall], isAnswered: Bool, write: Bool
  ) async throws -> (device: Bridge.Device, replies: [CommandReply]) {
    try requireDriver()
    return try await self.calls.perform(calls, isAnswered: isAnswered, write: write)
  }
}
