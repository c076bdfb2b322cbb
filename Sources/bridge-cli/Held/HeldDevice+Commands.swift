// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
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

  /// The rules by which the service refuses writes. They are made here, from what the service says, so that a command
  /// needn't ask for the line to know them.
  func writeRules() async -> WriteRules {
    var rules = WriteRules(SafeText.escape(label ?? self.name))
    guard let writes = accessory.writes else { return rules }
    let name = accessory.profile ?? accessory.driver ?? ""
    var profile = await KnownProfiles.store.profile(named: name) ?? Profile(name: name, rules: [])
    profile.allowsWrites = writes == .allowed
    rules.add(accessory.driver.flatMap { KnownDrivers.driver(named: $0) } ?? Self.unknownDriver, profile)
    return rules
  }

  /// Stands for a driver that only the service has.
  private static let unknownDriver = Driver(name: "a protocol with writes", rawBytes: .guarded) {
    session, _, _ throws(AccessoryError) in throw .closed(session.label)
  }
}
