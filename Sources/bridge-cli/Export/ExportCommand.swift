// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Gives the readings of all accessories to other programs, in their own protocols.",
    discussion: """
      The readings come from the service (bridge-cli serve), which is followed: what connects later is exported, too, and \
      nothing is lost when the service is started again. Nothing can be changed in an accessory this way.

      EXAMPLES
        bridge-cli export nut
        bridge-cli export metrics --listen 9879
      """,
    subcommands: [ExportNUT.self, ExportMetrics.self])
}
