// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput

struct DriversCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "drivers",
    abstract: "Lists the drivers: the kinds of accessories that are known.",
    discussion: """
      EXAMPLES
        bridge-cli drivers
        bridge-cli drivers victron
        bridge-cli drivers --json | jq -r '.drivers[] | select(.battery).name'
      """)

  @Argument(help: .value("word", "Only those with this word."))
  var word: String?
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let library = KnownDrivers.library
    let all = library.all
    let drivers =
      word.map { word in all.filter { "\($0.name) \($0.summary)".lowercased().contains(word.lowercased()) } } ?? all
    if let word, drivers.isEmpty {
      throw UsageError("there is no driver \(word): \(KnownDrivers.advice(word, among: all.map(\.name)))")
    }
    if output.json {
      return Output.json(
        DriverListDocument(drivers: drivers.map { .init($0, library.protocols.origins[$0.name]?.file) }))
    }
    var table = Table(
      ["NAME", "BATTERY", "VALUES", "FILES", "COMMANDS", "WRITES", "FOR"], optional: [3, 5, 2, 4], endsInText: true)
    for driver in drivers {
      func mark(_ ability: DriverAbility) -> String { driver.lacks.contains(ability) ? "-" : "yes" }
      table.add([
        driver.name, mark(.battery), mark(.values), mark(.files),
        driver.commands.isEmpty ? "-" : "\(driver.commands.count)",
        driver.commands.contains(where: \.isWrite) ? "yes" : "-",
        SafeText.escape(driver.summary.isEmpty ? "-" : driver.summary, limit: 200),
      ])
    }
    table.lines(columns: Output.columns).forEach(Output.line)
  }
}

/// The drivers that are known.
struct DriverListDocument: Encodable {
  struct Driver: Encodable {
    let name, description: String
    /// What accessories of the driver can report or do. With `writes`, some commands need `--write`.
    let battery, values, files, writes, units: Bool
    /// The number of named commands.
    let commands: Int
    /// The file that describes the protocol; null for one that comes with this command.
    let file: String?

    init(_ driver: AccessoryDrivers.Driver, _ file: String?) {
      (name, description, commands) = (driver.name, driver.summary, driver.commands.count)
      battery = !driver.lacks.contains(.battery)
      values = !driver.lacks.contains(.values)
      files = !driver.lacks.contains(.files)
      (writes, units) = (driver.commands.contains(where: \.isWrite), driver.units != nil)
      self.file = file
    }
  }

  let document = DocumentKind.driverList
  let schema = DocumentSchema.name
  let drivers: [Driver]
}
