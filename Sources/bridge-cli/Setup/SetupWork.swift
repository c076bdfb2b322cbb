// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput
import Glibc

/// Carries a plan out: the files, the service, the accessory attached, its first reading. As root for the system's service: by sudo, if this
/// process isn't root's.
struct SetupWork {
  private let plan: SetupPlan
  private let json: Bool
  private let machine: SetupMachine
  private let view: SetupView

  init(_ plan: SetupPlan, json: Bool, machine: SetupMachine = SetupMachine()) {
    var machine = machine
    machine.willChange = { () throws(AccessoryError) in
      if Interruption.signal != nil { throw AccessoryError(.cancelled, "interrupted") }
    }
    (self.plan, self.json, self.machine) = (plan, json, machine)
    view = SetupView(json: json)
  }

  /// The work of a plan that another process has made, on standard input. Only the system's: a user needs no other process.
  static func fromInput(json: Bool) async throws -> SetupWork {
    let bytes = try await SetupQueue(label: "plan").run { () throws(AccessoryError) in
      try LocalInput.all(limit: 4 << 20)
    }
    guard let plan = try? JSON(bytes).decoded(as: SetupPlan.self), plan.scope == .system else {
      throw AccessoryError(.badData, "there is no plan of a setup on standard input: nothing was written")
    }
    return SetupWork(plan, json: json)
  }

  /// Whether another process has to do it.
  private var needsRoot: Bool { plan.scope == .system && machine.user != 0 }

  private func setup() async throws(AccessoryError) -> Setup {
    try await SetupQueue(label: "setup").run { [plan, machine] () throws(AccessoryError) in try Setup(plan, on: machine)
    }
  }

  /// Shows what would be done.
  func preview() async throws {
    let setup = try await setup()
    if json { return Output.json(SetupDocument(setup, isDone: false)) }
    view.show(setup, needsRoot: needsRoot)
    Output.note("Nothing was written.")
  }

  func show() async throws { view.show(try await setup(), needsRoot: needsRoot) }

  /// Does it, and shows what came of it.
  func perform(documentOfFiles: Bool = true) async throws {
    if needsRoot { return try await handOver() }
    if plan.scope == .system {
      try await SetupQueue(label: "setup").run { [machine] () throws(AccessoryError) in try machine.checkSystem() }
    }
    let setup = try await setup()
    try await SetupQueue(label: "setup").run { () throws(AccessoryError) in try setup.perform() }
    if json, documentOfFiles { Output.json(SetupDocument(setup, isDone: true)) }
    view.noteDone(setup)
    do {
      try await attach()
    } catch {
      // The files stay: the accessory may only be asleep.
      if Interruption.signal == nil { view.noteNotAttached(setup) }
      throw error
    }
    view.noteNext(plan, hasUnits: plan.scope == .system || machine.hasUserSystemd)
  }

  /// Has sudo run this program, which reads the plan. It asks at the terminal, or not at all.
  private func handOver() async throws {
    guard let document = try? JSON(encoding: plan) else {
      throw AccessoryError(.badData, "the plan can't be handed over: nothing was written")
    }
    try await Sudo.run(["setup", "--apply"], input: document.bytes, json: json)
    // Whoever is in the group needs no advice.
    if access(ServicePlace.system, W_OK) != 0 { view.noteGroup() }
  }

  // MARK: - The service

  /// The process of this user's own service; nil if none answers.
  static func ownService() async -> Int? {
    guard let place = try? ServicePlace.own() else { return nil }
    guard let client = try? await BridgeClient.connect(to: place) else { return nil }
    defer { client.close() }
    return try? await client.service().process
  }

  /// Has the service attach the accessory, and shows its first reading.
  private func attach() async throws {
    guard let place = plan.device else { return }
    let isOwn = plan.scope == .user
    guard !isOwn || machine.service != nil || machine.hasUserSystemd else {
      return json ? () : view.noteNoService()
    }
    let service = try await BridgeClient.connect(to: try isOwn ? ServicePlace.own() : ServicePlace.system)
    defer { service.close() }
    let accessory = try await attached(place, by: service)
    // It isn't in the profile: the service keeps it when the accessory gets another port.
    if let given = plan.given { _ = try await service.name(accessory.device.place, name: given.name, area: given.area) }
    if json { return Output.json(AttachDocument(accessory, wasAttached: false)) }
    view.noteAttached(accessory, plan)
    do throws(AccessoryError) {
      BatteryReport.show(try await service.device(accessory).read())
    } catch {
      guard error.kind == .unsupported else { throw error }
      view.noteValues(accessory)
    }
  }

  /// Asks the service to attach the device with the new profile, until it has read that.
  private func attached(_ place: String, by service: BridgeClient) async throws -> Bridge.Accessory {
    let end = IOThread.shared.now + .seconds(10)
    var isFree = false
    while true {
      do {
        let accessory = try await service.attach(place, profile: plan.name).accessory
        guard accessory.state == .attached || accessory.state == .lent else {
          throw accessory.problem?.error(or: .ioFailure)
            ?? AccessoryError(.ioFailure, "the service has not attached it: bridge-cli info --service says why")
        }
        return accessory
      } catch let error as AccessoryError where error.kind == .misconfigured && IOThread.shared.now < end {
        await IOThread.shared.sleep(for: .milliseconds(200))
        try AccessoryWait.checkInterruption()
      } catch let error as AccessoryError where error.kind == .busy && !isFree {
        // Somebody had it attached by hand, with another profile.
        _ = try await service.device(place).detach()
        isFree = true
      }
    }
  }
}

/// This program, run by sudo in our place: what it prints is the result.
enum Sudo {
  /// Throws `permissionDenied` if sudo can't be run or refuses, and `ExitCode` if the program fails, which has said why.
  static func run(_ words: [String], input: [UInt8] = [], json: Bool) async throws {
    guard let program = SymbolicLink.target(of: "/proc/self/exe") else {
      throw AccessoryError(.ioFailure, "this program doesn't know its own file: run the command as root")
    }
    // Without a terminal it can't ask for a password, and would wait for one.
    let asks = isatty(STDERR_FILENO) == 1 && !json ? [] : ["-n"]
    let line = ["sudo"] + asks + ["--", program] + words + (json ? ["--json"] : [])
    let status: CInt
    do throws(AccessoryError) {
      status = try await SetupQueue(label: "sudo").run { () throws(AccessoryError) in
        try ChildProgram.runInOurPlace("sudo", line, input: input)
      }
    } catch {
      throw AccessoryError(
        .permissionDenied, "nothing was written: changes below /etc need root, and sudo can't be run (\(error.message))"
      )
    }
    switch status {
    case 0: return
    // Ours are 64 and more.
    case 1..<64:
      throw AccessoryError(.permissionDenied, "sudo failed, so nothing was written: run the command as root")
    default: throw ExitCode(status < 0 ? 128 - status : status)
    }
  }
}

/// Standard input as a whole.
enum LocalInput {
  /// All bytes until its end. Throws `badData` for more than `limit`. Blocks.
  static func all(limit: Int) throws(AccessoryError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      try Interruption.waitUntilReadable(STDIN_FILENO, "the plan")
      let count = read(STDIN_FILENO, &piece, piece.count)
      if count == 0 { return bytes }
      guard count > 0 else { throw AccessoryError(errno: .init(rawValue: errno), "reading standard input") }
      bytes += piece.prefix(count)
      guard bytes.count <= limit else { throw AccessoryError(.badData, "standard input has too many bytes") }
    }
  }
}
