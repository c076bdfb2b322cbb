// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// The commands of power devices. Each sets one field of a feature report, so each is a write and needs both permissions.
package enum PowerCommand: String, CaseIterable {
  case beeper
  case testBattery = "test-battery"
  case loadOff = "load-off"
  case cancelLoadOff = "cancel-load-off"

  package static let descriptions = allCases.map(\.description)

  /// The command's name, its arguments and its effect.
  package var description: CommandDescription {
    switch self {
    case .beeper:
      CommandDescription(
        rawValue, "Turns the beeper off or on, or mutes it until the next event",
        [.init("state", .choice(["off", "on", "mute"]))], isWrite: true)
    case .testBattery:
      CommandDescription(
        rawValue, "Runs a test of the battery, or aborts it: the load runs from the battery meanwhile",
        [.init("kind", .choice(["quick", "deep", "abort"]))], isWrite: true)
    case .loadOff:
      CommandDescription(
        rawValue, "Switches the output off after a delay: what is plugged in there loses its power",
        // There is no default, so that nobody switches something off without choosing a time.
        [.init("delay", .whole(1...7_200), unit: "s")], isWrite: true)
    case .cancelLoadOff:
      CommandDescription(rawValue, "Calls off a switching off that waits for its delay", isWrite: true)
    }
  }

  /// The usages to set, in order of preference: the first that the device has.
  package var usages: [HIDUsage] {
    switch self {
    case .beeper: [PowerUsage.audibleAlarm]
    case .testBattery: [PowerUsage.test]
    case .loadOff, .cancelLoadOff: [PowerUsage.delayBeforeShutdown, PowerUsage.apcDelayBeforeShutdown]
    }
  }
}
