// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import ArgumentParser
import CommandOutput

struct UdevRulesCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "udev-rules",
    abstract: "Prints udev rules for the accessories that profiles fit.",
    discussion: """
      The rules give the device nodes to a group, keep ModemManager away from them, and have systemd start the service. The system's \
      service uses the profiles in /etc/accessory-bridge/profiles.

      EXAMPLES
        bridge-cli profile udev-rules | sudo tee /etc/udev/rules.d/70-accessory-bridge.rules
        sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=usb --subsystem-match=tty
        bridge-cli profile udev-rules --profile my-gadget --no-systemd --group plugdev
      """)

  @Option(help: .value("name", "Only for this profile; can be repeated."), completion: CompletionWords.profiles)
  var profile: [String] = []
  @Flag(help: "Only for profiles that come with this command.")
  var builtIn = false
  @Option(help: .value("name", "The group of the device nodes.")) var group = UdevRules().group
  @Option(help: .rare("mode", "The mode of the device nodes, in octal."), transform: ModeArgument.read)
  var mode = ModeArgument(bits: UdevRules().mode)
  @Option(help: .rare("name", "The unit that systemd starts.")) var unit: String?
  @Flag(help: "Don't have systemd start anything.")
  var noSystemd = false
  @Option(help: .rare("path", "Without systemd: have udev run this bridge-cli."), completion: .file()) var run: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if [unit != nil, noSystemd, run != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--unit, --no-systemd and --run can't be used together")
    }
    if let run, !UdevRules.isPath(run) {
      throw ValidationError("--run must be an absolute path of letters, digits and -_.@:, like /usr/bin/bridge-cli")
    }
    for (option, text) in [("--group", group), ("--unit", unit ?? UdevRules.usualUnit)] {
      guard UdevRules.isName(text) else {
        throw ValidationError("\(option) must be a name of up to 255 letters, digits and -_.@:")
      }
    }
  }

  func run() async throws {
    let library = await KnownProfiles.library()
    var rules = UdevRules()
    rules.group = group
    rules.mode = mode.bits
    rules.unit = noSystemd || run != nil ? nil : unit ?? UdevRules.usualUnit
    rules.program = run
    let profiles = try chosen(from: builtIn ? .builtIn : library.store)
    let text = rules.text(for: profiles)
    if output.json {
      let problems = builtIn ? [] : library.problems.map { ProfileProblemDocument($0) }
      return Output.json(
        UdevRulesDocument(
          rules: text, profiles: profiles.filter(UdevRules.know).map(\.name).sorted(), problems: problems))
    }
    Output.line(String(text.dropLast()))
    if !builtIn {
      for problem in library.problems { Output.note("not used: " + SafeText.escape(problem.description, limit: 1_000)) }
    }
  }

  private func chosen(from store: ProfileStore) throws(AccessoryError) -> [Profile] {
    if profile.isEmpty { return store.profiles }
    var chosen: [Profile] = []
    for name in profile {
      guard let found = store.profile(named: name) else {
        throw AccessoryError(.notFound, store.missing(name))
      }
      guard UdevRules.know(found) else {
        throw AccessoryError(.unsupported, "the profile \(name) fits only simulators, and udev doesn't know those")
      }
      if !chosen.contains(found) { chosen.append(found) }
    }
    return chosen
  }
}
