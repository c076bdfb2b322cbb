// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import ArgumentParser
import CommandOutput

/// Which fleet is looked at, for commands that run anywhere.
struct FleetOptions: ParsableArguments {
  @Option(help: .value("name", "Only this gateway; the beginning of its name is enough.")) var gateway: String?
  @Option(help: .value("time", "How long to wait for the broker."), transform: WaitArgument.read)
  var timeout: WaitArgument = .init(duration: .seconds(10))
  @OptionGroup(title: "Broker Options") var connection: BrokerOptions

  /// The settings for a client of this command. Its identifier is its own, so any number of these commands can run at a time.
  func settings() async throws -> MQTTSettings {
    try await connection.settings(clientID: "accessory-bridge-" + RandomName.digits())
  }
}

/// A time on the command line: "5", "500ms", "3s", "2m".
struct WaitArgument: Sendable, CustomStringConvertible {
  let duration: Duration

  /// For the default in the help.
  var description: String { "\(duration.components.seconds)s" }

  static func read(_ text: String) throws -> WaitArgument {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("", 1)]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }),
      let count = Double(text.dropLast(unit.suffix.count)), count > 0, count * unit.seconds <= 86_400
    else { throw ValidationError("expected a time, in seconds or with its unit, like 5, 500ms or 2m") }
    return WaitArgument(duration: .nanoseconds(Int64(count * unit.seconds * 1e9)))
  }
}

/// Names that nobody else has.
enum RandomName {
  /// Sixteen random hexadecimal digits.
  static func digits() -> String { Hexadecimal.string(UInt64.random(in: .min ... .max)) }
}

/// The argument that names an accessory of the fleet.
struct FleetAccessoryArgument: ParsableArguments {
  @Argument(
    help: .value(
      "accessory", "The accessory: [GATEWAY:]ID, or the beginning of its id; not needed when there is only one."))
  var text: String?
}
