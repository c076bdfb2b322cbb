// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore

/// What a setup makes for one accessory: a value that says nothing about what is there already.
///
/// It has no paths and no commands: they follow from its name, so a plan that was made by another process can't name others.
package struct SetupPlan: Sendable, Hashable, Codable {
  /// Whose service gets the accessory.
  package enum Scope: String, Sendable, Hashable, Codable {
    /// The service of the system: the files are below /etc, and only root may write them.
    case system
    /// The service of this user: the files are in the user's folders.
    case user
  }

  /// A file with its text.
  package struct File: Sendable, Hashable, Codable {
    package var role: SetupRole
    package var text: String

    package init(_ role: SetupRole, _ text: String) { (self.role, self.text) = (role, text) }
  }

  /// The name of the profile and of the setup: lower-case letters, digits, `-`, `_` and `.`.
  package var name: String
  package var scope: Scope
  package var files: [File]
  /// The roles whose files stay as they are, where this setup or another one has made them.
  package var kept: [SetupRole] = []
  /// Where the accessory is to be seen besides `bridge-cli`.
  package var outlets: [SetupOutlet] = []
  /// What the user calls the accessory, and where it is. The service keeps it; nil for no change.
  package var given: GivenName?
  /// The accessory as the service attaches it, by its place.
  package var device: String?

  package init(name: String, scope: Scope, files: [File] = []) {
    (self.name, self.scope, self.files) = (name, scope, files)
  }

  /// A plan for a profile: its file and, for the system's service, the rule by which udev starts that. Throws `badData` if the profile
  /// can't be read.
  package init(_ profile: IdentifiedProfile, scope: Scope, drivers: DriverLibrary) throws(AccessoryError) {
    self.init(name: profile.name, scope: scope, files: [File(.profile, profile.text)])
    do throws(ProfileProblems) {
      let read = try ProfileReader.read(
        Array(profile.text.utf8), file: profile.name + ".yaml", drivers: drivers, protocols: drivers.protocols)
      if scope == .system, UdevRules.know(read) { files.append(File(.rule, UdevRules().text(for: [read]))) }
    } catch {
      throw AccessoryError(.badData, "\(error)")
    }
  }

  /// Whether udev starts the service for the accessory.
  package var hasRule: Bool { files.contains { $0.role == .rule } }

  /// Throws `misconfigured` for a name that can't be a file's, and for a role twice or of the other scope. For plans of other processes.
  package func check() throws(AccessoryError) {
    let roles = files.map(\.role)
    guard SetupName.isName(name), Set(roles).count == roles.count, roles.allSatisfy({ $0.scopes.contains(scope) }),
      files.allSatisfy({ $0.text.utf8.count < SetupMachine.fileLimit })
    else { throw AccessoryError(.misconfigured, "this plan of a setup isn't valid: nothing was written") }
  }
}

/// A kind of file that a setup writes.
package enum SetupRole: String, Sendable, Hashable, Codable, CaseIterable {
  /// The accessory's profile.
  case profile
  /// The rule by which udev gives the device to the service, and starts that.
  case rule
  /// The settings with which the accessories are published on a broker.
  case broker
  /// The broker's password.
  case password
  /// The drop-in that has the accessory, a UPS, shut this machine down.
  case ups
  /// Units of the user's own systemd.
  case serviceUnit = "service_unit"
  case webUnit = "web_unit"
  case homeAssistantUnit = "home_assistant_unit"
  case fleetUnit = "fleet_unit"
  case nutUnit = "nut_unit"
  case metricsUnit = "metrics_unit"

  /// Whether its text is never shown, and its file is for its owner only.
  package var isSecret: Bool { self == .password }

  /// The user's unit that it is; nil for other files.
  var unit: String? {
    switch self {
    case .serviceUnit: UdevRules.usualUnit
    case .webUnit: SetupOutlet.web.unit
    case .homeAssistantUnit: SetupOutlet.homeAssistant.unit
    case .fleetUnit: SetupOutlet.mqtt.unit
    case .nutUnit: SetupOutlet.nut.unit
    case .metricsUnit: SetupOutlet.metrics.unit
    case .profile, .rule, .broker, .password, .ups: nil
    }
  }

  var scopes: [SetupPlan.Scope] {
    switch self {
    case .profile, .broker, .password: [.system, .user]
    case .rule, .ups: [.system]
    case .serviceUnit, .webUnit, .homeAssistantUnit, .fleetUnit, .nutUnit, .metricsUnit: [.user]
    }
  }
}

/// A place where readings are shown, with the unit that shows them.
package enum SetupOutlet: String, Sendable, Hashable, Codable, CaseIterable {
  case web
  /// Home Assistant finds the accessories by itself.
  case homeAssistant = "home-assistant"
  /// They are published on a broker, for Home Assistant and others.
  case mqtt
  case nut
  case metrics

  package var unit: String {
    switch self {
    case .web: "accessory-bridge-web.service"
    case .homeAssistant: "accessory-bridge-home-assistant.service"
    case .mqtt: "accessory-bridge-fleet.service"
    case .nut: "accessory-bridge-nut.service"
    case .metrics: "accessory-bridge-metrics.service"
    }
  }

  /// The role of the same unit in the user's own systemd.
  package var role: SetupRole {
    switch self {
    case .web: .webUnit
    case .homeAssistant: .homeAssistantUnit
    case .mqtt: .fleetUnit
    case .nut: .nutUnit
    case .metrics: .metricsUnit
    }
  }
}

/// Names of setups, which are names of profiles.
package enum SetupName {
  /// Whether a text can be the name: 1 to 64 lower-case letters, digits, `-`, `_` and `.`, the first a letter or a digit.
  package static func isName(_ text: String) -> Bool {
    guard (1...64).contains(text.utf8.count), let first = text.utf8.first, first != UInt8(ascii: "-"),
      first != UInt8(ascii: "."), first != UInt8(ascii: "_")
    else { return false }
    return text.utf8.allSatisfy(isFree)
  }

  private static func isFree(_ byte: UInt8) -> Bool { byte.isSmallLetterOrDigit(or: "-_.") }

  /// The name for what a person calls an accessory: "House battery" is house-battery. Nil if nothing of it can be in a name.
  package static func of(_ text: String) -> String? {
    var name = ""
    for character in text.lowercased() {
      let isKept = character.utf8.count == 1 && character.utf8.allSatisfy(isFree)
      if isKept { name.append(character) } else if !name.isEmpty, name.last != "-" { name.append("-") }
    }
    let trimmed = name.drop { "-_.".contains($0) }.prefix(64).reversed().drop { "-_.".contains($0) }.reversed()
    return isName(String(trimmed)) ? String(trimmed) : nil
  }
}
