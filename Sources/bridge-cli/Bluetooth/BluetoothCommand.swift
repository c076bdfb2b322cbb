// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryFamilies
import ArgumentParser

struct BluetoothCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bluetooth",
    abstract:
      "Finds and pairs Bluetooth devices, reaches them through an HM-10, and sets up the remote control for Bluno robots.",
    discussion: """
      EXAMPLES
        bridge-cli bluetooth scan --ble
        bridge-cli bluetooth scan
        bridge-cli bluetooth connect 1
        bridge-cli bluetooth remote show
      """,
    subcommands: [
      Scan.self, PairCommand.self, UnpairCommand.self, TrustCommand.self, Connect.self,
    ] + FamilyCommands.bluetooth.map { group($0) })

  private static func group<Group: FamilyCommandGroup>(_: Group.Type) -> any ParsableCommand.Type {
    GroupOfCommands<Group>.self
  }
}
