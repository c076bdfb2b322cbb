// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import CommandOutput

/// Walks a person from the device to the plan: each question is asked unless an option has answered it.
struct SetupGuide {
  private let options: SetupCommand
  private let questions: SetupQuestions
  private let library = KnownDrivers.library
  private var machine = SetupMachine()

  init(_ options: SetupCommand, questions: SetupQuestions) throws {
    (self.options, self.questions) = (options, questions)
  }

  mutating func run() async throws {
    var options = options
    if let file = options.from { try await SetupSource(file, questions: questions).answer(&options) }
    let device = try await device(options)
    if device.address.transport.mustBeNamed, device.address.bluetooth == nil {
      throw AccessoryError(
        .unsupported,
        "nothing was written: setup is for devices of this machine. The service holds \(device.address) by its list of devices "
          + "(Documentation/network.md), and commands open it with --driver")
    }
    let scope = try await scope(device, options)
    let kind = try await SetupKindFinder(device: device, options: options, questions: questions).kind()
    let others = (try? await KnownDevices.source().devices()) ?? []
    let old = try await oldName(device, among: others, scope, options)
    let (name, typed) = try await name(kind, old, scope, options)
    let given = try await given(typed, old, options)
    let alarms = try await alarms(kind, old, options)
    // The kind of a file that the command line names is in no folder.
    var drivers = library
    if let described = kind.model?.described { drivers.register(Driver(described.description)) }
    guard
      let profile = IdentifiedProfile(
        kind.find, at: device, among: others, name: name, like: kind.model, alarms: alarms, drivers: drivers)
    else {
      throw AccessoryError(
        .misconfigured,
        "nothing was written: profiles are for ports of this machine; use \(device.address) with --driver")
    }
    var plan = try SetupPlan(profile, scope: scope, drivers: drivers)
    plan.device = device.place
    plan.given = given
    if let warning = profile.warning { Output.note("warning: " + SafeText.escape(warning, limit: 500)) }
    let past = try await SetupQueue(label: "setup").run { [machine] () throws(AccessoryError) in
      try SetupPast(old, scope: scope, on: machine)
    }
    let outlets = SetupOutletQuestions(options: options, questions: questions, machine: machine)
    try await outlets.add(to: &plan, past, device, kind)
    let work = SetupWork(plan, json: options.output.json, machine: machine)
    if options.dryRun { return try await work.preview() }
    try await work.show()
    if old != nil { Output.note("This changes the setup \(name).") }
    guard try await agreed() else { throw AccessoryError(.cancelled, "nothing was written") }
    try await work.perform()
  }

  private func agreed() async throws -> Bool {
    guard questions.isAsking else { return true }
    return try await questions.agrees("Do this?", usual: true)
  }

  // MARK: - The device

  private func device(_ options: SetupCommand) async throws -> Device {
    if let text = options.device.text { return try await AccessoryWait.device(text, limit: nil) }
    let devices = try await SetupDevices.all()
    let store = await KnownProfiles.store
    guard questions.isAsking else {
      guard devices.count == 1, let only = devices.first else {
        throw UsageError(
          devices.isEmpty
            ? "no device was found: plug it in, or name its port" : "there are several devices: name the one")
      }
      return only
    }
    if devices.isEmpty {
      Output.note("No device was found.")
    } else {
      SetupDevices.lines(devices, store).forEach(Output.note)
    }
    let usual = devices.count == 1 ? "1" : "p"
    return try await questions.ask("Which one? A number, a name, or p to plug it in:", usual: usual) { answer in
      if answer.lowercased() == "p" { return try await SetupDevices.next() }
      if let number = Int(answer) {
        guard devices.indices.contains(number - 1) else {
          throw WrongAnswer(
            devices.isEmpty ? "Type p, or the path of its port." : "Type a number from 1 to \(devices.count), or p.")
        }
        return devices[number - 1]
      }
      return try await AccessoryWait.device(answer, limit: nil)
    }
  }

  /// Whose service gets it.
  private mutating func scope(_ device: Device, _ options: SetupCommand) async throws -> SetupPlan.Scope {
    let hasService = await SetupQueue(label: "setup").run { [machine] in machine.hasUnit(UdevRules.usualUnit) }
    let reason =
      device.source == .simulator
      ? "the system's service doesn't see simulated accessories"
      : !machine.hasSystemd
        ? "systemd doesn't run here" : !hasService ? "the package accessory-bridge isn't installed" : nil
    if !options.user, reason == nil { return .system }
    if !options.user, let reason { Output.note("This is for a service of your own: \(reason).") }
    machine.service = await SetupWork.ownService()
    return .user
  }

  // MARK: - Its name and its alarms

