// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import ArgumentParser
import CommandOutput
import Glibc

@main
enum Main {
  /// On the main thread, so that there is no task before it.
  @MainActor static func main() async {
    // First of all, while there is one thread: so that a device is closed properly whatever ends us.
    Signals.block(Interruption.signals)
    Memory.shareOneArena()
    TerminalGuard.restoreOnSignals()
    startThreads()
    let work = Task.detached { await run() }
    Interruption.cancel(work)
    // Not by the main thread: dispatch would start another one to go on here, and waits for as long as the system allows
    // none.
    Task.detached { Glibc.exit(await work.value) }
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  }

  /// Ends with an error where there are too few descriptors, or the system allows no thread. Dispatch traps when it finds
  /// no descriptor for the main queue, which it makes as soon as this thread waits; and the signals need one.
  @MainActor private static func startThreads() {
    do throws(AccessoryError) {
      try IOThread.start(leaving: 4)
      try QuietTasks.begin()
    } catch {
      Glibc.exit(Failure.report(early: error))
    }
  }

  /// Runs what the command line says; returns the exit status.
  private static func run() async -> CInt {
    let command: any ParsableCommand
    do {
      if let script = CompletionScript.wanted() {
        Output.line(script)
        return EXIT_SUCCESS
      }
      if let folder = ManualCommand.folder() {
        try ManualCommand.write(into: folder)
        return EXIT_SUCCESS
      }
      try TextCheck.check()
      try CommandNames.check()
    } catch {
      return Failure.report(early: error)
    }
    do {
      command = try await BridgeCLI.asyncParseAsRoot()
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
      // `run` of ArgumentParser runs on another thread. Nobody else uses the command until it is back.
      nonisolated(unsafe) var command = command
      return try await command.run()
    }
    var command = command
    try command.run()
  }
}

struct BridgeCLI: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Talks to accessories on serial lines.",
    discussion: """
      EXAMPLES
        bridge-cli simulate framed --link ./acc &   pretend to be an accessory
        bridge-cli list                             what is plugged in
        bridge-cli battery                          of the only accessory there is
        bridge-cli status /dev/ttyUSB0 --json       for programs
        bridge-cli watch                            what comes and goes

      DEVICE is a serial number, a name, a path, a name in /dev/serial/by-id, usb:VENDOR:PRODUCT or \
      usb:VENDOR:PRODUCT:SERIAL (the first two in hexadecimal), or an unambiguous beginning of a name; leave it out when \
      there is just one accessory, or one whose protocol is known.

      ENVIRONMENT
        ACCESSORY_BRIDGE_SOURCES    where to look for accessories: simulator, udev, or simulator,udev as usual
        ACCESSORY_BRIDGE_SOCKET     where the service answers, or none
        ACCESSORY_BRIDGE_PROFILES   folders of profiles, with colons between them, in place of those of the system and \
      the user
        ACCESSORY_BRIDGE_PROTOCOLS  likewise, of protocols' descriptions

      EXIT STATUS
        0   done
        64  wrong use
        65  senseless data from the device
        66  no such device
        69  disconnected, busy or unavailable
        70  internal error
        73  a file is there already
        74  I/O error
        75  no answer in time
        76  refused by the device
        77  no permission
        78  wrong configuration
        130 interrupted
      """,
    version: version,
    subcommands: [
      List.self, Watch.self, Info.self, Status.self, Battery.self, Values.self, Request.self, Ls.self, GetFile.self,
      SendFile.self, Rm.self, Mkdir.self, ConsoleCommand.self, BridgeCommand.self, Scan.self, Connect.self,
      RemoteCommand.self, Trace.self,
      Identify.self, Serve.self, ServiceCommand.self, Attach.self, Detach.self,
      Doctor.self, ProfileCommand.self, UdevRulesCommand.self, Simulate.self, Demo.self,
    ])

  /// What the command is called in its errors, too.
  static let name = "bridge-cli"

  static let version = "0.1.0"
}
