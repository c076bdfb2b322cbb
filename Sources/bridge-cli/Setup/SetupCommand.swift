// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput

struct SetupCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "Sets an accessory up: finds out what it is, and has the service attach it from then on.",
    discussion: """
      Asks for the device, its kind, a name, alarms, and where it should be seen. Then it shows every file before it writes it, asks \
      for sudo once, and shows the first reading. Options answer questions beforehand. A second setup of a device changes the first.

      EXAMPLES
        bridge-cli setup
        bridge-cli setup /dev/ttyUSB0 --driver jbd --name 'House battery' --show web,home-assistant
        bridge-cli setup --from /etc/nut/ups.conf
        bridge-cli setup --undo house-battery
      """)

  @OptionGroup var device: DeviceArgument
  @Option(
    help: .value("kind", "What it is: a driver, or the file of a description."), completion: CompletionWords.drivers)
  var driver: String?
  @Option(help: .value("name", "A name for it; default: my-KIND.")) var name: String?
  @Option(help: .value("text", "Where it is, like Attic.")) var area: String?
  @Option(help: .value("rule", "An alarm like 'battery < 20 %'; may be repeated; none for no alarms."))
  var alarm: [String] = []
  @Option(help: .value("places", "Where it is seen: web, home-assistant, mqtt, nut, metrics, separated by commas."))
  var show: String?
  @Option(help: .value("url", "For mqtt: the broker, like mqtt://broker.example.")) var broker: String?
  @Option(help: .value("file", "A file whose first line is the broker's password."), completion: .file())
  var passwordFile: String?
  @Flag(help: "Set it up for a service of your own (bridge-cli serve), without root.")
  var user = false
  @Option(help: .value("file", "Take a UPS over from NUT's ups.conf."), completion: .file()) var from: String?
  @Option(help: .value("name", "Take away what a setup has made.")) var undo: String?
  @Flag(name: [.short, .long], help: "Don't ask: take the usual answers.")
  var yes = false
  @Flag(help: "Show what would be written, and change nothing.")
  var dryRun = false
  /// The part that runs as root: the plan is on standard input.
  @Flag(help: .hidden) var apply = false
  @OptionGroup var output: OutputOptions

  func validate() throws {
    let answers =
      [driver, name, area, show, broker, passwordFile, from, device.text].contains { $0 != nil } || !alarm.isEmpty
    if apply, answers || undo != nil {
      throw ValidationError("--apply takes a plan on standard input, and nothing else")
    }
    if undo != nil, answers { throw ValidationError("--undo takes the name of a setup, and nothing else") }
    if let name, SetupName.of(name) == nil {
      throw ValidationError("--name needs letters or digits, at most 64 of a to z, 0 to 9, like 'House battery'")
    }
    for (option, text) in [("--name", name), ("--area", area)] {
      if let text, let problem = GivenName.problem(of: text) { throw ValidationError("\(option) \(problem)") }
    }
    if let show { _ = try SetupAnswers.outlets(show) }
    if let broker { try SetupAnswers.check(broker: broker) }
    if broker == nil, passwordFile != nil { throw ValidationError("--password-file needs --broker") }
    _ = try SetupAnswers.alarms(alarm)
  }

  func run() async throws {
    if apply { return try await SetupWork.fromInput(json: output.json).perform() }
    if let undo { return try await SetupUndoing(name: undo, isForUser: user, dryRun: dryRun, json: output.json).run() }
    let isAsking = Consent.canBeAsked && !yes && !output.json
    guard isAsking || yes || dryRun else {
      throw UsageError(
        output.json
          ? "setup --json asks no questions: use --yes, or --dry-run"
          : "setup asks questions, but there is no terminal: use --yes, or --dry-run")
    }
    var guide = try SetupGuide(self, questions: SetupQuestions(isAsking: isAsking))
    try await guide.run()
  }
}
