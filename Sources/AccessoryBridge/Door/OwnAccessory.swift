// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

/// An accessory that no service has open. This program opens it.
struct OwnAccessory: FoundAccessory {
  var opener: DeviceOpener
  let kinds: KnownKinds
  let host: any OpeningHost

  var device: Device { opener.device }
  var label: String { opener.label }
  var driverName: String? { opener.driver?.name }
  var driver: Driver? { opener.driver }
  var service: HeldFacts? { nil }

  func profile() -> Profile? { opener.profile }
  func writeRules() -> WriteRules { opener.writeRules }

  /// For a device without a driver, throws why it can't be opened, or that no driver is known.
  func checkDriver() async throws(AccessoryError) {
    guard opener.driver == nil else { return }
    throw await PortAccess.look(at: [opener.device]).first?.refusal ?? opener.withoutDriver
  }

  func commands() async throws(AccessoryError) -> (driver: String, commands: [CommandDescription]) {
    guard let driver = opener.driver else {
      try await checkDriver()
      throw opener.withoutDriver
    }
    return (driver.name, driver.commands)
  }

  func possibleCommands() -> [(driver: String, commands: [CommandDescription])] {
    (opener.driver.map { [$0] } ?? kinds.library().drivers).map { ($0.name, $0.commands) }
  }

  func check(_ ability: DriverAbility) throws(AccessoryError) { try opener.driver?.check(ability, label: label) }

  func checkWrites(_ calls: [CommandCall], isAsked: Bool) throws(AccessoryError) {
    try opener.writeRules.check(calls, isAsked: isAsked)
  }

  func checkBytes(isAsked: Bool) throws(AccessoryError) { try opener.writeRules.checkBytes(isAsked: isAsked) }

  func preview(_ calls: [CommandCall], write: Bool) async throws(AccessoryError) -> CommandPreview {
    try await checkDriver()
    let frames = try opener.driver?.preview(of: calls, unit: opener.device.unit) ?? []
    return CommandPreview(
      device: device, frames: frames, refusal: opener.writeRules.refusal(of: calls, isAsked: write)?.message)
  }

  func info() async throws(AccessoryError) -> AccessoryInfo {
    guard opener.driver != nil || opener.general != nil else { return try await infoWithoutDriver() }
    do throws(AccessoryError) {
      return try await info(of: try await contact())
    } catch {
      // It has none of the standard services of Bluetooth Low Energy.
      guard opener.driver == nil, error.kind == .misconfigured else { throw error }
      return try await infoWithoutDriver()
    }
  }

  private func info(of opened: AccessoryInUse) async throws(AccessoryError) -> AccessoryInfo {
    return try await attempt { () async throws(AccessoryError) in
      let line = try await opened.session?.line?.status()
      let identity = try await host.answer(of: label) { () async throws(AccessoryError) in
        try await opened.accessory.identify()
      }
      return AccessoryInfo(
        device: device, line: line.map { Bridge.Line($0) }, details: opened.accessory.protocolDetails,
        identity: identity)
    } finally: {
      await opened.close()
    }
  }

  /// Opens the device, and sends nothing.
  private func infoWithoutDriver() async throws(AccessoryError) -> AccessoryInfo {
    let opened = try await openedDevice()
    let line = try await attempt { () async throws(AccessoryError) in
      try await opened.session?.line?.status()
    } finally: {
      await opened.close()
    }
    return AccessoryInfo(device: device, line: line.map { Bridge.Line($0) }, withoutDriver: opener.withoutDriver)
  }

  func open(needing ability: DriverAbility?) async throws(AccessoryError) -> AccessoryInUse {
    try await contact(needing: ability)
  }

  private func contact(needing ability: DriverAbility? = nil) async throws(AccessoryError) -> AccessoryInUse {
    if let general = opener.general { return try await contact(needing: ability, with: general) }
    try await checkDriver()
    if let ability { try check(ability) }
    try opener.checkUnit()
    let opened = try await openedDevice()
    let accessory = try await host.answer(of: label) { () async throws(AccessoryError) in
      try await opener.contact(with: opened)
    }
    return AccessoryInUse(accessory, opener, over: opened.session, host: host)
  }

  /// Makes contact with a device of unknown protocol, by its standard services. If it has none, throws that no driver is known.
  private func contact(
    needing ability: DriverAbility?, with general: DeviceOpener
  ) async throws(AccessoryError) -> AccessoryInUse {
    var asking = self
    asking.opener = general
    do throws(AccessoryError) {
      return try await asking.contact(needing: ability)
    } catch {
      throw error.kind == .unsupported ? opener.withoutDriver : error
    }
  }

  // MARK: - Sessions

  func accessory(writes: Bool) async throws(AccessoryError) -> any Accessory {
    try await asking(toWrite: writes).accessory()
  }

  func session(writes: Bool) async throws(AccessoryError) -> AccessorySession {
    try await asking(toWrite: writes).greetedSession()
  }

  private func asking(toWrite isAsked: Bool) -> DeviceOpener {
    var opener = opener
    opener.asksToWrite = isAsked
    return opener
  }

  func lineSession() async throws(AccessoryError) -> AccessorySession {
    try await opened { () async throws(AccessoryError) in try await opener.unguardedSession() }
  }

  func bytes(write: Bool, awaiting: (String) -> Void) async throws(AccessoryError) -> OpenedBytes {
    let pause = settleTime.map { ", which takes \($0) to settle" } ?? ""
    awaiting("opening \(label)\(pause)")
    let opener = asking(toWrite: write)
    let refusal = write ? nil : opener.writeRules.refusalOfBytes(isAsked: false)
    let session = try await opened { () async throws(AccessoryError) in
      refusal == nil ? try await opener.greetedSession() : try await opener.unguardedSession()
    }
    return OpenedBytes(
      device: device, received: ReceivedBytes(session), session: session, servicePath: nil, refusal: refusal)
  }

  /// Opens the device as its driver wants it, without the driver's greeting: to listen, or before the driver makes contact.
  func openedDevice() async throws(AccessoryError) -> OpenedDevice {
    try await opened { () async throws(AccessoryError) in try await opener.open() }
  }

  private func opened<Opened: Sendable>(
    _ open: () async throws(AccessoryError) -> Opened
  ) async throws(AccessoryError) -> Opened {
    try await host.opening(label) { () async throws(AccessoryError) in
      guard let settle = settleTime else { return try await open() }
      return try await host.during("waiting for \(label) to settle after opening", limit: settle, open)
    }
  }

  /// The pause after opening in which nothing is sent; nil for none.
  var settleTime: Duration? {
    let settle = opener.settings.terminal.settle
    return opener.device.address.transport == .terminal && settle > .zero ? settle : nil
  }
}
