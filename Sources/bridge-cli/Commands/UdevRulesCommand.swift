// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import ArgumentParser
import CommandOutput

struct UdevRulesCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "udev-rules",
    abstract: "Prints the rules by which udev knows the accessories that profiles fit.",
    discussion: """
      The rules give the accessories' nodes to a group and to who sits at the machine, keep ModemManager away from them, \
      and have systemd start the service when one is plugged in. 'make install' installs those for the profiles that \
      come with this command; these here are for all that 'bridge-cli profile list' shows. The service itself goes by \
      the profiles in /etc/accessory-bridge/profiles, not by a user's.

      What only simulators announce has no rule. A name that udev's hardware database gives to a device which says none \
      itself fits none.

      EXAMPLES
        bridge-cli udev-rules | sudo tee /etc/udev/rules.d/70-accessory-bridge.rules
        sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=usb --subsystem-match=tty
        bridge-cli udev-rules --profile my-gadget --no-systemd --group plugdev
        bridge-cli udev-rules --run /usr/bin/bridge-cli
      """)

  @Option(
    help: ArgumentHelp("Only for this profile; may be given more than once.", valueName: "name"),
    completion: CompletionWords.profiles)
  var profile: [String] = []
  @Flag(help: "Only for the profiles that come with this command.")
  var builtIn = false
  @Option(help: ArgumentHelp("The group that the nodes get.", valueName: "name"))
  var group = UdevRules().group
  @Option(help: ArgumentHelp("The mode that the nodes get, in octal.", valueName: "mode"), transform: ModeArgument.read)
  var mode = ModeArgument(bits: UdevRules().mode)
  @Option(help: ArgumentHelp("The unit that systemd starts.", valueName: "name"))
  var unit: String?
  @Flag(help: "Have systemd start nothing.")
  var noSystemd = false
  @Option(
    help: ArgumentHelp(
      "Where there is no systemd: have udev run this bridge-cli, as 'attach --udev', for each accessory that comes.",
      valueName: "path"), completion: .file())
  var run: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if [unit != nil, noSystemd, run != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--unit, --no-systemd and --run exclude each other")
    }
    if let run, !UdevRules.isPath(run) {
      throw ValidationError("--run wants a whole path of letters, digits and -_.@:, like /usr/bin/bridge-cli")
    }
    for (option, text) in [("--group", group), ("--unit", unit ?? UdevRules.usualUnit)] {
      guard UdevRules.isName(text) else {
        throw ValidationError("\(option) wants a name of letters, digits and -_.@:, up to 255")
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
        throw AccessoryError(.notFound, "there is no profile \(name); bridge-cli profile list shows those there are")
      }
      guard UdevRules.know(found) else {
        throw AccessoryError(.unsupported, "udev can't know what profile \(name) fits: only simulators announce that")
      }
      if !chosen.contains(found) { chosen.append(found) }
    }
    return chosen
  }
}
