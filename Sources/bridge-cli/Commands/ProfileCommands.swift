// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput
import Glibc

struct ProfileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Shows profiles: which devices are of a kind, and how to open them.",
    discussion: """
      Profiles come with this command, from /etc/accessory-bridge/profiles, and from ~/.config/accessory-bridge/profiles.

      EXAMPLES
        bridge-cli profile list
        bridge-cli profile show framed > mine.yaml
        bridge-cli profile new --from session.trace > mine.yaml
      """,
    subcommands: [ProfileList.self, ProfileShow.self, ProfileNew.self, Identify.self, UdevRulesCommand.self])
}

struct ProfileList: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the profiles.",
    discussion: """
      EXAMPLES
        bridge-cli profile list
        bridge-cli profile list --json | jq -r '.profiles[].name'
      """)

  @OptionGroup var output: OutputOptions

  func run() async throws {
    let library = await KnownProfiles.library()
    let profiles = library.store.profiles.sorted { $0.name < $1.name }
    if output.json {
      return Output.json(
        ProfileListDocument(
          profiles: profiles.map { .init($0, library.origins[$0.name]) }, problems: library.problems.map { .init($0) }))
    }
    var table = Table(["NAME", "DRIVER", "FROM", "DESCRIPTION"], optional: [2, 1], endsInText: true)
    for profile in profiles {
      table.add([
        profile.name, profile.driver ?? "-",
        library.origins[profile.name]?.file.map { SafeText.escape($0, limit: 200) } ?? "built in",
        SafeText.escape(profile.description ?? "-", limit: 400),
      ])
    }
    table.lines(columns: Output.columns).forEach(Output.line)
    for problem in library.problems { Output.note("not used: " + SafeText.escape(problem.description, limit: 1_000)) }
  }
}

struct ProfileShow: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows a profile with all its settings, in the form of its file.",
    discussion: """
      EXAMPLES
        bridge-cli profile show framed
      """)

  @Argument(help: .value("name", "The profile's name."), completion: CompletionWords.profiles) var name: String
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let library = await KnownProfiles.library()
    guard let profile = library.store.profile(named: name) else {
      let unread = library.problems.isEmpty ? "" : "; some can't be used, bridge-cli profile list says why"
      throw AccessoryError(.notFound, library.store.missing(name) + unread)
    }
    let text = ProfileText.text(profile)
    if output.json {
      return Output.json(ProfileShowDocument(profile: .init(profile, library.origins[name]), yaml: text))
    }
    Output.line(String(text.dropLast()))
  }
}

extension ProfileLibrary.Origin {
  /// The profile's file; nil for a built-in profile.
  var file: String? { if case .file(let path) = self { path } else { nil } }
}
