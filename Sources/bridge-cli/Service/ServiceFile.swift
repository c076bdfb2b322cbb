// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import BridgeService

/// The configuration of a service, `service.yaml`.
enum ServiceFile {
  /// The contents of a file.
  struct Contents: Sendable {
    var rules = CommandRules()
    var alarms: [AlarmEntry] = []
    /// The rules of alarms that are never raised.
    var unfitAlarms: [ProfileProblem] = []
    /// The ways to tell people of alarms.
    var messages: [MessageWay] = []
    /// The limit of attached accessories; nil where the file doesn't say.
    var maximumAttached: Int?
    /// The connections of the Bluetooth adapters; nil where the file doesn't say.
    var bluetoothConnections: BluetoothConnections?
    /// Whether the service holds the batteries that the kernel knows.
    var attachesPowerSupplies = false
    /// After how many seconds an accessory that is gone is forgotten; nil for never.
    var forgetAfter: Double? = ServiceSettings.usualForgetting
    /// What accessories are called.
    var names: [String: GivenName] = [:]
  }

  /// The contents of the file at `path` or, if `path` is nil, of the one in the usual folders; without a file nothing.
  /// The file may name the profiles in `profiles`. Throws all mistakes in it, with line and column.
  static func contents(_ path: String?, _ profiles: ProfileStore) async throws(ProfileProblems) -> Contents {
    try await SetupQueue(label: "configuration").run { () throws(ProfileProblems) in
      let found = if let path { try ServiceSettings.file(at: path) } else { try ServiceSettings.find() }
      guard let file = found else { return Contents() }
      let settings = try ServiceSettings.read(file, drivers: KnownDrivers.library, profiles: profiles.profiles)
      return Contents(
        rules: CommandRules(settings.commands, file: file.path), alarms: settings.alarms,
        unfitAlarms: settings.unfitAlarms, messages: settings.messages, maximumAttached: settings.maximumAttached,
        bluetoothConnections: settings.bluetoothConnections,
        attachesPowerSupplies: settings.attachesPowerSupplies, forgetAfter: settings.forgetAfter,
        names: settings.names)
    }
  }

  /// The number of alarms in a sentence: "no alarm", "3 alarms".
  static func count(_ alarms: [AlarmEntry]) -> String {
    switch alarms.reduce(0, { $0 + $1.rules.count }) {
    case 0: "no alarm"
    case 1: "1 alarm"
    case let count: "\(count) alarms"
    }
  }

  /// The number of commands in a sentence: "no command", "3 commands".
  static func count(_ rules: CommandRules) -> String {
    switch rules.permissions.count {
    case 0: "no command"
    case 1: "1 command"
    case let count: "\(count) commands"
    }
  }
}
