// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import CommandOutput

struct CheckCommand: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks profiles, protocol descriptions, service files and share files, and shows where they are wrong.",
    discussion: """
      The kind of a file is recognized by its keys. Without a file the service's own service.yaml is checked. The exit status is 78 if \
      something is wrong.

      EXAMPLES
        bridge-cli check mine.yaml
        bridge-cli check mine.yaml --recording session.trace
        bridge-cli check *.yaml --json | jq '.files[].problems'
      """)

  @Argument(help: .value("file", "The files."), completion: .file(extensions: ["yaml", "yml"])) var files: [String] = []
  @Option(help: .value("file", "Compare a description with this recording of trace --record."), completion: .file())
  var recording: String?
  @Option(help: .value("what", "Check the files as this, whatever their keys are: profile, service or share."))
  var `as`: CheckedKind?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if recording != nil, files.count != 1 { throw ValidationError("--recording can be used with one file only") }
    if files.isEmpty, let kind = self.as, kind != .service { throw ValidationError("name the files to check") }
  }

  func run() async throws {
    var results: [CheckedFile] = []
    if files.isEmpty {
      results.append(try await CheckedFile.service(nil))
    } else {
      for file in files { results.append(try await CheckedFile.check(file, as: self.as)) }
    }
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
          files: results.map { .init($0) }, recording: held.map { .init($0, file: recording ?? "") })
      )
    } else {
      for result in results {
        if let praise = result.successLine { Output.line(praise) }
        for problem in result.problems + result.notes {
          Output.wrapped(SafeText.escape(problem.description, limit: 1_000), indent: 2)
        }
      }
      if let held { held.lines(file: SafeText.escape(recording ?? "", limit: 200)).forEach(Output.line) }
    }
    let problems = results.flatMap(\.problems)
    guard held?.fits == false || !problems.isEmpty else { return }
    throw ExitCode(ExitStatus.of(held?.fits != false && problems.allSatisfy(\.isMissing) ? .notFound : .misconfigured))
  }
}

/// What a file configures.
enum CheckedKind: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// A profile or a protocol description.
  case profile
  /// The service's configuration.
  case service
  /// An accessory that is shared.
  case share

  /// The kind of a file, by the keys at the beginning of its lines. Anything that isn't known is taken for a profile, whose check
  /// says what is missing.
  init(keysOf text: [UInt8]) {
    var keys: Set<String> = []
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let word = line.prefix { $0.isSmallLetterOrDigit(or: "_") }
      guard !word.isEmpty, line.dropFirst(word.count).first == UInt8(ascii: ":") else { continue }
      keys.insert(String(decoding: word, as: UTF8.self))
    }
    if keys.contains("commands") || !keys.isEmpty && keys.isSubset(of: ["alarms", "messages"]) {
      self = .service
    } else if !keys.isDisjoint(with: ShareFile.ownKeys), keys.isDisjoint(with: ["name", "match", "driver", "protocol"])
    {
      self = .share
    } else {
      self = .profile
    }
  }
}
