// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Exports the readings of all accessories to other programs, in protocols that these know.",
    discussion: """
      The readings come from the service (bridge-cli serve). Other programs can only read; Home Assistant can also send what service.yaml permits.

      EXAMPLES
        bridge-cli export nut
        bridge-cli export metrics --listen 9879
        bridge-cli export home-assistant
      """,
    subcommands: [ExportNUT.self, ExportMetrics.self, ExportHomeAssistant.self])
}
