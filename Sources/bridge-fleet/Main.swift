// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput
import Glibc

@main
enum Main {
  /// Runs on the main thread, without a task before it.
  @MainActor static func main() async {
    // First of all, while the process has one thread: a publisher says that it is offline before a signal ends it.
    Signals.block(Interruption.signals)
    Memory.shareOneArena()
    do throws(AccessoryError) {
      try IOThread.start(leaving: 4)
      try QuietTasks.begin()
    } catch {
      Glibc.exit(Failure.report(early: error))
    }
    let work = Task.detached { await run() }
    Interruption.cancel(work)
    // The exit isn't on the main thread: to resume there, dispatch would start another thread, and it would wait
    // forever if the system allows none.
    Task.detached { Glibc.exit(await work.value) }
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  }

  /// Runs the command line; returns the exit status.
  private static func run() async -> CInt {
    let command: any ParsableCommand
    do {
      command = try await BridgeFleet.asyncParseAsRoot()
    } catch {
      return Failure.report(parsing: error)
    }
    do {
      try await run(command)
      return EXIT_SUCCESS
    } catch {
      return Failure.report(error, of: command)
    }
  }

  private static func run(_ command: any ParsableCommand) async throws {
    if let command = command as? any AsyncParsableCommand {
      // ArgumentParser's `run` is on another thread. The command isn't used here until `run` has returned.
      nonisolated(unsafe) var command = command
      return try await command.run()
    }
    var command = command
    try command.run()
  }
}

struct BridgeFleet: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Accessories of many machines, through an MQTT broker.",
    version: version,
    subcommands: [Publish.self])

  /// The command's name, also in its errors.
  static let name = "bridge-fleet"

  static let version = "0.1.0"
}
