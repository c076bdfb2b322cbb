// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryIO
import BridgeService

/// A file that was checked, and what is wrong in it.
struct CheckedFile: Sendable {
  var file: String
  var name: String?
  /// What the file contains: "profile", "protocol", "a share".
  var what = "profile"
  /// The protocol that the file describes, if any.
  var described: DescribedProtocol?
  /// The number of examples in the description. All are run.
  var exampleCount = 0
  /// The result for a file without problems, if `what` and `name` don't say it.
  var praise: String?
  var problems: [ProfileProblem] = []
  /// Notes on a description: old keys with their new spelling, values that can't be sent.
  var notes: [ProfileProblem] = []

  /// The line for a file without problems.
  var successLine: String? {
    guard problems.isEmpty else { return nil }
    let place = SafeText.escape(file, limit: 200)
    if let praise { return "\(place): fine, \(praise)" }
    guard let name else { return nil }
    let examples =
      exampleCount == 0 ? "" : exampleCount == 1 ? ", its example holds" : ", its \(exampleCount) examples hold"
    return "\(place): fine, \(what) \(name)\(examples)"
  }

  /// Checks a file as this kind, or as the one that its keys show.
  static func check(_ file: String, as kind: CheckedKind? = nil) async throws -> CheckedFile {
    var kind = kind
    if kind == nil {
      kind = await SetupQueue(label: "check").run {
        (try? SmallFile.read(file, limit: sizeLimit)).map { CheckedKind(keysOf: $0) }
      }
    }
    switch kind {
    case .service?: return try await service(file)
    case .share?: return await share(file)
    case .profile?, nil: return await SetupQueue(label: "check").run { profile(file) }
    }
  }

  /// No file that is checked is larger.
  private static let sizeLimit = 1 << 20

  /// Checks the service's configuration at `path`, or, if `path` is nil, the one that a service of this user would use.
  /// Throws `notFound` if there is none.
  static func service(_ path: String?) async throws(AccessoryError) -> CheckedFile {
    let store = await KnownProfiles.store
    let contents: ServiceFile.Contents
    do throws(ProfileProblems) {
      contents = try await ServiceFile.contents(path, store)
    } catch {
      return CheckedFile(file: path ?? error.problems[0].file, problems: error.problems)
    }
    guard let file = contents.rules.file else {
      let places = ServiceSettings.usualFolders().joined(separator: ", ")
      throw AccessoryError(.notFound, "there is no service.yaml in these folders: \(places)")
    }
    let counts = [
      contents.alarms.isEmpty ? nil : ServiceFile.count(contents.alarms),
      contents.messages.isEmpty ? nil : Amount.of(contents.messages.count, "way") + " to tell of them",
    ].compactMap { $0 }
    let alarms = counts.isEmpty ? "" : ", and has \(counts.joined(separator: " and "))"
    return CheckedFile(
      file: file, praise: "it permits \(ServiceFile.count(contents.rules))\(alarms)", problems: contents.unfitAlarms)
  }

  private static func share(_ file: String) async -> CheckedFile {
    do throws(ProfileProblems) {
      let command = try await ShareFile.read(path: file)
      return CheckedFile(
        file: file,
        name: command.device.text.map { "of " + SafeText.escape($0, limit: 200) } ?? "of the only accessory",
        what: "a share")
    } catch {
      return CheckedFile(file: file, problems: error.problems)
    }
  }

  private static func profile(_ file: String) -> CheckedFile {
    do throws(ProfileProblems) {
      if DescriptionReader.isDescription(path: file) {
        var result = CheckedFile(file: file, what: "protocol")
        result.take(try DescriptionReader.read(path: file))
        return result
      }
      let (profile, unfitAlarms) = try ProfileReader.check(path: file, protocols: KnownDrivers.library.protocols)
      var result = CheckedFile(file: file, name: profile.name)
      if let described = profile.described { result.take(described) }
      result.problems += unfitAlarms
      return result
    } catch {
      return CheckedFile(file: file, problems: error.problems)
    }
  }

  /// Runs the examples of a description.
  private mutating func take(_ described: DescribedProtocol) {
    name = described.name
    self.described = described
    notes = described.notes
    exampleCount = described.description.examples.count
    problems = DescriptionCheck.problems(in: described, file: file)
  }
}
