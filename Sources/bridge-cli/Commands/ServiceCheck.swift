// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput
import Glibc

struct ServiceCheck: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Says what is wrong in configurations of the service, and where.",
    discussion: """
      The exit status is 78 when something is wrong in any of them. Without a file it checks the one that a service of \
      this user would use: service.yaml in ~/.config/accessory-bridge, or in /etc/accessory-bridge.

      EXAMPLES
        bridge-cli service check
        bridge-cli service check service.yaml --json | jq '.files[].problems'
      """)

  @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file(extensions: ["yaml", "yml"]))
  var files: [String] = []
  @OptionGroup var output: OutputOptions

  func run() async throws {
    var results: [ProfileCheck.Outcome] = []
    for file in files.isEmpty ? [nil] : files.map(Optional.some) { results.append(try await check(file)) }
    if output.json {
      Output.json(ProfileCheckDocument(files: results.map { .init($0) }, recording: OrNull(nil)))
    }
    if results.contains(where: { !$0.problems.isEmpty }) { throw ExitCode(EX_CONFIG) }
  }

  private func check(_ path: String?) async throws -> ProfileCheck.Outcome {
    let store = await KnownProfiles.store
    let contents: ServiceFile.Contents
    do throws(ProfileProblems) {
      contents = try await ServiceFile.contents(path, store)
    } catch {
      if !output.json { Self.show(error.problems) }
      return ProfileCheck.Outcome(file: path ?? error.problems[0].file, problems: error.problems)
    }
    guard let file = contents.rules.file else {
      let places = ServiceSettings.usualFolders().joined(separator: ", ")
      throw AccessoryError(.notFound, "there is no service.yaml in these folders: \(places)")
    }
    if !contents.unfitAlarms.isEmpty {
      if !output.json { Self.show(contents.unfitAlarms) }
      return ProfileCheck.Outcome(file: file, problems: contents.unfitAlarms)
    }
    if !output.json {
      let alarms = contents.alarms.isEmpty ? "" : ", and has \(ServiceFile.count(contents.alarms))"
      Output.line(
        "\(SafeText.escape(file, limit: 200)): fine, it permits \(ServiceFile.count(contents.rules))\(alarms)")
    }
    return ProfileCheck.Outcome(file: file)
  }

  private static func show(_ problems: [ProfileProblem]) {
    for problem in problems { Output.line(SafeText.escape(problem.description, limit: 1_000)) }
  }
}
