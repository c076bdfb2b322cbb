// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import CommandOutput
import Glibc

/// `setup --undo NAME`.
struct SetupUndoing {
  let name: String
  let isForUser: Bool
  let dryRun: Bool
  let json: Bool

  func run() async throws {
    var machine = SetupMachine()
    machine.service = await SetupWork.ownService()
    let (own, shared) = await SetupQueue(label: "setup").run { [machine] in
      (SetupUndo.names(.user, on: machine), SetupUndo.names(.system, on: machine))
    }
    let wanted = SetupName.of(name) ?? name
    guard own.contains(wanted) || !isForUser && shared.contains(wanted) else {
      let all = (own + (isForUser ? [] : shared)).joined(separator: ", ")
      throw AccessoryError(
        .notFound,
        "there is no setup \(SafeText.escape(name, limit: 64))"
          + (all.isEmpty ? ": nothing was set up here" : "; there are \(all)"))
    }
    let isShared = !isForUser && shared.contains(wanted)
    if isShared {
      machine.service = nil
      if machine.user != 0, !dryRun { return try await Sudo.run(["setup", "--undo", wanted], json: json) }
    }
    let undo = try await SetupQueue(label: "setup").run { [machine] () throws(AccessoryError) in
      try SetupUndo(wanted, scope: isShared ? .system : .user, on: machine)
    }
    if !dryRun {
      await Self.forgetNames(of: wanted, isShared: isShared)
      try await SetupQueue(label: "setup").run { () throws(AccessoryError) in try undo.perform() }
    }
    if json { return Output.json(SetupUndoneDocument(undo, isDone: !dryRun)) }
    if !undo.removed.isEmpty { Output.line(dryRun ? "Would be removed:" : "Removed:") }
    for path in undo.removed { Output.line("  \(SafeText.escape(path, limit: 400))") }
    for unit in undo.units { Output.line("\(dryRun ? "Would be stopped" : "Stopped"): \(unit)") }
    for kept in undo.kept { Output.line("Kept: \(SafeText.escape(kept.path, limit: 400)): \(kept.reason)") }
    if undo.removed.isEmpty, undo.kept.isEmpty { Output.line("Its files were gone already.") }
  }

  /// Takes the names back that the setup has given, unless they were changed since.
  private static func forgetNames(of setup: String, isShared: Bool) async {
    guard let place = isShared ? ServicePlace.system : try? ServicePlace.own(),
      let service = try? await BridgeClient.connect(to: place)
    else { return }
    defer { service.close() }
    for accessory in (try? await service.list(absent: true)) ?? [] where accessory.profile == setup {
      guard let given = accessory.device.given, given.name.map({ SetupName.of($0) == setup }) ?? true else { continue }
      _ = try? await service.name(accessory.device.place, name: "", area: "")
    }
  }
}
