// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import CommandOutput

struct ProfileDocument: Encodable {
  let name: String
  let description: OrNull<String>
  let file: OrNull<String>
  let driver: OrNull<String>
  let protocols: [String]

  init(_ profile: Profile, _ origin: ProfileLibrary.Origin?) {
    name = profile.name
    description = OrNull(profile.description)
    file = OrNull(origin?.file)
    driver = OrNull(profile.driver)
    protocols = profile.protocolStrings
  }
}

struct ProfileProblemDocument: Encodable {
  let file, message: String
  let line, column: OrNull<Int>

  init(_ problem: ProfileProblem) {
    file = problem.file
    message = problem.message
    line = OrNull(problem.line)
    column = OrNull(problem.column)
  }
}

struct ProfileListDocument: Encodable {
  let schema = DocumentSchema.name
  let profiles: [ProfileDocument]
  let problems: [ProfileProblemDocument]
}

struct ProfileShowDocument: Encodable {
  let schema = DocumentSchema.name
  let profile: ProfileDocument
  let yaml: String
}

struct ProfileCheckDocument: Encodable {
  struct File: Encodable {
    let file: String
    let ok: Bool
    let profile: OrNull<String>
    let problems: [ProfileProblemDocument]

    init(_ result: ProfileCheck.Result) {
      file = result.file
      ok = result.problems.isEmpty
      profile = OrNull(result.name)
      problems = result.problems.map { ProfileProblemDocument($0) }
    }
  }

  let schema = DocumentSchema.name
  let files: [File]
}

struct UdevRulesDocument: Encodable {
  let schema = DocumentSchema.name
  let rules: String
  /// Those that the rules are for.
  let profiles: [String]
  let problems: [ProfileProblemDocument]
}
