// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryIO
import ArgumentParser

/// How a device is opened. What isn't said is as the device's profile has it.
struct LineOptions {
  /// Which way leads to it.
  let transport: TransportOptions
  /// The driver, and a serial line's settings.
  var serial: SerialOptions
  /// How long an accessory that isn't there is waited for; nil when it isn't.
  var wait: Duration?

  /// The driver's name, where the user says one.
  var driver: String? { serial.driver }

  /// Whether the user wants anything otherwise than a profile says.
  var saysSomething: Bool { serial.saysSomething || transport.saysSomething }

  /// The settings of `profile`, but for what the user says otherwise.
  func settings(_ profile: Profile?) -> TerminalSettings { serial.settings(profile) }
}

/// A command that opens a device. Its options are groups side by side: in debug builds ArgumentParser checks a group
/// within a group five times as often, and that takes longer than all that the command does.
protocol LineCommand: ParsableCommand {
  var transport: TransportOptions { get }
  var serial: SerialOptions { get }
  var waiting: WaitOptions { get }
}

extension LineCommand {
  /// How the device is opened.
  var line: LineOptions { LineOptions(transport: transport, serial: serial, wait: waiting.wait?.duration) }
}
