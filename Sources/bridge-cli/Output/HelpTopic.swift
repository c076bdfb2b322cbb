// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessorySimulator
import ArgumentParser
import CommandOutput

/// Help on options that many commands have. They are shown once, by `help line` and the like; the help of each command names the topic
/// in place of them.
enum HelpTopic: String, CaseIterable {
  /// Serial lines and USB endpoints.
  case line
  /// The faults, quirks and USB of simulated accessories.
  case simulators
  /// What a service does.
  case serving
  /// The words that all help uses.
  case words

  /// The topic that the command line asks for; nil when it asks for none.
  static func wanted(_ words: [String] = OldSpellings.words) -> HelpTopic? {
    words.count == 2 && words[0] == "help" ? HelpTopic(rawValue: words[1]) : nil
  }

  /// The help on this topic, for the screen.
  var text: String {
    HelpScreen.text(Self.showing { options.helpMessage(columns: HelpScreen.widest) })
  }

  /// The declaration of this topic's options, for the manual.
  var declaration: String { Self.showing { options._dumpHelp() } }

  /// The usage texts of all topics, by their names behind the program's.
  static var usages: [String: String] {
    allCases.reduce(into: [:]) { $0["\(BridgeCLI.name) \($1.rawValue)"] = $1.options.configuration.usage }
  }

  private var options: any ParsableCommand.Type {
    switch self {
    case .line: LineTopic.self
    case .simulators: SimulatorsTopic.self
    case .serving: ServingTopic.self
    case .words: WordsTopic.self
    }
  }

  // MARK: - Visibility

  private static let shown = Locked(false)

  /// Whether options of topics, and rare ones, are visible in texts that ArgumentParser makes.
  static var visibility: ArgumentVisibility { shown.withLock { $0 } ? .default : .hidden }

  /// Runs `body` with the topics' options visible: for the topics themselves, and for errors, which name an option and explain it.
  static func showing<Result>(_ body: () -> Result) -> Result {
    shown.withLock { $0 = true }
    defer { shown.withLock { $0 = false } }
    return body()
  }
}

extension ArgumentHelp {
  /// Help on a rare option, or one of a topic: `HelpTopic.visibility` says where it is shown.
  static func rare(_ text: String) -> ArgumentHelp { ArgumentHelp(text, visibility: HelpTopic.visibility) }
  /// The same for an option whose value is called `name` in usage texts.
  static func rare(_ name: String, _ text: String) -> ArgumentHelp {
    ArgumentHelp(text, valueName: name, visibility: HelpTopic.visibility)
  }
}

private struct LineTopic: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "line",
    abstract: "Options of commands that open an accessory: its transport, and its serial line.",
    usage: "bridge-cli COMMAND [<device>] [<options>]",
    discussion: """
      The accessory's profile sets what you leave out.

      EXAMPLES
        bridge-cli info /dev/ttyUSB0 --baud 9600 --parity even
        bridge-cli console /dev/ttyUSB0 -b 9600 --rs485 high,1,1
      """,
    helpNames: [])
  @OptionGroup(title: TransportOptions.title) var transport: TransportOptions
  @OptionGroup(title: SerialOptions.title) var serial: SerialOptions
}

private struct ServingTopic: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serving",
    abstract: "Options of serve and attach: sockets, polls, tries, alarms and the log.",
    usage: "bridge-cli serve [<options>]",
    discussion: """
      Each accessory's profile sets the tries and polls that you leave out.

      EXAMPLES
        bridge-cli serve --reconnect-tries forever --reconnect-backoff 2
        bridge-cli attach --poll 1m --log-level debug
      """,
    helpNames: [])
  @OptionGroup var options: ServiceOptions
}

/// The four words for what an accessory is. Each has one meaning, in help, messages and pages.
struct WordsTopic: ParsableCommand {
  static let words = [
    (
      "kind",
      "What an accessory is, in one word, like jbd or ev3. bridge-cli drivers lists all kinds, and simulate takes them."
    ),
    ("driver", "The part of this program that talks to accessories of a kind. It has the kind's name: --driver jbd."),
    ("protocol", "The messages that accessories of a kind understand. A file can describe one: --driver ./mine.yaml."),
    ("profile", "A file that says which devices are of a kind, how to open them, and what may be sent to them."),
  ]

  static let configuration = CommandConfiguration(
    commandName: "words",
    abstract: "What kind, driver, protocol and profile mean here.",
    usage: "bridge-cli simulate KIND, bridge-cli battery --driver NAME",
    discussion: """
      \(words.map { "\($0.0): \($0.1)" }.joined(separator: "\n\n"))

      EXAMPLES
        bridge-cli drivers
        bridge-cli simulate jbd
        bridge-cli profile list
      """,
    helpNames: [])
}

private struct SimulatorsTopic: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulators",
    abstract: "Options of simulated accessories: faults, the quirks of real accessories, and USB.",
    usage: "bridge-cli simulate KIND [<options>]",
    discussion: """
      TIME is a number with a unit: 200ms, 3s, 2m. WHEN is a TIME after plugging in, or a number of requests.

      EXAMPLES
        bridge-cli simulate framed --drop 0.1 --corrupt 0.1 --seed 7
        bridge-cli simulate framed --unplug-after 5 --replug-after 2s
        bridge-cli simulate jbd --sleep 2 --sleep-after 1m --pieces 2
        sudo bridge-cli simulate framed --usb --tty --serial ACC0042
      """,
    helpNames: [])
  @OptionGroup(title: "Faults") var faults: ValueOptions<SimulatedLine>
  @OptionGroup(title: "Faults") var output: OutputOptions
  @OptionGroup(title: "Quirks of described accessories") var quirks: QuirkOptions
  @OptionGroup(title: "USB of framed") var usb: ValueOptions<SimulatedUSB>
  @OptionGroup(title: "Faults on USB") var usbFaults: ValueOptions<SimulatedBusFaults>
}
