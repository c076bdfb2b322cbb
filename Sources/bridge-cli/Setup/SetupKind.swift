// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput

/// What is known of an accessory's kind.
struct SetupKind {
  var find: IdentificationFind
  /// The profile whose settings are kept; nil for those of the kind.
  var model: Profile?
}

/// Finds out what kind of accessory a device is.
struct SetupKindFinder {
  let device: Device
  let options: SetupCommand
  let questions: SetupQuestions
  private let library = KnownDrivers.library

  init(device: Device, options: SetupCommand, questions: SetupQuestions) {
    (self.device, self.options, self.questions) = (device, options, questions)
  }

  /// The kind: named, known by a profile, told on the air, or found out.
  func kind() async throws -> SetupKind {
    if let driver = options.driver { return try await named(driver) }
    if let conflict = await KnownProfiles.store.conflict(for: device, label: device.address.description) {
      throw conflict
    }
    if let profile = await KnownProfiles.store.profile(for: device), let driver = profile.driver {
      Output.note("It is known as \(driver), by the profile \(profile.name).")
      return SetupKind(find: IdentificationFind(named: driver), model: profile)
    }
    let onAir = library.kindsOnAir(device)
    if onAir.count == 1, let find = onAir.first {
      Output.note("It is \(find.kind), by its name and services; nothing was sent.")
      return SetupKind(find: find)
    }
    guard questions.isAsking else { return SetupKind(find: try await identified()) }
    return try await questions.ask("What is it? Its kind, or Enter to find out:", usual: "") { word in
      if !word.isEmpty { return try await named(word) }
      return SetupKind(find: try await identified())
    }
  }

  /// The kind that a person names: a driver, or the file of a description.
  private func named(_ word: String) async throws -> SetupKind {
    func kind(_ name: String, _ model: Profile?) -> SetupKind {
      SetupKind(find: IdentificationFind(named: name), model: model)
    }
    if KnownDrivers.isFile(word) {
      // The service reads no file of the user's: the description becomes a part of the profile.
      let described = try await KnownDrivers.described(inFile: word)
      return kind(described.name, described.profile)
    }
    guard library.driver(named: word) != nil else {
      let known = library.drivers.map(\.name) + library.protocols.names
      throw UsageError(
        "there is no kind \(SafeText.escape(word, limit: 64)): \(KnownDrivers.advice(word, among: known))")
    }
    if let fitting = await KnownProfiles.store.profile(for: device), fitting.driver == word {
      return kind(word, fitting)
    }
    if library.protocols.described(word) == nil { return kind(word, await KnownProfiles.store.profile(named: word)) }
    // One of the user's own folder is no file of the system's service, either.
    let file = library.protocols.origins[word]?.file
    let isShared = file.map { $0.hasPrefix("/etc/") } ?? true
    return kind(word, isShared ? nil : library.protocols.profile(word))
  }

  /// Asks the device what it is, with permission.
  private func identified() async throws -> IdentificationFind {
    guard let port = IdentificationPlan.PortKind(device.address) else {
      throw UsageError("\(device.address) is a USB device whose protocol isn't known: name its kind")
    }
    let plan = IdentificationPlan(library, port: port, timeout: nil) { _ in true }
    let view = IdentifyView(plan, json: false)
    if options.dryRun {
      throw UsageError("--dry-run sends nothing, so the kind has to be named: --driver KIND")
    }
    let identification = Identification(device: device, name: options.device.text, view: view, library: library)
    try await identification.check()
    guard try await identification.isAgreed(asking: questions.isAsking) else {
      throw WrongAnswer("Nothing was sent. Type its kind; bridge-cli drivers lists them.")
    }
    let outcome = try await identification.search()
    view.showFindings(outcome, device)
    guard let find = outcome.found.first else {
      let what = "nothing answered as a known kind does, and nothing was written: name its kind"
      throw questions.isAsking ? AccessoryError(.misconfigured, what) : AccessoryError(.unsupported, what)
    }
    guard outcome.found.count == 1 else {
      throw UsageError("two kinds fit: name one of \(outcome.found.map(\.kind).joined(separator: ", "))")
    }
    return find
  }
}
