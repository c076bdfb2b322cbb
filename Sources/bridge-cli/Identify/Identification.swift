// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput

/// Finds out which kind of accessory is at a device: the checks, the consent and the search of `profile identify` and of `setup`.
struct Identification {
  let device: Device
  /// What the user typed for it.
  let name: String?
  /// The file with the key of the node whose serial port it is.
  var keyFile: String?
  let view: IdentifyView
  let library: DriverLibrary

  private var plan: IdentificationPlan { view.plan }

  /// Throws where the device may not be opened, or a request could change something in it. Opens and sends nothing.
  func check() async throws {
    try await Door.finder(asLine: true).held(DeviceName(name ?? device.place))?.checkIsFree()
    let access = await SetupQueue(label: "access").run {
      PortAccess(device.address, isSimulated: device.source == .simulator)
    }
    if let refusal = access.refusal { throw refusal }
    try await checkWrites()
  }

  /// Throws `permissionDenied` where a profile names the accessory's driver and doesn't allow writes: the requests of
  /// another kind could be a write to this accessory.
  private func checkWrites() async throws(AccessoryError) {
    guard device.source != .simulator else { return }
    for profile in await KnownProfiles.store.claiming(device) {
      guard let kind = profile.driver, !profile.allowsWrites, KnownDrivers.driver(named: kind)?.hasWrites == true,
        plan.steps.contains(where: { step in !step.isListening && step.kinds.contains { $0 != kind } })
      else { continue }
      throw AccessoryError(
        .permissionDenied,
        "the profile \(profile.name) names \(kind) for \(device.address), and a request for another kind may change "
          + "something in it, so nothing was sent. Use --only \(kind), or remove the profile if it is wrong"
      )
    }
  }

  /// Shows what will be sent, and asks whether it may be. Throws `UsageError` where nobody can be asked.
  func isAgreed(asking: Bool) async throws -> Bool {
    view.announce(device)
    if !asking || plan.isSilent { return true }
    guard Consent.canBeAsked else {
      throw UsageError(
        "identify asks before it sends something to an unknown device, but there is no terminal: use --yes")
    }
    return try await Consent.ask("Go on? [y/N] ")
  }

  /// Opens the device, and carries the plan out.
  func search() async throws(AccessoryError) -> IdentificationOutcome {
    var opener = DeviceOpener(device, isChosen: true, drivers: library)
    opener.driver = nil
    opener.settings.nodeKeyFile = keyFile ?? opener.settings.nodeKeyFile
    opener.settings.terminal = TerminalSettings()
    if let first = plan.steps.first?.line { opener.settings.terminal.baudRate = first.baudRate }
    opener.label = DeviceName(name ?? device.place).label(of: device.address.description)
    return try await Identifier.run(plan, opening: opener) { [view] in view.show($0) }
  }
}
