// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import Glibc

/// The configuration of a service, `service.yaml`.
package struct ServiceSettings: Sendable, Hashable {
  /// The commands that clients of `readings.socket` may perform. No two are for the same command of the same accessories.
  package var commands: [CommandPermission]
  /// The rules of alarms.
  package var alarms: [AlarmEntry] = []
  /// The rules whose alarms are never raised, because their limits can't be compared with the values that they look at.
  package var unfitAlarms: [ProfileProblem] = []

  /// The ways to tell people of alarms. No two have the same name.
  package var messages: [MessageWay] = []

  /// The greatest number of accessories that are attached at the same time; nil where the file doesn't say.
  package var maximumAttached: Int?

  /// The connections of the Bluetooth adapters; nil where the file doesn't say.
  package var bluetoothConnections: BluetoothConnections?
  /// What accessories are called, by their ids or serial numbers.
  package var names: [String: GivenName] = [:]

  /// After how many seconds an accessory that is gone is forgotten; nil for never.
  package var forgetAfter: Double? = usualForgetting

  /// Thirty days.
  package static let usualForgetting = 30 * 86_400.0

  /// Whether the service holds the batteries that the kernel knows.
  package var attachesPowerSupplies = false

  package init(commands: [CommandPermission] = []) { self.commands = commands }

  /// The most commands in a file.
  package static let commandLimit = 256
  /// The most entries under alarms in a file.
  package static let alarmLimit = 256
  /// The most ways in a file.
  package static let messageLimit = 16
  /// The most arguments of a command.
  package static let argumentLimit = 64
  /// The most values of an argument.
  package static let wordLimit = 64

  private static let name = "service.yaml"

  /// The folders of the file: the user's own, `$XDG_CONFIG_HOME/accessory-bridge` (`~/.config` where that isn't set), and
  /// `/etc/accessory-bridge`.
  package static func usualFolders() -> [String] {
    [ConfigurationFolder.user, "/etc/accessory-bridge"].compactMap { $0 }
  }

  /// A file that was found, with its contents.
  package struct Found: Sendable {
    package let path: String
    package let bytes: [UInt8]
  }

  /// The file in the first of these folders that has one; nil when none has. Throws a problem when it can't be read, or when
  /// another user could have written it. Blocks, so call it on a `SetupQueue`.
  package static func find(
    in folders: [String] = usualFolders(), isStrict: Bool = TrustedFolder.worksForOthers
  ) throws(ProfileProblems) -> Found? {
    for folder in folders {
      let path = folder + "/" + name
      var file = stat()
      guard lstat(path, &file) == 0 else { continue }
      do throws(AccessoryError) {
        guard let trusted = try TrustedFolder(folder, isStrict: isStrict) else { continue }
        return Found(path: path, bytes: try trusted.read(name, limit: YAMLReader.sizeLimit + 1))
      } catch {
        throw ProfileProblems(problems: [ProfileProblem(file: path, message: error.message)])
      }
    }
    return nil
  }

  /// The file at `path`. Throws a problem when it can't be read. Blocks, so call it on a `SetupQueue`.
  package static func file(at path: String) throws(ProfileProblems) -> Found {
    Found(path: path, bytes: try SettingsFile.contents(of: path))
  }

  /// Reads a file. `drivers` and `profiles` are those that its entries may name. Throws up to 20 problems at a time.
  package static func read(
    _ file: Found, drivers: DriverLibrary, profiles: [Profile]
  ) throws(ProfileProblems) -> ServiceSettings {
    try ServiceSettingsReader.read(file.bytes, file: file.path, drivers: drivers, profiles: profiles)
  }
}
