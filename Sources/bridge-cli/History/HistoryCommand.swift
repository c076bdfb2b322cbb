// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput

struct HistoryCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Draws a graph of an accessory's readings in the last hours, days or months.",
    discussion: """
      The readings come from the service (bridge-cli serve); the accessory isn't asked.

      EXAMPLES
        bridge-cli history
        bridge-cli history SIM0001 battery.percent --last 1h
        bridge-cli history SIM0001 --last 30d
        bridge-cli history SIM0001 --plot battery.svg
      """)

  @OptionGroup var device: DeviceArgument
  @Argument(help: "Show only these readings; needs the device, too.")
  var names: [String] = []
  @Option(help: .value("time", "How far back, up to 400d."), transform: HistoryArgument.read) var last: HistoryArgument?
  @Flag(help: "Print comma-separated values, with the time in the first column.")
  var csv = false
  @Option(
    help: .value("file", "Write a picture (SVG) to this new file."), completion: .file(extensions: ["svg"]),
    transform: PictureFile.read)
  var plot: PictureFile?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if csv, output.json { throw ValidationError("--csv and --json can't be used together") }
  }

  func run() async throws {
    try await ShownHistory(
      name: device.text, wanted: names.isEmpty ? .all : .named(names), seconds: last?.seconds ?? 86_400, csv: csv,
      plot: plot, json: output.json
    ).show()
  }
}
