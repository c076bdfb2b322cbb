// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import AccessoryLink
import CommandOutput

/// The one way from what a user types to an accessory, whether a service has it open or this command opens it.
enum Door {
  /// The accessory that `text` names; with `isLine` a line counts as one, whatever accessories are on it. `line` says
  /// whether to wait for an absent accessory.
  ///
  /// Throws `ResolutionError` when the text doesn't name exactly one accessory, and `busy` when the user asks for other
  /// line settings or another driver than those of the service that has it open.
  static func find(
    _ text: String?, _ line: LineOptions, asLine isLine: Bool = false
  ) async throws -> any FoundAccessory {
    guard let limit = line.wait else { return try await findNow(text, line, asLine: isLine) }
    return try await AccessoryWait.find(text, line, asLine: isLine, limit: limit)
  }

  /// Like `find`, without waiting. With `again`, another accessory that has the name now is `notFound`.
  static func findNow(
    _ text: String?, _ line: LineOptions, asLine isLine: Bool = false, again: SameAgain? = nil
  ) async throws -> any FoundAccessory {
    let found = try await finder(line, asLine: isLine).find(DeviceName(text))
    guard again?.fits(found.device) ?? true else { throw another(found.device, than: again) }
    return found
  }

  private static func another(_ device: Device, than again: SameAgain?) -> AccessoryError {
    AccessoryError(
      .notFound, "\(again?.name ?? "it") isn't there: \(device.id) at \(device.place) is another accessory")
  }

  /// Finds the accessory that was found before by `text`, and is there again, by one of its names.
  static func findNow(_ again: SameAgain, _ text: String?, _ line: LineOptions) async throws -> any FoundAccessory {
    var failure: (any Error)?
    // Several devices may tell one name on the air; the address is that of the one that was found.
    let isNamedOnAir = DeviceName(text).wish().map { $0.wish.address == nil } ?? false
    for name in isNamedOnAir ? again.names(text).reversed() : again.names(text) {
      do { return try await findNow(name, line, asLine: again.isLine, again: again) } catch {
        failure = failure ?? error
      }
    }
    throw failure ?? AccessoryError(.notFound, "\(again.name) isn't there")
  }

  /// What says that the device is back. Another device with its identity that is there now isn't it.
  static func again(_ device: Device, asLine isLine: Bool = false) async -> SameAgain {
    let others = try? await KnownDevices.source().devices()
    return SameAgain(device, beside: others ?? [], isLine: isLine)
  }

  /// Finds accessories, with the options of the command line.
  static func finder(_ line: LineOptions? = nil, asLine isLine: Bool = false) -> AccessoryFinder {
    var finder = AccessoryFinder(
      services: ServicePlace.all(), kinds: kinds, host: CommandHost(wait: line?.wait)
    ) { name, areLines in
      try await KnownDevices.devices(for: name, lines: areLines)
    } opener: { device, name in
      try await opener(device, name, line)
    }
    finder.isLine = isLine
    finder.opensLines = line?.driver != nil
    finder.driver = line?.driver
    finder.hasSettings = line?.changesTheLine == true
    finder.transport = line?.transport.wanted
    return finder
  }

  private static let kinds = KnownKinds {
    KnownDrivers.library
  } driver: { name in
    KnownDrivers.driver(named: name)
  } profile: { name in
    await KnownProfiles.store.profile(named: name)
  }

  /// How this command opens a device: as its profile says, with the user's options in place of the profile's settings.
  private static func opener(
    _ found: Device, _ name: DeviceName, _ line: LineOptions?
  ) async throws -> DeviceOpener {
    try await NumberedTerminals.check(found)
    let profile = try await KnownProfiles.profile(for: found, driver: line?.driver)
    guard let line else { return DeviceOpener(found, profile: profile, drivers: KnownDrivers.library) }
    let device = try line.transport.choose(found, label: name.label(of: found.place))
    var opener = DeviceOpener(
      device, profile: profile, isChosen: name.choosesTransport(of: found) || line.transport.wanted != nil,
      drivers: KnownDrivers.library)
    // Naming another driver doesn't lift the write protection that the device's own profiles set.
    if line.driver != nil { opener.claims = await KnownProfiles.store.claiming(found) }
    opener.settings.terminal = line.settings(profile)
    opener.settings.usb = line.transport.settings(profile)
    if let gatt = line.transport.gatt { opener.settings.gatt = gatt.settings }
    opener.settings.nodeKeyFile = line.transport.keyFile ?? opener.settings.nodeKeyFile
    // If the profile has the wanted driver, it is kept, since it is set up with the profile's numbers.
    if let name = line.driver, opener.driver?.name != name, let driver = KnownDrivers.library.driver(named: name) {
      opener.driver = driver
    }
    opener.label = name.label(of: opener.device.place)
    return opener
  }
}

/// What a command shows while it waits for an accessory, and how long it tries to open one.
private struct CommandHost: OpeningHost {
  /// How long an absent accessory is waited for; nil for not at all.
  let wait: Duration?

  func during<Result: Sendable, Failure: Error>(
    _ what: String, limit: Duration?, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await WaitingLine.during(what, limit: limit, body)
  }

  func opening<Opened: Sendable>(
    _ label: String, _ open: () async throws(AccessoryError) -> Opened
  ) async throws(AccessoryError) -> Opened {
    try await AccessoryWait.opening(label, limit: wait, open)
  }
}

extension Read {
  /// Prints notes on standard error: what the answer lacks, its age, and the program that has borrowed the accessory.
  /// Prints nothing for a complete, fresh answer.
  func noteAge(_ service: HeldFacts?) {
    if let missing { Output.note("note: \(SafeText.escape(missing, limit: 1_000))") }
    if let service, service.isGone, let gone = HeldView.lastThere(service.accessory) {
      let read = age.map { ": this was read \(AgeView.text($0.inMilliseconds)) ago" } ?? ""
      return Output.note("\(SafeText.escape(service.accessory.device.fullTitle, limit: 200)) is \(gone)\(read)")
    }
    guard let age = age?.inMilliseconds else { return }
    let read = "this was read \(AgeView.text(age)) ago"
    guard let accessory = service?.accessory, accessory.state == .lent else {
      if AgeView.isWorthSaying(age) { Output.note(read) }
      return
    }
    let holder = accessory.holder.map { SafeText.escape($0) } ?? "another program"
    Output.note("the accessory is used by \(holder): \(read)")
  }
}
