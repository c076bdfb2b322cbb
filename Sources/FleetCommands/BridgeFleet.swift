// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import ArgumentParser
import CommandOutput

/// The program bridge-fleet. Two executables have it: one of its own, and bridge-cli, which runs it when it is called by this name.
package enum FleetProgram {
  /// The name that the program is called by.
  package static let name = BridgeFleet.name

  /// Runs the program to its exit. Call this first, on the main thread and without a task before it.
  // A publisher says that it is offline before a signal ends it.
  @MainActor package static func run() async { await BridgeFleet.runProcess() }
}

struct BridgeFleet: CommandProgram {
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Publishes and shows the accessories of many machines, through an MQTT broker.",
    discussion: """
      A gateway, a machine with accessories, publishes them. The other commands show what all gateways publish, from any \
      machine that can reach the broker; what they print has the form that bridge-cli prints.

      EXAMPLES
        bridge-fleet publish --broker mqtt://broker.example   on each gateway
        bridge-fleet list --broker mqtt://broker.example      anywhere
        bridge-fleet battery attic:SIM0001                    one accessory's battery
        bridge-fleet top                                      all of them on one screen
        bridge-fleet watch --json                             which accessories come and go

      ACCESSORY is an accessory's id or serial number, or the beginning of its id. If several gateways have one of that \
      name, write GATEWAY:ID. The beginning of a gateway's name is enough.

      ENVIRONMENT
        ACCESSORY_BRIDGE_BROKER  the broker, where neither --broker nor a file with --config names it

      \(ExitStatus.help)
      """,
    version: version,
    subcommands: [
      Publish.self, List.self, Top.self, Web.self, Watch.self, Status.self, Battery.self, Values.self, Request.self,
    ])

  /// The command's name, also in its errors.
  static let name = "bridge-fleet"

  static let version = PackageVersion.current
}

extension BridgeFleet {
  static var helped: (command: any ParsableCommand.Type, isWhole: Bool) {
    let word = (words.first == "help" ? words.dropFirst() : words[...]).first
    return (configuration.subcommands.first { $0._commandName == word } ?? Self.self, false)
  }

  static var manual: ManualPages? {
    (try? JSON(Array(_dumpHelp().utf8))).flatMap { ManualPages($0, usages: [:], date: ManualDate.text) }
  }
}
