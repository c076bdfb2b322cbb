// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryLink

/// An accessory that a service has open, or is going to open.
struct HeldAccessory: FoundAccessory {
  let entry: ServiceEntry
  let label: String
  let kinds: KnownKinds
  let host: any OpeningHost

  var device: Device { entry.accessory.device }
  var driverName: String? { entry.accessory.driver }
  var driver: Driver? { driverName.flatMap(kinds.driver) }
  var service: HeldFacts? { HeldFacts(socketPath: entry.socketPath, accessory: entry.accessory) }

  /// Calls to the service about this accessory.
  var calls: BridgeDevice { entry.calls(label: label) }

  /// The profile that the service names.
  func profile() async -> Profile? {
    guard let name = entry.accessory.profile else { return nil }
    return await kinds.profile(name)
  }

  /// The rules by which the service refuses writes. They are derived here from the service's record, so that a program needn't borrow
  /// the line to learn them.
  func writeRules() async -> WriteRules {
    var rules = WriteRules(SafeText.escape(label))
    guard let writes = entry.accessory.writes else { return rules }
    let name = entry.accessory.profile ?? driverName ?? ""
    var profile = await kinds.profile(name) ?? Profile(name: name, rules: [])
    profile.allowsWrites = writes == .allowed
    rules.add(driver ?? Self.unknownDriver, profile)
    return rules
  }

  /// A placeholder for a driver that only the service has.
  private static let unknownDriver = Driver(name: "a protocol with writes", rawBytes: .guarded) {
    session, _, _ throws(AccessoryError) in throw .closed(session.label)
  }

  func checkDriver() throws(AccessoryError) {
    guard driverName == nil else { return }
    let place = SafeText.escape(entry.accessory.device.place, limit: 200)
    throw AccessoryError(
      .misconfigured,
      "the service at \(entry.socketPath) has \(label) open as bytes, and knows no driver for it: bridge-cli setup \(place) "
        + "sets it up; bridge-cli attach --end \(place) and bridge-cli attach \(place) --profile NAME name a profile")
  }

  func commands() async throws(AccessoryError) -> (driver: String, commands: [CommandDescription]) {
    try checkDriver()
    let reply = try await calls.commands()
    return (reply.driver, reply.commands)
  }

  func possibleCommands() async throws(AccessoryError) -> [(driver: String, commands: [CommandDescription])] {
    [try await commands()]
  }

  func check(_ ability: DriverAbility) {}
  func checkWrites(_ calls: [CommandCall], isAsked: Bool) {}
  func checkBytes(isAsked: Bool) {}

  func preview(_ calls: [CommandCall], write: Bool) async throws(AccessoryError) -> CommandPreview {
    try checkDriver()
    let preview = try await self.calls.preview(calls.map { Bridge.CommandCall($0) }, write: write)
    return CommandPreview(device: preview.device, frames: preview.frames, refusal: preview.refusal)
  }

  func info() async throws(AccessoryError) -> AccessoryInfo {
    let reply = try await calls.info()
    return AccessoryInfo(
      device: reply.accessory.device, line: reply.line, details: reply.protocol,
      identity: reply.identity, held: reply.accessory)
  }

  func accessory(writes: Bool) async throws(AccessoryError) -> any Accessory {
    try await ServiceAccessory.open(entry, label: label, writes: writes)
  }

  func session(writes: Bool) async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await calls.open(write: entry.asks(toWrite: writes)).transport)
  }

  func lineSession() async throws(AccessoryError) -> AccessorySession {
    AccessorySession(try await calls.open(write: false).transport)
  }

  func bytes(write: Bool, awaiting: (String) -> Void) async throws(AccessoryError) -> OpenedBytes {
    if !write, let refusal = await writeRules().refusalOfBytes(isAsked: false) {
      awaiting("listening to what \(label) says to the service at \(entry.socketPath)")
      return OpenedBytes(
        device: device, received: ReceivedBytes(try await calls.trace()), session: nil, servicePath: entry.socketPath,
        refusal: refusal)
    }
    awaiting("waiting for the service at \(entry.socketPath) to lend \(label)")
    let (device, transport) = try await calls.open(write: entry.asks(toWrite: write))
    let session = AccessorySession(transport)
    return OpenedBytes(
      device: device, received: ReceivedBytes(session), session: session, servicePath: entry.socketPath,
      refusal: nil)
  }

  func open(needing ability: DriverAbility?) throws(AccessoryError) -> AccessoryInUse {
    try checkDriver()
    return AccessoryInUse(self)
  }
}
