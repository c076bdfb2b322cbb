// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The paths of a scope's files on a machine, and the commands that make its programs read them.
struct SetupPlaces {
  let scope: SetupPlan.Scope
  let machine: SetupMachine
  /// The folder of the settings.
  private let settings: String
  private let profiles: String
  /// The folder of systemd's units.
  private let units: String

  /// Throws `misconfigured` if the user's folders aren't known.
  init(_ scope: SetupPlan.Scope, on machine: SetupMachine) throws(AccessoryError) {
    (self.scope, self.machine) = (scope, machine)
    switch scope {
    case .system:
      settings = machine.root + "/etc/accessory-bridge"
      profiles = settings + "/profiles"
      units = machine.root + "/etc/systemd/system"
    case .user:
      guard let settings = machine.settings, let profiles = machine.profiles else {
        throw AccessoryError(.misconfigured, "the folder of profiles is unknown: set HOME or XDG_CONFIG_HOME")
      }
      (self.settings, self.profiles) = (settings, profiles)
      units = settings.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/systemd/user"
    }
  }

  /// The folder with the records of the setups.
  var records: String { settings + "/setup" }

  /// The path of the broker's password.
  static func password(in settings: String) -> String { settings + "/mqtt-password" }

  func path(of role: SetupRole, _ name: String) -> String {
    switch role {
    case .profile: "\(profiles)/\(name).yaml"
    // After the rules of the package, which are 70.
    case .rule: "\(machine.root)/etc/udev/rules.d/71-accessory-bridge-\(name).rules"
    case .broker: settings + "/fleet.yaml"
    case .password: Self.password(in: settings)
    case .ups: "\(units)/\(SetupOutlet.nut.unit).d/ups-\(name).conf"
    case .serviceUnit, .webUnit, .homeAssistantUnit, .fleetUnit, .nutUnit, .metricsUnit: "\(units)/\(role.unit ?? "")"
    }
  }

  // MARK: - Commands

  /// Whether there is a systemd that takes commands for this scope.
  var hasSystemd: Bool { scope == .system ? machine.hasSystemd : machine.hasUserSystemd }

  private func systemctl(_ words: String...) -> [String] {
    (scope == .system ? ["systemctl"] : ["systemctl", "--user"]) + words
  }

  func isEnabled(_ unit: String) -> Bool { machine.succeeds(systemctl("is-enabled", "--quiet", unit)) }
  func enabling(_ unit: String) -> [String] { systemctl("enable", "--now", unit) }
  func disabling(_ unit: String) -> [String] { systemctl("disable", "--now", unit) }

  /// The commands after files at these paths have changed. The device, which is plugged in already, is given to the service's group by the
  /// new rule.
  func rereading(_ paths: [String], isUndoing: Bool = false) -> [[String]] {
    var commands: [[String]] = []
    if paths.contains(where: { $0.hasSuffix(".rules") }) {
      commands.append(["udevadm", "control", "--reload"])
      if !isUndoing {
        commands.append([
          "udevadm", "trigger", "--settle", "--subsystem-match=usb", "--subsystem-match=tty",
          "--subsystem-match=hidraw",
        ])
      }
    }
    if hasSystemd, paths.contains(where: { $0.hasPrefix(units + "/") }) { commands.append(systemctl("daemon-reload")) }
    return commands
  }

  /// The command that has the service read its profiles; nil where none runs that could. `startsIt`: it is started if it doesn't run.
  func rereadingService(startsIt: Bool) -> [String]? {
    if let process = machine.service { return ["kill", "-HUP", "\(process)"] }
    guard hasSystemd, scope == .system || startsIt else { return nil }
    return systemctl(startsIt ? "reload-or-restart" : "try-reload-or-restart", UdevRules.usualUnit)
  }

  func restarting(_ outlet: SetupOutlet) -> [String] { systemctl("try-restart", outlet.unit) }
}
