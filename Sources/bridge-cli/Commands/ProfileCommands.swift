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
    abstract: "Shows and checks profiles, which describe kinds of accessories.",
    discussion: """
      A profile says which devices are of a kind, how to open them, and which protocol they speak. Profiles come with \
      this command, from /etc/accessory-bridge/profiles, and from ~/.config/accessory-bridge/profiles (or \
      $XDG_CONFIG_HOME/accessory-bridge/profiles), one .yaml file each. A later one replaces an earlier one of the \
      same name.

      EXAMPLES
        bridge-cli profile list
        bridge-cli profile show framed > ~/.config/accessory-bridge/profiles/mine.yaml
        bridge-cli profile check mine.yaml
        bridge-cli profile new --from session.trace > mine.yaml
      """,
    subcommands: [ProfileList.self, ProfileShow.self, ProfileCheck.self, ProfileNew.self])
}

struct ProfileList: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the profiles.",
    discussion: """
      Files that can't be used are named too; the other profiles work all the same.

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

  @Argument(help: ArgumentHelp("The profile's name.", valueName: "name"), completion: CompletionWords.profiles)
  var name: String
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let library = await KnownProfiles.library()
    guard let profile = library.store.profile(named: name) else {
      let names = library.store.profiles.map(\.name).sorted().joined(separator: ", ")
      let unread = library.problems.isEmpty ? "" : "; some can't be used, bridge-cli profile list says why"
      throw AccessoryError(.notFound, "there is no profile \(name); the profiles are \(names)\(unread)")
    }
    let text = ProfileText.text(profile)
    if output.json {
      return Output.json(ProfileShowDocument(profile: .init(profile, library.origins[name]), yaml: text))
    }
    Output.line(String(text.dropLast()))
  }
}

struct ProfileCheck: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Says what is wrong in profiles and protocol descriptions, and where.",
    discussion: """
      The examples of a protocol description are run, too. With --recording the description is also compared with a \
      recording of trace --record: which frames it knows, which bytes are in no frame, and which frames it doesn't \
      describe. The exit status is 78 if something is wrong in a file, or the recording doesn't fit.

      EXAMPLES
        bridge-cli profile check mine.yaml
        bridge-cli profile check mine.yaml --recording session.trace
        bridge-cli profile check *.yaml --json | jq '.files[].problems'
      """)

  @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file(extensions: ["yaml", "yml"]))
  var files: [String]
  @Option(
    help: ArgumentHelp("A recording to compare the description with; only with one file.", valueName: "file"),
    completion: .file())
  var recording: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if recording != nil, files.count > 1 { throw ValidationError("--recording can be used with one file only") }
  }

  func run() async throws {
    let files = files
    let results = await SetupQueue(label: "check").run { files.map(Self.check) }
    var held: RecordingCheck?
    if let recording, let result = results.first, result.problems.isEmpty {
      guard let described = result.described else {
        throw UsageError("\(files[0]) describes no protocol, so it can't be compared with a recording")
      }
      held = try await SetupQueue(label: "recording").run { try described.checked(against: recording) }
    }
    if output.json {
      Output.json(
        ProfileCheckDocument(
          files: results.map { .init($0) }, recording: OrNull(held.map { .init($0, file: recording ?? "") }))
      )
    } else {
      for result in results {
        if let praise = result.successLine { Output.line(praise) }
        for problem in result.problems { Output.line(SafeText.escape(problem.description, limit: 1_000)) }
      }
      if let held { held.lines(file: SafeText.escape(recording ?? "", limit: 200)).forEach(Output.line) }
    }
    if held?.fits == false || results.contains(where: { !$0.problems.isEmpty }) { throw ExitCode(EX_CONFIG) }
  }

  struct Outcome: Sendable {
    var file: String
    var name: String?
    /// What the file contains: "profile" or "protocol".
    var what = "profile"
    /// The protocol that the file describes, where it describes one.
    var described: DescribedProtocol?
    /// The number of examples in the description, all of which are run.
    var exampleCount = 0
    var problems: [ProfileProblem] = []

    /// The line for a file without problems.
    var successLine: String? {
      guard let name, problems.isEmpty else { return nil }
      let examples =
        exampleCount == 0 ? "" : exampleCount == 1 ? ", its example holds" : ", its \(exampleCount) examples hold"
      return "\(SafeText.escape(file, limit: 200)): fine, \(what) \(name)\(examples)"
    }
  }

  private static func check(_ file: String) -> Outcome {
    do throws(ProfileProblems) {
      if DescriptionReader.isDescription(path: file) {
        var result = Outcome(file: file, what: "protocol")
        result.take(try DescriptionReader.read(path: file))
        return result
      }
      let (profile, unfitAlarms) = try ProfileReader.check(path: file, protocols: KnownDrivers.library.protocols)
      var result = Outcome(file: file, name: profile.name)
      if let described = profile.described { result.take(described) }
      result.problems += unfitAlarms
      return result
    } catch {
      return Outcome(file: file, problems: error.problems)
    }
  }
}

extension ProfileCheck.Outcome {
  /// Runs the examples of a description.
  fileprivate mutating func take(_ described: DescribedProtocol) {
    name = described.name
    self.described = described
    exampleCount = described.description.examples.count
    problems = DescriptionCheck.problems(in: described, file: file)
  }
}

extension ProfileLibrary.Origin {
  /// The profile's file; nil for a built-in profile.
  var file: String? { if case .file(let path) = self { path } else { nil } }
}
