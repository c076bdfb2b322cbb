// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import CommandOutput

/// What a setup shows to people, on standard error.
struct SetupView {
  let json: Bool
  private let style = Style.standardError

  init(json: Bool) { self.json = json }

  /// Shows each file that is written, and each command.
  func show(_ setup: Setup, needsRoot: Bool) {
    guard !json else { return }
    for entry in setup.entries where entry.change != .same {
      Output.note("\n" + style.bold(SafeText.escape(entry.path, limit: 400)) + " (\(entry.change.rawValue))")
      guard let text = entry.text else { continue }
      if entry.role?.isSecret == true {
        Output.note("  (not shown)")
      } else {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
          Output.prompt("  \(SafeText.escape(String(line), limit: 2_000))\n")
        }
      }
    }
    let same = setup.entries.filter { $0.change == .same }
    Output.note("")
    for entry in same { Output.note("\(SafeText.escape(entry.path, limit: 400)) stays as it is.") }
    if !setup.commands.isEmpty {
      Output.note("Then:")
      for command in setup.commands { Output.note("  \(command.joined(separator: " "))") }
    }
    Output.note("To undo it: \(setup.undo)")
    if needsRoot { Output.note("sudo does this, and may ask for your password.") }
  }

  func noteDone(_ setup: Setup) {
    guard !json else { return }
    let changed = setup.entries.filter { $0.change != .same }
    Output.note(changed.isEmpty ? "All files were there already." : "Written:")
    for entry in changed {
      Output.note("  \(SafeText.escape(entry.path, limit: 400))\(entry.change == .removed ? " (removed)" : "")")
    }
    Output.note("To undo it: \(setup.undo)")
  }

  func noteNotAttached(_ setup: Setup) {
    guard !json else { return }
    Output.note(
      style.yellow("The files are there, and the service was told, but it hasn't read the accessory yet.")
        + " It goes on trying; bridge-cli doctor helps to find the cause.")
  }

  func noteNoService() {
    Output.note(
      "No service of yours runs. To start one: bridge-cli serve & (in a container: as its own process). Without one, "
        + "commands open the accessory themselves: bridge-cli battery")
  }

  /// Prints that the service has the accessory.
  func noteAttached(_ accessory: Bridge.Accessory, _ plan: SetupPlan) {
    let later =
      plan.hasRule
      ? "udev starts the service whenever it is plugged in" : "the service attaches it whenever both are there"
    Output.note(style.green("\(SafeText.escape(accessory.device.id)) is attached") + ": \(later).")
  }

  /// Prints how to see an accessory without a battery.
  func noteValues(_ accessory: Bridge.Accessory) {
    Output.note("What it measures: bridge-cli values \(SafeText.escape(accessory.device.id))")
  }

  /// Prints what to type next. `hasUnits`: systemd has started what shows it.
  func noteNext(_ plan: SetupPlan, hasUnits: Bool) {
    guard !json else { return }
    Output.note("Next: bridge-cli top")
    for outlet in plan.outlets {
      switch outlet {
      case .web: Output.note(hasUnits ? "In a browser: http://127.0.0.1:8380/" : "In a browser: bridge-cli web &")
      case .homeAssistant:
        let sudo = plan.scope == .system ? "sudo " : ""
        if !hasUnits { Output.note("For Home Assistant: bridge-cli export home-assistant &") }
        Output.note(
          "In Home Assistant: Settings, Devices & services: it has discovered Accessory Bridge, or add ESPHome by hand."
        )
        Output.note("It asks for the key: \(sudo)bridge-cli export home-assistant --show-key")
      case .mqtt:
        Output.note(
          hasUnits
            ? "In Home Assistant: add the integration MQTT; it shows the accessory by itself."
            : "For the broker: bridge-fleet publish --config ~/.config/accessory-bridge/fleet.yaml &")
      case .nut:
        let isUPS = plan.files.contains { $0.role == .ups }
        Output.note(
          !hasUnits
            ? "For NUT's clients: bridge-cli export nut &"
            : isUPS
              ? "NUT's clients know it as ups. In nut.conf: MODE=netclient, in upsmon.conf: MONITOR ups@localhost 1 monitor secret primary"
              : "For NUT's clients: upsc -l localhost")
      case .metrics:
        Output.note(
          hasUnits
            ? "For Prometheus: http://127.0.0.1:9879/metrics"
            : "For Prometheus: bridge-cli export metrics --listen 9879 &")
      }
    }
  }

  /// Prints how to use the service without sudo.
  func noteGroup() {
    guard !json else { return }
    Output.note("To use it without sudo: sudo usermod -aG accessory-bridge $USER, then log in again.")
  }
}
