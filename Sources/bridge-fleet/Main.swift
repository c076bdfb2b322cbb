// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import Glibc

@main
enum Main {
  @MainActor static func main() async {
    // A publisher says that it is offline before a signal ends it.
    await CommandProcess.run(failure: { Failure.report(early: $0) }, run)
  }

  /// Runs the command line; returns the exit status.
  @Sendable private static func run() async -> CInt {
    let command: any ParsableCommand
    do {
      if let folder = ManualCommand.folder() {
        try ManualCommand.write(into: folder)
        return EXIT_SUCCESS
      }
    } catch {
      return Failure.report(early: error)
    }
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
    discussion: """
      A gateway, a machine with accessories, publishes them. The other commands show what all gateways publish, from any \
      machine that can reach the broker; what they print has the form that bridge-cli prints.

      EXAMPLES
        bridge-fleet publish --broker mqtt://broker.example   on each gateway
        bridge-fleet list --broker mqtt://broker.example      anywhere
        bridge-fleet battery attic:SIM0001                    one accessory's battery
        bridge-fleet top                                      all of them on one screen
        bridge-fleet watch --json                             which accessories come and go

      ACCESSORY is an accessory's id or serial number, or the beginning of its id, with the gateway before it where several \
      have one of that name: GATEWAY:ID. The beginning of a gateway's name is enough.

      ENVIRONMENT
        ACCESSORY_BRIDGE_BROKER  the broker, where neither --broker nor a file with --config names it

      EXIT STATUS
        0   success
        64  wrong usage
        65  invalid data
        66  no such accessory
        69  the broker, the gateway or the accessory can't be reached
        74  I/O error
        75  no answer in time
        76  refused by the accessory
        77  no permission
        78  wrong configuration
        130 interrupted
      """,
    version: version,
    subcommands: [
      Publish.self, List.self, Top.self, Watch.self, Status.self, Battery.self, Values.self, Request.self,
    ])

  /// The command's name, also in its errors.
  static let name = "bridge-fleet"

  static let version = PackageVersion.current
}
