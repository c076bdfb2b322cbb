// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// An accessory that was found by its name, before it is used: either a service has it open, or this program opens it. Callers
/// needn't distinguish the two.
package protocol FoundAccessory: Sendable {
  /// The device, as far as it is known now.
  var device: Device { get }
  /// The accessory's name in messages: the user's words, with its place.
  var label: String { get }
  /// The name of the driver for its protocol; nil if none is known.
  var driverName: String? { get }
  /// The driver, if this program has it.
  var driver: Driver? { get }
  /// What only a service knows; nil for an accessory that this program opens.
  var service: HeldFacts? { get }

  /// Its profile, if this program has it.
  func profile() async -> Profile?
  /// The rules that refuse writes.
  func writeRules() async -> WriteRules
  /// Throws `misconfigured` if no driver is known for it, and any other error that prevents opening it.
  func checkDriver() async throws(AccessoryError)
  /// The commands of its driver, and the driver's name, without opening the device. Throws the errors of `checkDriver`.
  func commands() async throws(AccessoryError) -> (driver: String, commands: [CommandDescription])
  /// The commands that it may have: those of its driver; or those of all drivers, if this program would open the device and knows no
  /// driver for it.
  func possibleCommands() async throws(AccessoryError) -> [(driver: String, commands: [CommandDescription])]
  /// Throws `unsupported` if its driver is known to lack the ability. This and the next two checks precede opening, because opening
  /// resets some boards. An accessory of a service is already open, and the service checks itself.
  func check(_ ability: DriverAbility) throws(AccessoryError)
  /// Throws `permissionDenied` if one of the commands is a write that isn't permitted.
  func checkWrites(_ calls: [CommandCall], isAsked: Bool) throws(AccessoryError)
  /// Throws `permissionDenied` if raw bytes may be a write that isn't permitted.
  func checkBytes(isAsked: Bool) throws(AccessoryError)
  /// The frames that commands would send, and why they would be refused. Sends and opens nothing.
  func preview(_ calls: [CommandCall], write: Bool) async throws(AccessoryError) -> CommandPreview
  /// Everything that is known about it and its line, also if no driver is known for it.
  func info() async throws(AccessoryError) -> AccessoryInfo
  /// Opens its line, or borrows it, for settings and modem lines. Sends no bytes, not even the driver's greeting.
  func lineSession() async throws(AccessoryError) -> AccessorySession
  /// Opens it for a person at a console. `awaiting` is called with a text for people about the next step. Throws `permissionDenied`
  /// if `write` is true and the profile doesn't allow writes.
  func bytes(write: Bool, awaiting: (String) -> Void) async throws(AccessoryError) -> OpenedBytes
  /// Opens it for the clients of a bridge; see `SharedBytes`.
  func share(_ plan: SharePlan) async throws(AccessoryError) -> SharedBytes
  /// The driver by whose frames it can be shared, if this program can separate its frames; nil for none.
  var framesDriver: Driver? { get }
  /// Opens it for a trace, or asks the service that has it open for one.
  func trace(_ plan: TracePlan) async throws(AccessoryError) -> any AccessoryTrace
  /// Makes contact, for a program that uses it for a long time and is notified of an unplug. With `writes`, commands that change
  /// something are performed if its profile also allows them.
  func accessory(writes: Bool) async throws(AccessoryError) -> any Accessory
  /// Opens it as two byte streams, after the exchange that its protocol requires first.
  func session(writes: Bool) async throws(AccessoryError) -> AccessorySession
  /// Makes contact. `ability` is the intended use: an accessory that always lacks it isn't opened, because opening resets some
  /// boards. Throws `misconfigured` if no driver is known, `unsupported`, and the errors of opening and making contact.
  func open(needing ability: DriverAbility?) async throws(AccessoryError) -> AccessoryInUse
}

extension FoundAccessory {
  /// Makes contact.
  package func open() async throws(AccessoryError) -> AccessoryInUse { try await open(needing: nil) }

  /// Makes contact, runs `body`, and closes the accessory, even if `body` throws.
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

  /// Whether it can be used now: a service may be waiting for its accessory. Without a name, a device without a driver doesn't count.
  package func isThere(isNamed: Bool) -> Bool { service?.isThere ?? (isNamed || driverName != nil) }

  /// Throws `busy` if a service has it open, for functions that don't work through a service.
  package func checkIsFree() throws(AccessoryError) {
    guard let service else { return }
    throw AccessoryError(
      .busy,
      "the service at \(service.socketPath) has \(service.name) open: detach it first: bridge-cli attach --end \(service.name)"
    )
  }
}

/// What only a service knows about an accessory that it has open.
package struct HeldFacts: Sendable {
  /// The path of the service's control socket.
  package let socketPath: String
  /// The service's record of the accessory: its state, its profile, its borrower, its alarms.
  package let accessory: Bridge.Accessory

  /// The accessory's unambiguous name in calls to the service: its path, with the unit on a line with several.
  package var name: String { accessory.device.place }
  /// Whether the service can reach the accessory now.
  package var isThere: Bool { accessory.isReachable }
  /// Whether it was connected, and is gone.
  package var isGone: Bool {
    accessory.last_seen != nil && !isThere && [.waiting, .failed].contains(accessory.state)
  }

  /// What was read last of an accessory that is gone; nil where it isn't, and where nothing is known.
  func last<Value: WholeReading>(_ value: Value.Type) -> Read<Value>? {
    guard isGone, let value = accessory.last.flatMap({ Value.last(in: $0) }) else { return nil }
    var read = Read(value, age: accessory.readingsAge?.oldest, isStale: true)
    (read.alarms, read.unfitAlarms) = (accessory.alarms, accessory.unfit_alarms)
    return read
  }
}

/// What a file transfer does when the accessory is unplugged, if the transfer itself waits.
package struct TransferRules: Sendable {
  /// How long to wait for the accessory.
  package var patience: Duration
  /// Called when the accessory is unplugged and the wait begins.
  package var interrupted: @Sendable () -> Void

  /// These rules. By default there is no wait.
  package init(patience: Duration = .zero, interrupted: @escaping @Sendable () -> Void = {}) {
    (self.patience, self.interrupted) = (patience, interrupted)
  }
}

/// The frames that commands would send.
package struct CommandPreview: Sendable {
  package let device: Device
  /// The frames, one per command.
  package let frames: [[UInt8]]
  /// Why the commands would be refused; nil if they would be performed.
  package let refusal: String?
}

/// What is known about an accessory and its line.
package struct AccessoryInfo: Sendable {
  package let device: Device
  /// The settings and modem lines of its serial line; nil if it has none.
  package var line: Bridge.Line?
  /// The details of its protocol, if contact was made.
  package var details: ProtocolDetails?
  /// The identity that the accessory reports; nil if it wasn't asked.
  package var identity: AccessoryIdentity?
  /// What only a service knows, at the time of the call.
  package var held: Bridge.Accessory?
  /// Why no contact was made; nil if it was.
  package var withoutDriver: AccessoryError?
}
