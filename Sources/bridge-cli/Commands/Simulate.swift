// SPDX-License-Identifier: Apache-2.0

import AccessorySimulator
import ArgumentParser
import CommandOutput
import SimulatedFamilies

struct Simulate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate",
    abstract: "Simulates an accessory.",
    discussion: """
      Other commands of the same user find it by themselves. Ctrl-C ends it. --list shows the kinds.

      EXAMPLES
        bridge-cli simulate --list
        bridge-cli simulate framed --link ./acc --percent 57
        bridge-cli simulate jbd --percent 57
        bridge-cli simulate jbd --help
        bridge-cli simulate ./mine.yaml --set temperature=21.5
      """,
    subcommands: [SimulateDescribed.self] + kinds + [SimulateLoopback.self],
    defaultSubcommand: SimulateDescribed.self)
}

/// `simulate` with the name of a kind, whose options are values.
struct SimulateKind<Kind: SimulatedKind>: SimulatingCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: Kind.name, abstract: Kind.abstract, discussion: Kind.discussion)
  }

  @OptionGroup var settings: ValueOptions<Kind>
  @OptionGroup var output: OutputOptions

  func validate() throws { try settings.check() }

  func run() async throws {
    let kind = settings.values
    let start = try await start()
    let view = SimulatorView(json: output.json, start: start, link: kind.link, showsSeed: kind.isRandom)
    try await view.run(kind.simulator(start), comesBack: kind.comesBack, onSignal: Kind.onSignal, news: Kind.news)
  }

  func simulator(announcedIn directory: String) async throws -> any Simulator {
    settings.values.simulator(try await start(announcedIn: directory))
  }

  private func start(announcedIn directory: String? = nil) async throws -> SimulatorStart {
    let (kind, numbers) = (settings.values, Kind.serialNumbers)
    return try await SimulatorStart(
      serialNumber: SimulatedSerial.chosen(
        kind.serialNumber, or: numbers.prefix, digits: numbers.digits, usb: kind.isUSBDevice),
      seed: kind.seed ?? .random(in: 0 ... .max), directory: directory)
  }
}

/// A command that simulates a kind of accessory.
protocol SimulatingCommand: AsyncParsableCommand, JSONCommand {
  /// The simulator that the command would run, announced in this folder.
  func simulator(announcedIn directory: String) async throws -> any Simulator
}

extension Simulate {
  /// The commands of the families' kinds.
  static var kinds: [any ParsableCommand.Type] { SimulatorKinds.builtIn.map { command($0) } }

  private static func command<Kind: SimulatedKind>(_ kind: Kind.Type) -> any ParsableCommand.Type {
    SimulateKind<Kind>.self
  }
}
