// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ArgumentParser
import CommandOutput

struct NameCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "name",
    abstract: "Gives an accessory a name and a place of its own.",
    discussion: """
      Both are shown wherever the accessory is. Its identity, its topics and its history stay. Other commands accept the name as \
      DEVICE. Without a name and a place, shows them.

      EXAMPLES
        bridge-cli name SIM0001 'House battery' --area Attic
        bridge-cli name SIM0001
        bridge-cli name 'House battery' --clear
      """)

  @OptionGroup var device: DeviceArgument
  @Argument(help: .value("text", "The name."))
  var text: String?
  @Option(help: .value("text", "Where it is."))
  var area: String?
  @Flag(help: "Remove the name and the place.")
  var clear = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if clear, text != nil || area != nil {
      throw ValidationError("--clear removes the name and the place: leave out the new ones")
    }
    for (what, text) in [("the name", text), ("--area", area)] {
      guard let text, let problem = GivenName.problem(of: text) else { continue }
      throw ValidationError("\(what) \(problem)")
    }
  }

  func run() async throws {
    let named = try await NamedAccessory.give(device.text, name: clear ? "" : text, area: clear ? "" : area)
    if output.json { return Output.json(ChangedDocument(.named, named)) }
    let id = SafeText.escape(named.id)
    guard let given = named.given else { return Output.line("\(id) has no name and no place of its own.") }
    let area = given.area.map { ", in " + SafeText.escape($0, limit: 128) } ?? ""
    Output.line("\(id) is called \(SafeText.escape(given.name ?? named.id, limit: 128))\(area).")
  }
}

struct Forget: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Makes the service forget an accessory that is gone.",
    discussion: """
      An accessory that was attached stays in lists with its last reading and its alarms until it is forgotten, after 30 days by \
      itself. Its name and its history stay.

      EXAMPLES
        bridge-cli forget SIM0001
      """)

  @OptionGroup var device: DeviceArgument
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let forgotten = try await NamedAccessory.forget(device.text)
    if output.json { return Output.json(ChangedDocument(.forgotten, forgotten)) }
    Output.line("\(SafeText.escape(forgotten.fullTitle, limit: 200)) is forgotten.")
  }
}
