// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// An accessory that a name means, before it is used: either a service has it open, or this program opens it. Callers
/// needn't know which is the case.
package protocol FoundAccessory: Sendable {
  /// The device, as far as it is known now.
  var device: Device { get }
  /// The accessory's name in messages: what the user typed, with its place.
  var label: String { get }
  /// The name of the driver for its protocol; nil when none is known.
  var driverName: String? { get }
  /// The driver, where this program has it.
  var driver: Driver? { get }
  /// What only a service tells; nil for an accessory that this program opens.
  var service: HeldFacts? { get }

  /// Its profile, as far as this program has it.
  func profile() async -> Profile?
  /// The rules by which writes are refused.
  func writeRules() async -> WriteRules
  /// Throws `misconfigured` when no driver is known for it, and what prevents opening it at all.
  func checkDriver() async throws(AccessoryError)
  /// The commands of its driver, and the driver's name. Nothing is opened. Throws what `checkDriver` throws.
  func commands() async throws(AccessoryError) -> (driver: String, commands: [CommandDescription])
  /// The commands that it may have: those of its driver, or those of all drivers where none is known for a device that this
  /// program would open.
  func possibleCommands() async throws(AccessoryError) -> [(driver: String, commands: [CommandDescription])]
  /// Throws `unsupported` when its driver is known to lack the ability. This and the next two checks are made before the
  /// device is opened, since opening resets some boards. A service has it open already, and checks itself.
  func check(_ ability: DriverAbility) throws(AccessoryError)
  /// Throws `permissionDenied` if one of the commands is a write that isn't permitted.
  func checkWrites(_ calls: [CommandCall], isAsked: Bool) throws(AccessoryError)
  /// Throws `permissionDenied` if raw bytes may be a write that isn't permitted.
  func checkBytes(isAsked: Bool) throws(AccessoryError)
  /// What commands would send, and why they would be refused. Nothing is sent, and nothing is opened.
  func preview(_ calls: [CommandCall], write: Bool) async throws(AccessoryError) -> CommandPreview
  /// Everything that is known about it and its line, also where no driver is known for it.
  func info() async throws(AccessoryError) -> AccessoryInfo
  /// Opens its line, or has it lent, for settings and modem lines: no bytes are sent, not even the driver's greeting.
  func lineSession() async throws(AccessoryError) -> AccessorySession
  /// Opens it for a person at a console. `awaiting` is called with a text for people on what is about to be done. Throws
  /// `permissionDenied` where `write` is true and the profile doesn't allow writes.
  func bytes(write: Bool, awaiting: (String) -> Void) async throws(AccessoryError) -> OpenedBytes
  /// Opens it for the clients of a bridge; see `SharedBytes`.
  func share(_ plan: SharePlan) async throws(AccessoryError) -> SharedBytes
  /// The driver by whose frames it can be shared, as far as this program can tell its frames apart; nil for none.
  var framesDriver: Driver? { get }
  /// Opens it for a trace, or has the service that has it open trace it.
  func trace(_ plan: TracePlan) async throws(AccessoryError) -> any AccessoryTrace
  /// Makes contact, for a program that uses it for long: it is told when the accessory goes. With `writes`, commands that
  /// change something in it are carried out if its profile allows them as well.
  func accessory(writes: Bool) async throws(AccessoryError) -> any Accessory
  /// Opens it as two byte streams, after the exchange that must precede its protocol.
  func session(writes: Bool) async throws(AccessoryError) -> AccessorySession
  /// Makes contact. `ability` is what it is used for: an accessory that never has it isn't opened, because that resets some
  /// boards. Throws `misconfigured` when no driver is known, `unsupported`, and the errors of opening and making contact.
  func open(needing ability: DriverAbility?) async throws(AccessoryError) -> AccessoryInUse
}

extension FoundAccessory {
  /// Makes contact.
  package func open() async throws(AccessoryError) -> AccessoryInUse { try await open(needing: nil) }

  /// Makes contact, runs `body`, and closes the accessory, also when `body` throws.
  package func with<Result: Sendable>(
    needing ability: DriverAbility? = nil, _ body: (AccessoryInUse) async throws -> Result
  ) async throws -> Result {
    let opened = try await open(needing: ability)
    return try await attempt {
      try await body(opened)
    } finally: {
      await opened.close()
    }
  }

  /// Whether it can be used now. A service may be waiting for its accessory. Without a name any device matches, but one
  /// without a driver isn't the accessory that is meant.
  package func isThere(isNamed: Bool) -> Bool { service?.isThere ?? (isNamed || driverName != nil) }

  /// Throws `busy` when a service has it open: for what can't be done through a service.
  package func checkIsFree() throws(AccessoryError) {
    guard let service else { return }
    throw AccessoryError(
      .busy,
      "the service at \(service.socketPath) has \(service.name) open: detach it first: bridge-cli attach --end \(service.name)"
    )
  }
}

/// What only a service tells of an accessory that it has open.
package struct HeldFacts: Sendable {
  /// The path of the service's control socket.
  package let socketPath: String
  /// The service's record of the accessory: its state, its profile, who has borrowed it, its alarms.
  package let accessory: Bridge.Accessory

  /// The accessory's name in calls to the service. Its path, with the unit where a line has several, is unambiguous.
  package var name: String { accessory.device.place }
  /// Whether the service can reach the accessory now.
  package var isThere: Bool { accessory.isReachable }
}

/// What a transfer of a file does when the accessory is gone, where it is the transfer that waits.
package struct TransferRules: Sendable {
  /// How long the accessory is waited for.
  package var patience: Duration
  /// Called when the accessory is gone and is waited for.
  package var interrupted: @Sendable () -> Void

  /// Rules; the default waits for nothing.
  package init(patience: Duration = .zero, interrupted: @escaping @Sendable () -> Void = {}) {
    (self.patience, self.interrupted) = (patience, interrupted)
  }
}

/// What commands would send.
package struct CommandPreview: Sendable {
  /// The accessory.
  package let device: Device
  /// The frames, one per command.
  package let frames: [[UInt8]]
  /// Why the commands would be refused; nil if they wouldn't.
  package let refusal: String?
}

/// What is known about an accessory and its line.
package struct AccessoryInfo: Sendable {
  /// The accessory.
  package let device: Device
  /// The settings and modem lines of its serial line; nil where there is none.
  package var line: Bridge.Line?
  /// The details of its protocol, where contact was made.
  package var details: ProtocolDetails?
  /// What the accessory says it is; nil where it wasn't asked.
  package var identity: AccessoryIdentity?
  /// What only a service tells, as it was when it was asked.
  package var held: Bridge.Accessory?
  /// Why no contact was made; nil if it was.
  package var withoutDriver: AccessoryError?
}
