// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import Glibc

@main
enum Main {
  @MainActor static func main() async { await CommandProcess.run(failure: { Failure.report(early: $0) }, run) }

  /// Runs the command line; returns the exit status.
  @Sendable private static func run() async -> CInt {
    let command: any ParsableCommand
    do {
      if let script = CompletionScript.wanted() {
        Output.line(script)
        return EXIT_SUCCESS
      }
      if let topic = HelpTopic.wanted() {
        Output.line(topic.text)
        return EXIT_SUCCESS
      }
      if let kind = KindHelp.wanted() {
        Output.line(try await KindHelp.text(kind))
        return EXIT_SUCCESS
      }
      if VersionDocument.isWanted() {
        Output.json(VersionDocument())
        return EXIT_SUCCESS
      }
      if let folder = ManualCommand.folder() {
        try ManualCommand.write(into: folder)
        return EXIT_SUCCESS
      }
      try TextCheck.check()
      try CommandNames.check()
      OldSpellings.note()
    } catch {
      return Failure.report(early: error)
    }
    do {
      command = try await BridgeCLI.asyncParseAsRoot(
        HistoryOptions.completed(OldSpellings.words))
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

struct BridgeCLI: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Talks to accessories on serial ports, USB, Bluetooth and the network.",
    discussion: """
      EXAMPLES
        bridge-cli simulate framed --link ./acc &   simulate an accessory
        bridge-cli list                             what is plugged in
        bridge-cli battery                          the battery of the only accessory
        bridge-cli status /dev/ttyUSB0 --json       its status as JSON, for programs
        bridge-cli help line                        options of serial lines and USB
        bridge-cli help serving                     options of services
        bridge-cli help simulators                  options of simulators

      DEVICE is a serial number, a name, a path, a name in /dev/serial/by-id, usb:VENDOR:PRODUCT[:SERIAL], or the beginning of \
      a name. Leave it out when there is only one accessory. --help-hidden after a command shows rare options, too.

      ENVIRONMENT
        ACCESSORY_BRIDGE_SOURCES    where to look: simulator, udev, none, or simulator,udev (the default)
        ACCESSORY_BRIDGE_SOCKET     the path of the service's socket; none: use no service
        ACCESSORY_BRIDGE_READINGS_SOCKET  the same for the socket that only reads
        ACCESSORY_BRIDGE_PROFILES   folders of profiles, separated by colons
        ACCESSORY_BRIDGE_PROTOCOLS  the same for protocol descriptions

      EXIT STATUS
        0   success
        64  wrong usage
        65  invalid data from the device
        66  no such device
        69  disconnected, busy or unavailable
        70  internal error
        73  a file exists already
        74  I/O error
        75  no reply in time
        76  refused by the device
        77  no permission
        78  wrong configuration
        130 interrupted
      """,
    version: version,
    subcommands: [
      List.self, Top.self, Watch.self, Info.self, Status.self, Battery.self, Values.self, HistoryCommand.self,
      Request.self, SetCommand.self, FileGroup.self, ConsoleCommand.self, Trace.self, ReplayCommand.self,
      BridgeCommand.self, Attach.self, Serve.self, ExportCommand.self, ResetCommand.self, BluetoothCommand.self,
      Doctor.self, DriversCommand.self, ProfileCommand.self, CheckCommand.self, Simulate.self, Demo.self,
    ])

  /// The command's name, also in its errors.
  static let name = "bridge-cli"

  static let version = PackageVersion.current
}
