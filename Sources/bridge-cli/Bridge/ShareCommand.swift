// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput
import Glibc

struct ShareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "share",
    abstract: "Checks configuration files of shared accessories.",
    discussion: """
      'bridge-cli bridge --config FILE' reads such a file. accessory-bridge-share@NAME.service uses \
      /etc/accessory-bridge/shares/NAME.yaml.

      EXAMPLES
        bridge-cli share check /etc/accessory-bridge/shares/*.yaml
      """,
    subcommands: [ShareCheck.self])
}

struct ShareCheck: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Prints the errors in share files, with line and column.",
    discussion: """
      The exit status is 78 if any file has an error.

      EXAMPLES
        bridge-cli share check lamp.yaml
        bridge-cli share check *.yaml --json | jq '.files[].problems'
      """)

  @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file(extensions: ["yaml", "yml"]))
  var files: [String]
  @OptionGroup var output: OutputOptions

  func run() async throws {
    var results: [ProfileCheck.Outcome] = []
    for file in files { results.append(await Self.check(file)) }
    if output.json {
      Output.json(ProfileCheckDocument(files: results.map { .init($0) }, recording: OrNull(nil)))
    } else {
      for result in results {
        if let praise = result.successLine { Output.line(praise) }
        for problem in result.problems { Output.line(SafeText.escape(problem.description, limit: 1_000)) }
      }
    }
    if results.contains(where: { !$0.problems.isEmpty }) { throw ExitCode(EX_CONFIG) }
  }

  private static func check(_ file: String) async -> ProfileCheck.Outcome {
    do throws(ProfileProblems) {
      let command = try await ShareFile.read(path: file)
      return ProfileCheck.Outcome(
        file: file,
        name: command.device.text.map { "of " + SafeText.escape($0, limit: 200) } ?? "of the only accessory",
        what: "a share")
    } catch {
      return ProfileCheck.Outcome(file: file, problems: error.problems)
    }
  }
}
