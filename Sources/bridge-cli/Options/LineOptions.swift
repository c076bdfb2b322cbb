// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import ArgumentParser

/// How a device is opened. Settings that the user leaves out are taken from the device's profile.
struct LineOptions {
  /// The transport to the device, and its endpoints.
  let transport: TransportOptions
  /// The driver, and the settings of a serial line.
  var serial: SerialOptions
  /// How long an absent accessory is waited for; nil for not at all.
  var wait: Duration?

  /// The value of `--driver`, if given.
  var driver: String? { serial.driver }

  /// Whether the user gives an option that replaces a setting of the profile.
  var saysSomething: Bool { driver != nil || changesTheLine }

  /// Whether it is an option for how the line is opened, rather than for what is on it.
  var changesTheLine: Bool { serial.changesTheLine || transport.saysSomething }

  /// The settings of `profile`, with the user's options in their place.
  func settings(_ profile: Profile?) -> TerminalSettings { serial.settings(profile) }
}

/// A command that opens a device. Its option groups aren't nested: in debug builds ArgumentParser checks a group within
/// a group five times as often, and that takes longer than the command itself.
protocol LineCommand: ParsableCommand {
  var transport: TransportOptions { get }
  var serial: SerialOptions { get }
  var waiting: WaitOptions { get }
}

extension LineCommand {
  /// The options of the command that say how the device is opened.
  var line: LineOptions { LineOptions(transport: transport, serial: serial, wait: waiting.wait?.duration) }
}