  private func names(_ scope: SetupPlan.Scope) async -> [String] {
    await SetupQueue(label: "setup").run { [machine] in SetupUndo.names(scope, on: machine) }
  }

  /// The name of the setup that the device has already. One that was made while its twin wasn't there may be either's.
  private func oldName(
    _ device: Device, among others: [Device], _ scope: SetupPlan.Scope, _ options: SetupCommand
  ) async throws -> String? {
    let store = await KnownProfiles.store
    for name in await names(scope) {
      guard let rules = store.profile(named: name)?.rules, rules.contains(where: { $0.fits(device) }) else { continue }
      guard let twin = others.first(where: { other in !other.isSame(as: device) && rules.contains { $0.fits(other) } })
      else { return name }
      if let text = options.name, SetupName.of(text) == name { return name }
      let question = "The setup \(name) fits this one and its twin at \(twin.place). Was it made for this one?"
      if questions.isAsking, try await questions.agrees(question, usual: false) { return name }
      throw UsageError(
        "the setup \(name) fits both, since they have one serial number: first bridge-cli setup \(twin.place) --name \(name), "
          + "while both are plugged in; then it goes by its port")
    }
    return nil
  }

  private func name(
    _ kind: SetupKind, _ old: String?, _ scope: SetupPlan.Scope, _ options: SetupCommand
  ) async throws -> (name: String, typed: String?) {
    // A second setup changes the first, whatever it is called.
    if let old { return (old, options.name) }
    let taken = await names(scope)
    let kinds = Set(library.protocols.names + ProfileStore(drivers: library).profiles.map(\.name))
    func name(_ text: String) throws -> (String, String?) {
      if let problem = GivenName.problem(of: text) { throw WrongAnswer("The name \(problem).") }
      guard let name = SetupName.of(text) else {
        throw WrongAnswer("A name has letters or digits, at most 64 of a to z and 0 to 9, like House battery.")
      }
      // It would take the place of the profile of all that are of this kind.
      guard !kinds.contains(name) else {
        throw WrongAnswer("\(name) is the name of a kind: choose another one, like my-\(name).")
      }
      guard !taken.contains(name) else {
        throw WrongAnswer(
          "\(name) is another accessory's name: choose another one, or bridge-cli setup --undo \(name).")
      }
      return (name, text == name ? nil : text)
    }
    if let text = options.name {
      do { return try name(text) } catch let error as WrongAnswer { throw UsageError(error.text) }
    }
    let base = "my-" + kind.find.kind
    let usual = ([base] + (2...99).map { "\(base)-\($0)" }).first { !taken.contains($0) } ?? base
    return try await questions.ask("A name for it:", usual: usual, name)
  }

  /// The name as it was typed, where it is more than the setup's, and the place.
  private func given(_ typed: String?, _ old: String?, _ options: SetupCommand) async throws -> GivenName? {
    var area = options.area
    // Whoever gives the name by an option is asked for no place.
    if area == nil, options.name == nil, old == nil, questions.isAsking {
      area = try await questions.ask("Where is it, like Attic? Enter for no place:", usual: "") { text in
        if let problem = GivenName.problem(of: text) { throw WrongAnswer("The place \(problem).") }
        return text.isEmpty ? nil : text
      }
    }
    return typed == nil && area == nil ? nil : GivenName(name: typed, area: area)
  }

  private func alarms(_ kind: SetupKind, _ old: String?, _ options: SetupCommand) async throws -> [AlarmRule] {
    if let chosen = try SetupAnswers.alarms(options.alarm) { return chosen }
    let had = kind.model?.alarms ?? []
    let usual = had.isEmpty && old == nil ? SetupAnswers.usualAlarms(kind.find.kind, kind.model?.described) : had
    guard questions.isAsking else { return usual }
    if usual.isEmpty { Output.note("It has no alarms.") }
    for (index, rule) in usual.enumerated() {
      Output.note("  \(index + 1)  \(SafeText.escape(rule.description, limit: 200))")
    }
    return try await questions.ask("Alarms: all, none, numbers like 1,3, or a rule of your own:", usual: "all") {
      answer in
      switch answer.lowercased() {
      case "all": return usual
      case "none": return []
      default: break
      }
      let words = answer.split { $0 == "," || $0 == " " }
      let numbers = words.compactMap { Int($0) }
      guard numbers.count == words.count else {
        do { return usual + [try AlarmRule(answer)] } catch {
          throw WrongAnswer("\(error). A rule is like battery < 20 %; Documentation/alarms.md describes them.")
        }
      }
      guard numbers.allSatisfy({ usual.indices.contains($0 - 1) }) else {
        throw WrongAnswer("Type numbers from 1 to \(usual.count).")
      }
      return Set(numbers).sorted().map { usual[$0 - 1] }
    }
  }
}
