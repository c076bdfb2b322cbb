// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import ArgumentParser
import CommandOutput
import FleetCommands

@main
enum Main {
  // Packages install bridge-fleet as a link to bridge-cli: most of the two programs is the same.
  @MainActor static func main() async {
    let called = CommandLine.arguments.first?.split(separator: "/").last ?? ""
    if called == FleetProgram.name { await FleetProgram.run() } else { await BridgeCLI.runProcess() }
  }
}

struct BridgeCLI: CommandProgram {
  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Talks to accessories on serial ports, USB, Bluetooth and the network.",
    discussion: """
      EXAMPLES
        bridge-cli simulate framed --link ./acc &   simulate an accessory
        bridge-cli setup                            set an accessory up, step by step
        bridge-cli list                             what is plugged in
        bridge-cli battery                          the battery of the accessory, or of all
        bridge-cli status /dev/ttyUSB0 --json       its status as JSON, for programs
        bridge-cli help line                        options of serial lines and USB
        bridge-cli help serving                     options of services
        bridge-cli help simulators                  options of simulators
        bridge-cli help words                       kind, driver, protocol, profile

      DEVICE is a serial number, a name, a path, a name in /dev/serial/by-id, usb:VENDOR:PRODUCT[:SERIAL], ble:ADDRESS, \
      ble:NAME, or the beginning of a name. Leave it out when there is only one accessory. --help-hidden after a command also shows its rare options.

      ENVIRONMENT
        ACCESSORY_BRIDGE_SOURCES    where to look for devices: none, or a list of simulator,udev,bluetooth,power_supply; default: all
        ACCESSORY_BRIDGE_SOCKET     the path of the service's socket; none: don't use a service
        ACCESSORY_BRIDGE_READINGS_SOCKET  the same for the read-only socket
        ACCESSORY_BRIDGE_PROFILES   folders of profiles, separated by colons
        ACCESSORY_BRIDGE_PROTOCOLS  the same for protocol descriptions

      \(ExitStatus.help)
      """,
    version: version,
    subcommands: [
      SetupCommand.self, List.self, Top.self, Watch.self, Info.self, Status.self, Battery.self, Values.self,
      HistoryCommand.self,
      Request.self, SetCommand.self, FileGroup.self, ConsoleCommand.self, Trace.self, ReplayCommand.self,
      BridgeCommand.self, Attach.self, NameCommand.self, Forget.self, Serve.self, WebCommand.self, ExportCommand.self,
      NotifyCommand.self,
      ResetCommand.self, BluetoothCommand.self,
      Doctor.self, DriversCommand.self, ProfileCommand.self, CheckCommand.self, Simulate.self, Demo.self,
    ])

  /// The command's name, also in its errors.
  static let name = "bridge-cli"

  static let version = PackageVersion.current
}

extension BridgeCLI {
  static var words: [String] { HistoryOptions.completed(SimulatedKinds.named(OldSpellings.words)) }

  static var helped: (command: any ParsableCommand.Type, isWhole: Bool) {
    (CommandNames.command(SimulatedKinds.named(OldSpellings.words)), OldSpellings.words.contains("--help-hidden"))
  }

  static func runWithoutCommand() async throws -> Bool {
    if let script = CompletionScript.wanted() {
      Output.line(script)
    } else if let topic = HelpTopic.wanted() {
      Output.line(topic.text)
    } else if let kind = KindHelp.wanted() {
      Output.line(try await KindHelp.text(kind))
    } else if VersionDocument.isWanted() {
      Output.json(VersionDocument())
    } else {
      try TextCheck.check()
      try CommandNames.check()
      OldSpellings.note()
      return false
    }
    return true
  }

  static func plainCommand(_ words: [String]) -> (any ParsableCommand)? { PlainForm.command(words) }

  static func failure(despiteInterruption error: any Error) -> AccessoryError? { (error as? RecordingFailure)?.error }

  static func explaining(_ body: () -> String) -> String { HelpTopic.showing(body) }

  static func report(of error: any Error) -> ErrorReport? {
    switch error {
    case let error as AccessoryError: ErrorReport(error)
    case let error as UsageError: ErrorReport(error)
    // An error on a text that names no device, or several.
    case let error as ResolutionError:
      switch error {
      case .ambiguous, .malformed, .noDevice: ErrorReport(UsageError(error.description))
      case .noDevices, .noMatch, .otherCapitals, .noUnit: ErrorReport(AccessoryError(.notFound, error.description))
      }
    default: nil
    }
  }

  static var manual: ManualPages? {
    guard let document = try? JSON(Array(_dumpHelp().utf8)) else { return nil }
    return ManualPages(
      document, topics: HelpTopic.allCases.compactMap { try? JSON(Array($0.declaration.utf8)) },
      usages: usages(Self.self, []).merging(HelpTopic.usages) { $1 }, date: ManualDate.text)
  }

  /// The usage texts that commands declare themselves, by the commands' names.
  private static func usages(_ command: any ParsableCommand.Type, _ parents: [String]) -> [String: String] {
    let path = parents + [command._commandName]
    let own = command.configuration.usage.map { [path.joined(separator: " "): $0] } ?? [:]
    return command.configuration.subcommands.reduce(into: own) { all, next in
      all.merge(usages(next, path)) { $1 }
    }
  }
}
