// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import ArgumentParser
import CommandOutput

struct Identify: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "identify",
    abstract: "Finds out which accessory is at a port, and writes its profile.",
    discussion: """
      First it listens. Then it tries one kind of accessory after another, until one answers as expected. An accessory of another \
      kind may misunderstand such a request, so the command shows what it will send, and asks first.

      EXAMPLES
        bridge-cli profile identify /dev/ttyUSB0
        bridge-cli profile identify --dry-run
        bridge-cli profile identify ttyUSB0 --only jbd,daly --write
      """)

  @Argument(help: .value("port", "The port; may be left out with --dry-run."), completion: CompletionWords.ports)
  var port: String?
  @Option(help: .value("kind,…", "Look for these kinds only."), transform: KindsArgument.read) var only: KindsArgument?
  @Option(help: .value("kind,…", "Don't look for these kinds."), transform: KindsArgument.read) var skip: KindsArgument?
  @Option(help: .value("time", "The timeout of each request, and the time to listen."), transform: TimeArgument.read)
  var timeout: TimeArgument?
  @Flag(name: [.short, .long], help: "Don't ask before sending.")
  var yes = false
  @Flag(help: "Show what would be sent, and open nothing.")
  var dryRun = false
  @Flag(help: "Save the profile in the user's folder, unless that has a profile of the same name.")
  var write = false
  /// Set the system's service up, as `setup --yes` does, which took its place.
  @Flag(help: .hidden) var system = false
  @Option(help: .value("name", "The name of the profile; default: my-KIND.")) var name: String?
  @Option(help: .value("file", "ESPHome: the file with the node's key and nothing else."), completion: .file())
  var keyFile: String?
  @OptionGroup var waiting: WaitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if dryRun, waiting.wait != nil { throw ValidationError("--dry-run opens nothing: it can't be used with --wait") }
    if port == nil, !dryRun { throw ValidationError("expected a port, like /dev/ttyUSB0") }
    if let name, !SetupName.isName(name) {
      throw ValidationError("--name takes lower-case letters, digits, -, _ and ., and begins with a letter or a digit")
    }
    if let timeout, !(Duration.milliseconds(10)...Duration.seconds(60)).contains(timeout.duration) {
      throw ValidationError("--timeout must be 10ms to 60s")
    }
    if dryRun, write || system {
      throw ValidationError("--dry-run finds no profile: it can't be used with --write or --system")
    }
    if write, system { throw ValidationError("--system saves the profile: leave out --write") }
  }

  func run() async throws {
    let library = KnownDrivers.library
    try check(library)
    let device = try await device()
    guard let port = device.map({ IdentificationPlan.PortKind($0.address) }) ?? .line else {
      throw UsageError(
        "\(device?.address.description ?? "this") is a USB device, not a serial port: bridge-cli list shows what it is"
      )
    }
    func isWanted(_ kind: String) -> Bool {
      only?.kinds.contains(kind) ?? true && !(skip?.kinds.contains(kind) ?? false)
    }
    if let device {
      if system {
        try await SetupQueue(label: "system").run { () throws(AccessoryError) in try SetupMachine().checkSystem(device)
        }
      }
      // What a device on the air tells is enough: nothing is sent, and nothing connected.
      let found = library.kindsOnAir(device).filter { isWanted($0.kind) }
      if !found.isEmpty { return try await conclude(found, device, library) }
    }
    let plan = IdentificationPlan(library, port: port, timeout: timeout?.duration, isWanted: isWanted)
    guard !plan.steps.isEmpty else {
      let why = plan.untried.map { "\($0.name): \($0.text)" }.joined(separator: "; ")
      throw UsageError("there is nothing to try\(why.isEmpty ? "" : ": \(why)")")
    }
    let view = IdentifyView(plan, json: output.json)
    guard !dryRun, let device else { return view.showDryRun(device) }
    let identification = Identification(
      device: device, name: self.port, keyFile: keyFile, view: view, library: library)
    try await identification.check()
    if write, let name { try await SetupQueue(label: "profile").run { try ProfileFile.checkIsNew(name) } }
    guard try await identification.isAgreed(asking: !yes) else {
      throw AccessoryError(.cancelled, "nothing was sent")
    }
    try await conclude(try await identification.search(), device, library, view)
  }

  /// The result for a device that tells what it is.
  private func conclude(_ found: [IdentificationFind], _ device: Device, _ library: DriverLibrary) async throws {
    var outcome = IdentificationOutcome()
    outcome.found = found
    let nothing = IdentificationPlan(library, port: .connection(isNetwork: false)) { _ in false }
    let view = IdentifyView(nothing, json: output.json)
    if !output.json { Output.note("by its name and services; nothing was sent") }
    try await conclude(outcome, device, library, view)
  }

  /// Prints the result and the profile, and writes the profile if `--write` is given. Throws `unsupported` when nothing
  /// was found.
  private func conclude(
    _ outcome: IdentificationOutcome, _ device: Device, _ library: DriverLibrary, _ view: IdentifyView
  ) async throws {
    let others = (try? await KnownDevices.source().devices()) ?? []
    // With two candidates it isn't known which one is right, so no profile is made.
    let only = outcome.found.count == 1 ? outcome.found.first : nil
    let profile = only.flatMap {
      IdentifiedProfile($0, at: device, among: others, name: name, drivers: library)
    }
    view.show(outcome, device, profile, path: profile.flatMap { ProfileFile.path($0.name) }, isWritten: write || system)
    guard !outcome.found.isEmpty else { throw ExitCode(ExitStatus.of(.unsupported)) }
    guard write || system else { return }
    guard let profile else {
      throw AccessoryError(
        .misconfigured,
        only == nil
          ? "two kinds fit, so no profile was written: choose one with --only"
          : "no profile was written: profiles are for ports of this machine; use \(device.address) with --driver")
    }
    if system { return try await setUp(profile, device, library) }
    try await SetupQueue(label: "profile").run { () throws(AccessoryError) in
      try ProfileFile.write(profile.text, name: profile.name)
    }
    view.noteWritten(ProfileFile.path(profile.name) ?? "", profile, device)
  }

  /// Has the system's service attach the accessory now and from now on, and shows its first reading.
  private func setUp(_ profile: IdentifiedProfile, _ device: Device, _ library: DriverLibrary) async throws {
    var plan = try SetupPlan(profile, scope: .system, drivers: library)
    plan.device = device.place
    try await SetupWork(plan, json: output.json).perform(documentOfFiles: false)
  }

  // MARK: - Checks before opening

  private func check(_ library: DriverLibrary) throws {
    let known = library.drivers.map(\.name) + library.protocols.names
    for (option, kinds) in [("--only", only), ("--skip", skip)] {
      if let unknown = kinds?.kinds.first(where: { !known.contains($0) }) {
        throw UsageError("\(option): there is no kind \(unknown): \(KnownDrivers.advice(unknown, among: known))")
      }
    }
  }

  /// The port to identify. It needn't exist for a dry run.
  private func device() async throws -> Device? {
    guard let port else { return nil }
    do {
      return try await WaitingLine.during("looking for \(port)", limit: DeviceName(port).wish()?.limit) {
        try await AccessoryWait.device(port, limit: waiting.wait?.duration)
      }
    } catch ResolutionError.noMatch where dryRun {
      return Device(.node(DeviceName(port).path ?? port), source: .named)
    } catch let error as AccessoryError where dryRun && error.kind == .notFound {
      guard let address = DeviceAddress(port) else { throw error }
      return Device(address, source: .named)
    }
  }
}

/// A list of kinds on the command line.
struct KindsArgument: FormArgument {
  static let form = "a kind, or several separated by commas, like jbd,daly"
  let kinds: [String]

  init?(argument: String) {
    kinds = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if kinds.contains("") { return nil }
  }
}
